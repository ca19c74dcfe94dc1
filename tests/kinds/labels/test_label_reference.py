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
from voirdire.infer import engine, find_mode
from voirdire.kinds import encode_labels
from voirdire.model import load_model
from voirdire.tables import read_labels

# a prior so wide that the mode is the maximum of the likelihood
FLAT = {"classes": {"sd": 1e4}, "reliability": {"sd": 1e4, "judge_sd": 1e4}}


@pytest.fixture(scope="module")
def reference(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / "tests/reference/labels_crowdkit.json").read_text())
    return found["tables"]


@pytest.fixture(scope="module")
def textbook(project: Path) -> ModuleType:
    """The script that made the reference holds the two tables; crowd-kit itself is not needed."""
    spec = importlib.util.spec_from_file_location("labels_crowdkit", project / "tests/reference/labels_crowdkit.py")
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
    fit = voirdire.fit(table, model="hierarchical-dawid-skene", method="map", priors=FLAT)
    shares = fit.shares().set_index("class")["share"]
    for label, share in reference["caries"]["shares"].items():
        assert shares[label] == pytest.approx(share, abs=1e-3)
    rates = fit.confusion().set_index(["judge", "class", "label"])["probability"]
    for judge, of, label, rate in reference["caries"]["rates"]:
        assert rates[judge, of, label] == pytest.approx(rate, abs=1e-3), (judge, of, label)


@pytest.mark.slow
def test_em_finds_a_local_maximum_of_the_anesthesia_table_and_the_mode_is_higher(
    reference: dict[str, Any], textbook: ModuleType
) -> None:
    """45 patients leave several maxima. EM from the majority's answers ends in one; the search from there stays."""
    table = read_labels(textbook.anesthesia().rename(columns={"task": "item", "worker": "judge"}))
    problem = encode_labels(load_model("hierarchical-dawid-skene").with_priors(FLAT), table)
    density, names = problem.density, problem.labels
    found = reference["anesthesia"]
    rates = np.full((5, 4, 4), 1e-9)
    for judge, of, label, rate in found["rates"]:
        rates[problem.judges.index(judge), names.index(of), names.index(label)] = max(rate, 1e-9)
    shares = np.array([found["shares"][name] for name in names])
    log, leaning = np.log(rates), density.model.reliability.numbers["lean"] * np.eye(4)
    panel = log.mean(axis=0)
    values = {
        "class_share": centred(np.log(shares))[None],
        "confusion": centred(panel - leaning),
        "confusion_judge": centred(log - panel),
    }
    with engine.double_precision():
        batch = {"labels": {name: column[None] for name, column in problem.data["labels"].items()}}
        end = engine.compiled_minimiser(density, 1e-6, 5000)(density.flat(values, np)[None], batch)
    stayed = density.values(np.asarray(end.x)[0], np)
    np.testing.assert_allclose(np.exp(density.shares(stayed, np))[0], shares, atol=1e-3)
    highest = density.values(find_mode(problem).x, np)
    likelihoods = [density.log_likelihood(v, problem.data, np) for v in (stayed, highest)]
    assert likelihoods[0] == pytest.approx(-192.891, abs=1e-3)
    assert likelihoods[1] == pytest.approx(-192.682, abs=1e-3)


def centred(log: np.ndarray) -> np.ndarray:
    return log - log.mean(axis=-1, keepdims=True)


def test_shares_of_the_anesthesia_table_to_two_digits(reference: dict[str, Any]) -> None:
    shares = reference["anesthesia"]["shares"]
    assert [round(shares[label], 2) for label in "1234"] == [0.40, 0.42, 0.11, 0.07]


@pytest.fixture(scope="module")
def dices(shared: Path) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(shared / "data/dices350_labels.csv")
    return table, pd.read_csv(shared / "data/dices350_expert.csv").set_index("item")["label"]


