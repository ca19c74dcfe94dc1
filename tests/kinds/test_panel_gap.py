"""What people would say of items that a panel compares, scores or ranks: a gap that no more judges make smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.errors import InputError

ITEMS = 8


def votes(judges: int = 6, each: int = 60, seed: int = 0, pull: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Judges of whom all like long answers, and what people make of the items."""
    rng = np.random.default_rng(seed)
    theta, length = rng.normal(0.0, 1.0, (2, ITEMS))
    count = judges * each
    first = rng.integers(0, ITEMS, count)
    second = (first + rng.integers(1, ITEMS, count)) % ITEMS
    seen = theta + pull * length
    won = rng.random(count) < 1.0 / (1.0 + np.exp(seen[second] - seen[first]))
    table = pd.DataFrame(
        {
            "judge": [f"j{k % judges}" for k in range(count)],
            "first": [f"i{k}" for k in first],
            "second": [f"i{k}" for k in second],
            "winner": np.where(won, "first", "second"),
        }
    )
    return table, theta


def scored() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    theta = rng.normal(0.0, 1.5, ITEMS)
    rows = [
        (f"j{k}", f"i{i}", int(np.clip(np.round(3 + theta[i] + rng.normal(0, 0.7)), 1, 5)))
        for k in range(4)
        for i in range(ITEMS)
    ]
    return pd.DataFrame(rows, columns=["judge", "item", "score"])


def ranked() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    theta = rng.normal(0.0, 1.5, ITEMS)
    rows = []
    for k in range(6):
        order = np.argsort(-(theta + rng.gumbel(size=ITEMS)))
        rows += [(f"j{k}", f"i{i}", place + 1) for place, i in enumerate(order)]
    return pd.DataFrame(rows, columns=["judge", "item", "rank"])


def fitted(table: Any, **how: Any) -> Any:
    return voirdire.fit(table, method="laplace", **how)


def widths(fit: Any, more: str = "") -> np.ndarray:
    found = fit.ranking()
    return np.asarray(found[f"high{more}"] - found[f"low{more}"])


@pytest.mark.parametrize(
    "table",
    [votes()[0], pytest.param(scored(), marks=pytest.mark.slow), pytest.param(ranked(), marks=pytest.mark.slow)],
    ids=["votes", "scores", "rankings"],
)
def test_both_answers_stand_beside_each_other(table: pd.DataFrame) -> None:
    plain, target = fitted(table).as_dict(), fitted(table, about="target")
    panel = fitted(table, judges="people").as_dict()
    found = target.as_dict()
    assert (plain["about"], found["about"], panel["about"]) == ("panel", "target", "panel")
    assert fitted(table, judges="models").as_dict()["items"] == found["items"]
    own = {row["item"]: row for row in plain["items"]}
    for row in found["items"]:
        before = own[row["item"]]
        assert [row[f"{name}_panel"] for name in ("score", "low", "high")] == [
            before[name] for name in ("score", "low", "high")
        ]
        assert row["high"] - row["low"] > row["high_panel"] - row["low_panel"]
    assert [row["item"] for row in found["items"]] == [row["item"] for row in plain["items"]]
    of_target = {row["item"]: row["low"] for row in found["items"]}
    assert {row["item"]: row["low_target"] for row in panel["items"]} == of_target
    assert "score_target" not in plain["items"][0]


def test_more_judges_do_not_tell_what_people_would_say() -> None:
    few, many = (fitted(votes(judges)[0], about="target") for judges in (4, 40))
    wide = {
        more: [widths(f, more).mean() / f.ranking()["score_panel"].std() for f in (few, many)]
        for more in ("", "_panel")
    }
    assert wide["_panel"][1] < 0.5 * wide["_panel"][0]
    assert wide[""][1] > 0.75 * wide[""][0]


