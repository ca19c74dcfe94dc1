"""Certainty about what a panel of labels stands in for, and about the panel."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire.cli import app
from voirdire.kinds.labels.target import Panel, Target, average_predictions


def copies(items: int = 200, judges: int = 12, right: float = 0.7, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Judges who all see in an item what one of them sees, right as often as that, and repeat it nearly always."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    seen = np.where(rng.random(items) < right, truth, 1 - truth)
    said = np.where(rng.random((judges, items)) < 0.9, seen, 1 - seen)
    rows = [(f"j{k:02d}", f"i{n:03d}", "ny"[said[k, n]]) for k in range(judges) for n in range(items)]
    names = [f"i{n:03d}" for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"]), pd.Series(list("ny"), [0, 1])[truth].set_axis(names)


def loss(found: pd.DataFrame, truth: pd.Series) -> float:
    unknown = found[~found["known"].astype(bool)]
    chance = np.where(truth[unknown["item"]] == "y", unknown["p_y"], unknown["p_n"])
    return float(-np.log(np.maximum(chance, 1e-4)).mean())


def test_mistakes_that_all_share_make_the_panel_surer_than_its_target() -> None:
    table, truth = copies()
    fit = voirdire.fit(table, method="map")
    found = fit.classes()
    assert found["probability_panel"].mean() > 0.95
    assert found["probability"].mean() < 0.95
    panel = voirdire.fit(table, method="map", about="panel").classes()
    np.testing.assert_allclose(panel["probability"], np.maximum(panel["p_n"], panel["p_y"]))
    assert {"probability_target"} <= set(panel)
    assert loss(found, truth) < loss(panel, truth)
    (note,) = (note for note in fit.notes if note.startswith("The panel is "))
    assert "experts or people would agree with" in note


@pytest.mark.parametrize("count", [1, 20, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 50))])
def test_known_items_scale_certainty_from_the_first_one_on(count: int) -> None:
    table, truth = copies()
    before = loss(voirdire.fit(table, method="map").classes(), truth)
    after = []
    for seed in range(4):
        some = truth.sample(count, random_state=seed)
        known = some.rename("label").rename_axis("item").reset_index()
        found = voirdire.fit(table, method="map", anchors=known).classes()
        assert (found[found["known"].astype(bool)].set_index("item")["label"] == some.sort_index()).all()
        after.append(loss(found, truth))
    assert np.mean(after) < before + 0.02
    if count >= 20:
        right = float(
            (voirdire.fit(table, method="map").classes().set_index("item")["label"] == truth.sort_index()).mean()
        )
        least = -right * np.log(right) - (1.0 - right) * np.log1p(-right)  # of one who knows how often copies are right
        assert np.mean(after) < least + 0.06


def test_one_known_item_changes_what_is_said_a_little() -> None:
    table, truth = copies()
    plain = voirdire.fit(table, method="map").classes().set_index("item")
    wrong = plain.index[plain["label"] != truth[plain.index]][0]
    known = pd.DataFrame({"item": [wrong], "label": [truth[wrong]]})
    found = voirdire.fit(table, method="map", anchors=known).classes().set_index("item")
    rest = found.index != wrong
    assert found["probability"][rest].mean() < plain["probability"][rest].mean() - 0.01


def test_a_way_that_is_sure_by_luck_does_not_win() -> None:
    rng = np.random.default_rng(0)
    labels = rng.multinomial(5, [0.5, 0.5], 40).astype(float)
    modest = np.full((40, 2), 0.5)
    sure = np.tile([0.999, 0.001], (40, 1))
    ways = [Panel(chance, labels, np.ones(40)) for chance in (modest, sure)]
    known, answer = np.arange(4), np.zeros(4, dtype=int)
    found = average_predictions(ways, known, answer)
    assert found[:, 0].max() < 0.95


def test_labels_count_as_independent_ones() -> None:
    """n labels as n / (1 + (n - 1) dependence), so a single one as itself (Kish 1965)."""
    chance, labels = np.array([[0.8, 0.2]] * 3), np.zeros((3, 2))
    odds = [
        panel[:, 0] / panel[:, 1]
        for panel in (
            Panel(chance, labels, np.array([1.0, 2.0, 5.0])).discounted_probabilities(one) for one in (0.0, 0.5)
        )
    ]
    np.testing.assert_allclose(odds[0], 4.0)
    np.testing.assert_allclose(odds[1], 4.0 ** (1.0 / np.array([1.0, 1.5, 3.0])))


def test_fewer_labels_that_depend_on_each_other_say_less() -> None:
    chance = np.array([[0.999, 0.001]])
    few, many = (Panel(chance, np.array([[n, 0.0]]), np.array([n])) for n in (2.0, 40.0))
    assert Target.from_prior().to_target(few)[0, 0] > 0.75
    assert many.discounted_probabilities(1.0)[0, 0] < few.discounted_probabilities(1.0)[0, 0]


def test_both_are_kept_and_the_command_line_chooses(tmp_path: Path) -> None:
    table, _ = copies(items=40, judges=5)
    table.to_csv(tmp_path / "labels.csv", index=False)
    for about, other in (("target", "panel"), ("panel", "target")):
        asked = ["fit", str(tmp_path / "labels.csv"), "--method", "map", "--about", about, "--json"]
        done = CliRunner().invoke(app, asked, catch_exceptions=False)
        result = json.loads(done.stdout)
        assert result["about"] == about
        assert {"probability", f"probability_{other}"} <= set(result["items"][0])
    fit = voirdire.fit(table, method="map", about="panel")
    again = voirdire.load(fit.save(tmp_path / "run"))
    pd.testing.assert_frame_equal(again.classes(), fit.classes())
    new = table[table["item"] == "i000"].assign(item="new")
    assert again.predict(new)["p_y"][0] == pytest.approx(fit.classes()["p_y"][0], abs=1e-9)
    with pytest.raises(voirdire.InputError, match="about 'truth' is none of target, panel"):
        voirdire.fit(table, about="truth")
