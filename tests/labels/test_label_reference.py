"""Dawid-Skene against other software, on two textbook tables, and on the experts' labels of DICES-350."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.infer import engine
from voirdire.infer.mode import find_mode
from voirdire.labels.problem import pose_labels
from voirdire.specs import load_model
from voirdire.tables.labels import read_labels

# a prior so wide that the mode is the maximum of the likelihood
FLAT = {"classes": {"sd": 1e4}, "reliability": {"sd": 1e4, "judge_sd": 1e4}}
PEOPLE_SEED = 20


@pytest.fixture(scope="module")
def reference(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / "tests/reference/labels_crowdkit.json").read_text())
    return found["tables"]


@pytest.fixture(scope="module")
def textbook(project: Path) -> ModuleType:
    """The script that made the reference holds the two tables; crowd-kit itself is not needed."""
    spec = importlib.util.spec_from_file_location(
        "labels_crowdkit", project / "tests/reference/labels_crowdkit.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    stand_in = ModuleType("crowdkit.aggregation")
    stand_in.DawidSkene = None  # type: ignore[attr-defined]
    hidden = {"crowdkit": ModuleType("crowdkit"), "crowdkit.aggregation": stand_in}
    with pytest.MonkeyPatch.context() as patch:
        for name, module_in_place in hidden.items():
            patch.setitem(sys.modules, name, module_in_place)
        spec.loader.exec_module(module)
    return module


def test_the_mode_under_flat_priors_is_the_maximum_that_em_finds(
    reference: dict[str, Any], textbook: ModuleType
) -> None:
    table = textbook.caries().rename(columns={"task": "item", "worker": "judge"})
    fit = voirdire.fit(table, model="dawid-skene", method="map", priors=FLAT)
    shares = fit.shares().set_index("class")["share"]
    for label, share in reference["caries"]["shares"].items():
        assert shares[label] == pytest.approx(share, abs=1e-3)
    rates = fit.confusion().set_index(["judge", "class", "label"])["probability"]
    for judge, of, label, rate in reference["caries"]["rates"]:
        assert rates[judge, of, label] == pytest.approx(rate, abs=1e-3), (judge, of, label)


def test_em_finds_a_local_maximum_of_the_anesthesia_table_and_the_mode_is_higher(
    reference: dict[str, Any], textbook: ModuleType
) -> None:
    """45 patients leave several maxima. EM from the majority's answers ends in one; the search from there stays."""
    table = read_labels(textbook.anesthesia().rename(columns={"task": "item", "worker": "judge"}))
    problem = pose_labels(load_model("dawid-skene").with_priors(FLAT), table)
    program, names = problem.program, problem.labels
    found = reference["anesthesia"]
    rates = np.full((5, 4, 4), 1e-9)
    for judge, of, label, rate in found["rates"]:
        rates[problem.judges.index(judge), names.index(of), names.index(label)] = max(rate, 1e-9)
    shares = np.array([found["shares"][name] for name in names])
    log, leaning = np.log(rates), program.model.reliability.numbers["lean"] * np.eye(4)
    panel = log.mean(axis=0)
    values = {
        "class_share": centred(np.log(shares))[None],
        "confusion": centred(panel - leaning),
        "confusion_judge": centred(log - panel),
    }
    with engine.double_precision():
        batch = {"labels": {name: column[None] for name, column in problem.data["labels"].items()}}
        end = engine.minimiser(program, 1e-6, 5000)(program.flat(values, np)[None], batch)
    stayed = program.values(np.asarray(end.x)[0], np)
    np.testing.assert_allclose(np.exp(program.shares(stayed, np))[0], shares, atol=1e-3)
    highest = program.values(find_mode(problem).x, np)
    likelihoods = [program.log_likelihood(v, problem.data, np) for v in (stayed, highest)]
    assert likelihoods[0] == pytest.approx(-192.891, abs=1e-3)
    assert likelihoods[1] == pytest.approx(-192.682, abs=1e-3)


def centred(log: np.ndarray) -> np.ndarray:
    return log - log.mean(axis=-1, keepdims=True)


def test_shares_of_the_anesthesia_table_to_two_digits(reference: dict[str, Any]) -> None:
    shares = reference["anesthesia"]["shares"]
    assert [round(shares[label], 2) for label in "1234"] == [0.40, 0.42, 0.11, 0.07]


def balanced_accuracy(found: pd.DataFrame, truth: pd.Series) -> float:
    right = (found["label"] == truth[found["item"]].to_numpy()).groupby(truth[found["item"]].to_numpy())
    return float(right.mean().mean())


@pytest.fixture(scope="module")
def dices(shared: Path) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(shared / "data/dices350_labels.csv")
    return table, pd.read_csv(shared / "data/dices350_expert.csv").set_index("item")["label"]


def test_few_known_items_help_the_crowd_of_dices(dices: tuple[pd.DataFrame, pd.Series]) -> None:
    table, truth = dices
    classes = ["No", "Yes"]  # an expert is never unsure; raters may be
    gains = []
    majority = voirdire.fit(table, model="majority-label", method="map", classes=classes).classes()
    assert balanced_accuracy(majority, truth) == pytest.approx(0.6514, abs=1e-4)
    for seed in range(PEOPLE_SEED):
        known = truth.sample(20, random_state=seed)
        anchors = known.rename("label").rename_axis("item").reset_index()
        found = voirdire.fit(table, method="map", classes=classes, anchors=anchors).classes()
        assert found["known"].sum() == 20
        rest = ~found["known"]
        gains.append(balanced_accuracy(found[rest], truth) - balanced_accuracy(majority[rest], truth))
    # over draws of the 20 items: 0.038 with a standard deviation below 0.01
    assert np.mean(gains) >= 0.03
    assert np.std(gains) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("classes", [None, ["No", "Yes"]])
def test_nuts_samples_dices(dices: tuple[pd.DataFrame, pd.Series], classes: list[str] | None) -> None:
    fit = voirdire.fit(dices[0], method="nuts", classes=classes)
    checks = fit.checks().set_index("check")["value"]
    assert checks["rhat"] <= 1.01
    assert min(checks["ess_bulk"], checks["ess_tail"]) >= 400
    assert checks["divergences"] == 0
