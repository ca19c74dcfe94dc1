"""Fits of sets of labels: whether each label applies to each item, by judges who answer for all labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import voirdire
from voirdire import InputError
from voirdire.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # notices of what was read
LABELS = ("long", "rude", "wrong")
SHARES = np.array([0.5, 0.3, 0.1])
SENSITIVITY = np.array([0.9, 0.8, 0.75, 0.6])
SPECIFICITY = np.array([0.95, 0.9, 0.85, 0.95])


def simulate(seed: int, items: int = 150) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    truth = rng.random((items, len(LABELS))) < SHARES
    rows = []
    for judge, (hit, right) in enumerate(zip(SENSITIVITY, SPECIFICITY, strict=True)):
        says = rng.random(truth.shape) < np.where(truth, hit, 1 - right)
        rows += [
            (f"j{judge}", f"i{n:03}", [label for label, named in zip(LABELS, of, strict=True) if named])
            for n, of in enumerate(says)
        ]
    names = [f"i{n:03}" for n in range(items)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    return table, pd.DataFrame(truth, index=names, columns=list(LABELS))


def asked(table: pd.DataFrame, **more: Any) -> pd.DataFrame:
    """The same answers as yes/no questions, made by hand."""
    parts = [
        table.assign(criterion=label, label=["yes" if label in cell else "no" for cell in table["label"]])
        for label in LABELS
    ]
    return pd.concat(parts, ignore_index=True)


def applies(fit: voirdire.Fit) -> pd.DataFrame:
    return fit.classes().pivot(index="item", columns="criterion", values="p_yes")


@pytest.fixture(scope="module")
def panel() -> tuple[pd.DataFrame, pd.DataFrame]:
    return simulate(4)


@pytest.fixture(scope="module")
def fitted(panel: tuple[pd.DataFrame, pd.DataFrame]) -> voirdire.Fit:
    return voirdire.fit(panel[0], about="panel")  # judges err independently here


def test_a_fit_of_sets_is_that_of_its_questions(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    by_hand = voirdire.fit(asked(panel[0]), method="map", model="hierarchical-dawid-skene")
    sets = voirdire.fit(panel[0], method="map", model="hierarchical-dawid-skene")
    pd.testing.assert_frame_equal(sets.classes(), by_hand.classes())
    assert sets.as_dict()["judges"] == by_hand.as_dict()["judges"]


def test_planted_labels_and_judges_are_found(panel: tuple[pd.DataFrame, pd.DataFrame], fitted: voirdire.Fit) -> None:
    table, truth = panel
    chance = applies(fitted).loc[truth.index, list(LABELS)]
    named = table.explode("label").groupby(["item", "label"]).size().unstack(fill_value=0)
    shares = named.reindex(index=truth.index, columns=list(LABELS), fill_value=0) / len(SENSITIVITY)
    wrong = ((chance > 0.5) != truth).to_numpy().mean()
    assert wrong < ((shares >= 0.5) != truth).to_numpy().mean()
    sure = np.maximum(chance, 1 - chance).to_numpy().mean()
    assert 1 - wrong == pytest.approx(sure, abs=0.03)
    judges = fitted.judges().set_index("judge")
    for name, planted in (("sensitivity", SENSITIVITY), ("specificity", SPECIFICITY)):
        covered = (judges[f"{name}_low"] <= planted) & (planted <= judges[f"{name}_high"])
        assert covered.sum() >= 3
    found = fitted.shares()
    of_yes = found[found["class"] == "yes"].set_index("criterion").loc[list(LABELS)]
    assert ((of_yes["low"] <= truth.mean()) & (truth.mean() <= of_yes["high"])).all()


def test_notes_say_what_was_read_and_what_is_taken_for_granted(fitted: voirdire.Fit) -> None:
    notes = " ".join(fitted.notes)
    assert "cells of labels are lists: each cell is read as the set" in notes
    assert "whether each of the 3 labels applies is a question of its own (criterion)" in notes
    assert "Labels are taken as independent given the judges" in notes
    assert "Success" not in notes


def test_a_label_that_nobody_names_is_asked_about_where_it_is_declared(
    panel: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    found = voirdire.fit(panel[0], method="map", levels=[*LABELS, "funny"])
    chance = applies(found)
    assert (chance["funny"] < 0.1).all()


def test_criteria_of_the_table_stay(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table = pd.concat([panel[0].assign(criterion="tone"), panel[0].assign(criterion="form")])
    found = voirdire.fit(table, method="map", model="hierarchical-dawid-skene")
    expected = sorted(f"{criterion}: {label}" for criterion in ("form", "tone") for label in LABELS)
    assert list(found.problem.criteria) == expected


def test_known_sets_hold(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    table, truth = panel
    known = [[label for label in LABELS if truth.loc[item, label]] for item in truth.index[:20]]
    anchors = pd.DataFrame({"item": truth.index[:20], "label": pd.Series(known, dtype=object)})
    found = voirdire.fit(table, anchors=anchors, anchor_mode="joint", method="map").classes()
    of_known = found[found["known"]].pivot(index="item", columns="criterion", values="p_yes")
    assert of_known.shape == (20, 3)
    assert ((of_known == 1) == truth.loc[of_known.index, of_known.columns]).all(axis=None)


def test_update_predict_and_accuracy_take_sets(
    panel: tuple[pd.DataFrame, pd.DataFrame], fitted: voirdire.Fit, tmp_path: Path
) -> None:
    table, truth = panel
    new = table[table["item"] < "i010"].assign(item=lambda frame: "new " + frame["item"])
    more = fitted.update(new)
    assert len(more.classes()) == len(fitted.classes()) + 3 * new["item"].nunique()
    predicted = fitted.predict(new).pivot(index="item", columns="criterion", values="p_yes")
    before = applies(fitted)
    assert np.abs(predicted.to_numpy() - before.iloc[: len(predicted)].to_numpy()).max() < 0.1
    known = [[label for label in LABELS if truth.loc[item, label]] for item in truth.index]
    right = fitted.accuracy(pd.DataFrame({"item": truth.index, "label": pd.Series(known, dtype=object)}))
    assert right["n"].tolist() == [truth.size] * 2
    fitted.save(tmp_path / "run")
    again = voirdire.load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.predict(new), fitted.predict(new))
    with pytest.raises(InputError, match="label 'funny' is none of 'long', 'rude', 'wrong'"):
        again.update(pd.DataFrame({"judge": ["j0"], "item": "new", "label": [["funny", "rude"]]}))


def test_models_are_compared_on_questions(panel: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    found = voirdire.cross_validate(panel[0], ["hierarchical-dawid-skene", "dawid-skene"])
    assert len(found) == 2
    assert np.isfinite(found["log_loss"]).all()


def test_the_command_line_reads_sets_and_known_ones(panel: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    table, truth = panel
    path, known = tmp_path / "labels.csv", tmp_path / "known.csv"
    table.assign(label=[";".join(cell) or "none" for cell in table["label"]]).to_csv(path, index=False)
    cells = [";".join(label for label in LABELS if truth.loc[item, label]) or "none" for item in truth.index[:9]]
    pd.DataFrame({"item": truth.index[:9], "label": cells}).to_csv(known, index=False)
    how = ["--label-sets", ";", "--no-label", "none"]
    wanted = ["--method", "map", "--anchors", known, "--anchor-mode", "joint", "--json"]
    found = json.loads(ran("fit", path, *how, *wanted))
    rows = {(row["item"], row["criterion"]): row for row in found["items"]}
    assert sum(row["known"] for row in rows.values()) == 27
    assert rows["i000", "long"]["label"] == ("yes" if truth.loc["i000", "long"] else "no")
    agreed = json.loads(ran("agree", path, *how, "--no-pairs", "--json", "--resamples", "200"))
    measures = [row["measure"] for row in agreed["rows"]]
    assert measures == ["agreement_rate", "krippendorff_alpha_masi", "krippendorff_alpha_jaccard"]
    assert "3 labels, in sets: long" in ran("doctor", path, *how)
    assert "no cell holds several labels" in ran("fit", path, "--label-sets", "|", "--method", "map", code=1)


def ran(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output
