"""How sure fits of labels are of classes where judges share mistakes, and where they do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.kinds.labels.stated import Stated, stated


def panel(judges: int, items: int, truth: np.ndarray, chance: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    right = rng.random((judges, items)) < chance
    said = np.where(right, truth, 1 - truth)
    rows = [(f"j{k:02d}", f"i{n:03d}", "ny"[said[k, n]]) for k in range(judges) for n in range(items)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def test_independent_judges_are_believed_as_bayes_has_it() -> None:
    truth = np.random.default_rng(1).integers(0, 2, 200)
    fit = voirdire.fit(panel(9, 200, truth, 0.75, 2), method="map")
    assert stated(fit.problem, fit.posterior) == Stated()


@pytest.mark.parametrize("seed", [1, 2])
def test_judges_who_share_a_view_are_believed_as_far_as_they_agree(seed: int) -> None:
    """Each item looks to all judges more or less like one class, and to the person who is right too."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / (1.0 + np.exp(-1.5 * rng.normal(size=300)))
    truth = (rng.random(300) < chance).astype(int)
    said = rng.random((25, 300)) < chance
    rows = [(f"j{k:02d}", f"i{n:03d}", "ny"[int(said[k, n])]) for k in range(25) for n in range(300)]
    fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "label"]), method="map")
    weight = stated(fit.problem, fit.posterior).weight
    assert weight < 0.25
    classes = fit.classes()
    right = float((classes["label"] == np.array(["n", "y"])[truth]).mean())
    density = fit.problem.density
    joint = density.joint(fit.posterior.central_values, fit.problem.data, np)[fit.problem.unit_row]
    bayes = float(Stated().of(joint).max(axis=1).mean())
    assert bayes - right > 0.15
    assert abs(float(classes["probability"].mean()) - right) < 0.08
    # a weight changes how sure one is, not of what; and new items are stated as those of the fit
    assert (classes["label"] == np.array(["n", "y"])[joint.argmax(axis=1)]).all()
    one = pd.DataFrame(rows, columns=["judge", "item", "label"]).query("item == 'i000'").assign(item="new")
    assert fit.predict(one)["probability"][0] == pytest.approx(classes["probability"][0], abs=1e-9)


def test_classes_that_are_called_another_are_read_by_their_labels() -> None:
    named = np.array([[0.9, 0.1], [0.6, 0.4]])
    joint = np.array([[0.0, -50.0], [-50.0, 0.0], [-1e9, 0.0]])
    found = Stated(1.0, named).of(joint)
    np.testing.assert_allclose(found[:2], named, atol=1e-12)
    np.testing.assert_allclose(found[2], [0.0, 1.0])  # the class is known


def test_a_class_with_a_known_item_keeps_its_name() -> None:
    """Judges call the items of class y mostly n, and share how an item looks to them."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 200)
    looks = 1.5 * truth - 2.5 + rng.normal(size=200)
    said = rng.random((20, 200)) < 1.0 / (1.0 + np.exp(-looks))
    rows = [(f"j{k:02d}", f"i{n:03d}", "ny"[int(said[k, n])]) for k in range(20) for n in range(200)]
    table = pd.DataFrame(rows, columns=["judge", "item", "label"])
    known = pd.DataFrame(
        {"item": [f"i{n:03d}" for n in range(60)], "label": np.array(["n", "y"])[truth[:60]]}
    )
    how = {"method": "map", "model": "hierarchical-dawid-skene", "anchor_mode": "cut"}
    anchored = voirdire.fit(table, anchors=known, **how)
    assert stated(anchored.problem, anchored.posterior).named is None
    left = anchored.classes().query("not known")
    right = left["label"].to_numpy() == np.array(["n", "y"])[truth[60:]]
    assert left["label"].nunique() == 2
    assert right.mean() > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_judges_who_share_what_is_hard_are_believed_less_before_they_are_worth_half(seed: int) -> None:
    """Ten judges err together on hard items, and are worth 5 to 7: counted as ten they are far too sure."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 200)
    chance = 1.0 / (1.0 + np.exp(-rng.uniform(0.4, 2.2, (10, 1)) - 1.5 * rng.normal(size=200)))
    said = np.where(rng.random((10, 200)) < chance, truth, 1 - truth)
    rows = [(f"j{k}", f"i{n:03d}", "ny"[said[k, n]]) for k in range(10) for n in range(200)]
    fit = voirdire.fit(pd.DataFrame(rows, columns=["judge", "item", "label"]), method="map")
    as_is = stated(fit.problem, fit.posterior)
    assert 0.1 < as_is.weight < 0.8
    problem = fit.problem
    joint = problem.density.joint(fit.posterior.central_values, problem.data, np)[problem.unit_row]
    loss, bayes = (-np.log(how.of(joint)[np.arange(200), truth]).mean() for how in (as_is, Stated()))
    assert loss < 0.6 * bayes