@pytest.mark.slow
def test_what_all_judges_like_and_people_do_not_is_in_the_intervals() -> None:
    inside, panel = [], []
    for seed in range(8):
        table, theta = votes(10, 40, seed, pull=1.0)
        found = fitted(table, judges="models").ranking().sort_values("item")
        truth = theta - theta.mean()
        inside.append((found["low"] <= truth) & (truth <= found["high"]))
        panel.append((found["low_panel"] <= truth) & (truth <= found["high_panel"]))
    assert np.mean(panel) < 0.6
    assert np.mean(inside) > 0.8


def test_a_board_asks_for_no_more_votes_where_people_are_asked_about() -> None:
    board = fitted(votes()[0], judges="models").board()
    alike = [row for row in board["next"] if not row["apart"]]
    assert alike
    assert all(row["more_votes"] is None for row in alike)
    first = [made["decision"]["first"] for made in (board, fitted(votes()[0]).board())]
    assert len(first[0]) > len(first[1])
    assert all(one["more"] is None for one in board["decision"]["next"] if one["of"] != "answers of people")


def test_systems_over_contexts_are_about_people_too() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (f"j{k}", f"c{c}", f"s{s}", int(np.clip(np.round(3 + 0.5 * s - 0.8 + rng.normal()), 1, 5)))
        for k in range(3)
        for c in range(16)
        for s in range(4)
    ]
    table = pd.DataFrame(rows, columns=["judge", "context", "system", "score"])
    fit = fitted(table, judges="models")
    found = fit.systems()
    assert (found["high"] - found["low"] > found["high_panel"] - found["low_panel"]).all()
    assert [row["low"] for row in fit.board()["items"]] == found["low"].tolist()
    (said,) = (note for note in fit.notes if "people would agree with" in note)
    assert "pairs among the first 60 answers (" in said  # not of the systems on the board


@pytest.mark.slow
def test_the_sentence_says_what_anchors_do_not_teach() -> None:
    """Anchors in the likelihood say nothing of the gap, whose prior stays; people's answers about the target do."""
    table = votes(pull=2.0)[0]
    people = table[["first", "second", "winner"]][table["first"] < table["second"]]
    people = people.drop_duplicates(["first", "second"])
    alone, anchored, about = (
        next(note for note in fitted(table, **how).notes if "people would agree with" in note)
        for how in ({}, {"anchors": people}, {"anchors": people, "judges": "models"})
    )
    assert "of these, if it differs from people as panels in public tables do." in alone
    assert "the anchors inform items and judges, but not this difference" in anchored
    assert "of these, judging by their answers." in about


def test_the_sentence_stands_in_notes_and_on_the_page(tmp_path: Path) -> None:
    fit = fitted(votes(pull=2.0)[0], judges="models")
    said = next(note for note in fit.notes if "people would agree with" in note)
    page = fit.report(tmp_path / "page.md").read_text(encoding="utf-8")
    assert said in page[: page.index("| rank |")]
    assert "| score (target, log-odds) |" in page
    assert "score (panel, log-odds)" in page


def test_a_stored_fit_and_one_brought_up_to_date_are_about_the_same(tmp_path: Path) -> None:
    table = votes()[0]
    fit = fitted(table, judges="models")
    fit.save(tmp_path / "fit")
    assert voirdire.load(tmp_path / "fit").ranking().equals(fit.ranking())
    assert "score_panel" in fit.update(table.head(20)).ranking()


def test_where_people_ranked_the_target_heads() -> None:
    table = ranked()
    people = table[table["judge"] == "j0"].drop(columns="judge").head(6)
    fit = fitted(table, anchors=people)
    assert fit.as_dict()["about"] == "target"
    assert {"score_panel", "low_panel"} <= set(fit.ranking())
    assert fit.idata["posterior"].attrs["about"] == "target"


def test_without_draws_scores_are_drawn_together() -> None:
    found = voirdire.fit(votes()[0], method="map", about="target").ranking()
    assert 0.3 < found["score"].std() / found["score_panel"].std() < 0.7
    assert found["low"].isna().all()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"about": "truth"}, "about 'truth'"),
        ({"judges": "llms"}, "judges 'llms'"),
        ({"judges": "people", "about": "target"}, "leave one of both out"),
    ],
)
def test_other_words_are_refused(how: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        voirdire.fit(votes()[0], method="map", **how)