def anchored(
    dices: tuple[pd.DataFrame, pd.Series], model: str, draws: int, mode: str = "joint", count: int = 20
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Balanced accuracy on the rest with known items, without any, and the majority's, one of each per draw."""
    table, classes = dices[0], ["No", "Yes"]  # an expert is never unsure; raters may be
    people = dices[1].rename("label").rename_axis("item").reset_index()
    how = {"method": "map", "classes": classes, "about": "panel"}
    others = [voirdire.fit(table, model=m, **how) for m in (model, "majority-label")]
    found = []
    for seed in range(draws):
        known = people.sample(count, random_state=seed)
        rest = people.drop(known.index)
        helped = voirdire.fit(table, model=model, anchors=known, anchor_mode=mode, **how)
        found.append([fit.accuracy(rest, resamples=1)["value"][1] for fit in (helped, *others)])
    helped, alone, majority = np.array(found).T
    return helped, alone, majority


@pytest.mark.long
@pytest.mark.slow
def test_with_known_items_one_matrix_beats_the_majority_of_dices(dices: tuple[pd.DataFrame, pd.Series]) -> None:
    helped, _, majority = anchored(dices, "dawid-skene-pooled", 20)
    assert np.mean(helped) == pytest.approx(0.6895, abs=5e-4)
    assert np.mean(helped - majority) == pytest.approx(0.0353, abs=5e-4)
    assert np.std(helped - majority) == pytest.approx(0.0052, abs=5e-4)


@pytest.mark.long
@pytest.mark.slow
def test_known_items_add_nothing_to_matrices_of_each_rater_of_dices(dices: tuple[pd.DataFrame, pd.Series]) -> None:
    helped, alone, majority = anchored(dices, "hierarchical-dawid-skene", 100)
    assert np.mean(helped) == pytest.approx(0.6842, abs=5e-4)
    assert np.mean(alone) == pytest.approx(0.6922, abs=5e-4)
    assert np.mean(helped - majority) == pytest.approx(0.0298, abs=5e-4)
    assert np.std(helped - majority) == pytest.approx(0.0086, abs=5e-4)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "joint", "cut"), [pytest.param(20, 0.6842, 0.6963, marks=pytest.mark.long), (60, 0.6799, 0.6967)]
)
def test_matrices_from_known_items_alone_beat_joint_ones_on_dices(
    dices: tuple[pd.DataFrame, pd.Series], count: int, joint: float, cut: float
) -> None:
    for mode, expected in (("joint", joint), ("cut", cut)):
        helped, _, _ = anchored(dices, "hierarchical-dawid-skene", 100, mode, count)
        assert np.mean(helped) == pytest.approx(expected, abs=5e-4)


MEASURED = [
    ("majority-label", None, 0.6543, 0.6195, 0.6887),
    ("one-coin-label", None, 0.6057, 0.5765, 0.6349),
    # the class found as "unsure" is called "No" or "Yes" by the judges: what they say is what is stated
    ("hierarchical-dawid-skene", None, 0.6400, 0.6069, 0.6735),
    ("majority-label", ["No", "Yes"], 0.6543, 0.6195, 0.6887),
    ("one-coin-label", ["No", "Yes"], 0.6057, 0.5765, 0.6349),
    ("hierarchical-dawid-skene", ["No", "Yes"], 0.6914, 0.6533, 0.7297),
]


@pytest.mark.parametrize(("model", "classes", "value", "low", "high"), MEASURED)
def test_accuracy_on_dices_with_intervals(
    dices: tuple[pd.DataFrame, pd.Series], model: str, classes: list[str] | None, value: float, low: float, high: float
) -> None:
    """As many items are safe as not to the experts, so that both measures have the same value, not the same width."""
    people = dices[1].rename("label").rename_axis("item").reset_index()
    found = (
        voirdire.fit(dices[0], model=model, method="map", classes=classes, about="panel")
        .accuracy(people)
        .set_index("measure")
    )
    assert found["n"].tolist() == [350, 350]
    np.testing.assert_allclose(found["value"], value, atol=5e-5)
    balanced = found.loc["balanced_accuracy"]
    np.testing.assert_allclose(balanced[["low", "high"]].astype(float), [low, high], atol=5e-4)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("classes", [None, ["No", "Yes"]])
def test_nuts_samples_dices(dices: tuple[pd.DataFrame, pd.Series], classes: list[str] | None) -> None:
    fit = voirdire.fit(dices[0], method="nuts", classes=classes)
    checks = fit.checks().set_index("check")["value"]
    assert checks["rhat"] <= 1.01
    assert min(checks["ess_bulk"], checks["ess_tail"]) >= 400
    assert checks["divergences"] == 0
