"""Families of judges with labels in common: copies are one witness, of wrong labels too."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds import encode_labels
from voirdire.kinds.labels.families import find_families
from voirdire.model import load_model
from voirdire.tables import read_labels
from voirdire.typing import Floats, Ints

CLASSES, ITEMS = 3, 300


def table_of(said: list[Ints]) -> pd.DataFrame:
    rows = [(f"j{k:02d}", f"i{n:03d}", "xyz"[y]) for k, labels in enumerate(said) for n, y in enumerate(labels)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def honest(rng: np.random.Generator, truth: Ints, low: float, high: float) -> Ints:
    right = rng.random(ITEMS) < rng.uniform(low, high)
    return np.where(right, truth, (truth + rng.integers(1, CLASSES, ITEMS)) % CLASSES)


def copied(rng: np.random.Generator, said: Ints) -> Ints:
    return np.where(rng.random(ITEMS) < 0.95, said, rng.integers(0, CLASSES, ITEMS))


def chances(fit: voirdire.Fit) -> Floats:
    columns = [f"p_{label}" for label in "xyz"]
    return fit.classes().sort_values("item")[columns].to_numpy(float)


def scores(fit: voirdire.Fit, truth: Ints) -> tuple[float, float]:
    """Accuracy and log loss."""
    p = chances(fit)
    return float((p.argmax(axis=1) == truth).mean()), float(-np.log(p[np.arange(ITEMS), truth]).mean())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_copies_leave_accuracy_and_log_loss_as_they_are(seed: int) -> None:
    """Three copies of one of eight honest judges, found; none of the panels is one of the benchmark's."""
    rng = np.random.default_rng([seed, 100])
    truth = rng.integers(0, CLASSES, ITEMS)
    said = [honest(rng, truth, 0.6, 0.85) for _ in range(8)]
    alone = scores(voirdire.fit(table_of(said), method="map"), truth)
    both = table_of(said + [copied(rng, said[0]) for _ in range(3)])
    fit = voirdire.fit(both, method="map")
    assert fit.model.name == "family-dawid-skene"
    assert set(fit.problem.density.blocks) == {(0, 8, 9, 10)}
    right, loss = scores(fit, truth)
    assert right >= alone[0] - 0.011
    assert loss <= alone[1] + 0.02
    plain = scores(voirdire.fit(both, method="map", model="hierarchical-dawid-skene"), truth)
    assert plain[0] < right - 0.05


def test_most_of_a_panel_of_copies_of_a_poor_judge_is_not_followed() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, CLASSES, ITEMS)
    said = [honest(rng, truth, 0.5, 0.6)] + [honest(rng, truth, 0.65, 0.85) for _ in range(5)]
    said += [copied(rng, said[0]) for _ in range(5)]
    table = table_of(said)
    families = {f"j{k:02d}": "F" if k == 0 or k > 5 else f"own {k}" for k in range(11)}
    right = scores(voirdire.fit(table, method="map", families=families), truth)[0]
    counts = np.stack([(np.array(said) == c).sum(axis=0) for c in range(CLASSES)], axis=1)
    assert (counts.argmax(axis=1) == truth).mean() < 0.65
    assert right > 0.85


def test_families_of_judges_who_are_independent_cost_nothing() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, CLASSES, ITEMS)
    table = table_of([honest(rng, truth, 0.6, 0.85) for _ in range(8)])
    families = {f"j{k:02d}": "one" if k < 4 else "other" for k in range(8)}
    assert find_families(read_labels(table)) == {}
    apart, named = (voirdire.fit(table, method="map", families=f, about="panel") for f in (None, families))
    assert (apart.model.name, named.model.name) == ("hierarchical-dawid-skene", "family-dawid-skene")
    assert np.abs(chances(apart) - chances(named)).mean() < 0.01


def test_exact_copies_say_what_one_judge_says() -> None:
    """With labels in common always, and followed without fail, the likelihood is that of one judge who says them."""
    rng = np.random.default_rng(9)
    one = table_of([rng.integers(0, CLASSES, 20)])
    two = table_of([one["label"].map("xyz".index).to_numpy()] * 2)
    single = encode_labels(load_model("hierarchical-dawid-skene"), read_labels(one))
    both = encode_labels(load_model("family-dawid-skene"), read_labels(two), families={"j00": "F", "j01": "F"})
    logits = rng.normal(size=(3, 3))
    logits -= logits.mean(axis=1, keepdims=True)
    share = np.array([[0.4, 0.1, -0.5]])
    lean = load_model("hierarchical-dawid-skene").reliability.numbers["lean"] * np.eye(3)
    alone = {"class_share": share, "confusion": logits - lean, "confusion_judge": np.zeros((1, 3, 3))}
    family = {
        "class_share": share,
        "confusion": np.zeros((3, 3)),
        "confusion_judge": np.zeros((2, 3, 3)),
        "log_load": np.full(2, math.log(60.0)),
        "common": np.array([60.0]),
        "common_label": logits[None],
    }
    total = []
    for problem, values in ((single, alone), (both, family)):
        log, weight = problem.density.log_parts(values, problem.data, np)[0]
        total.append(float((log * weight).sum()))
    assert total[1] == pytest.approx(total[0], rel=1e-9)
