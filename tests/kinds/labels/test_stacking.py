"""Stacking of labels: the regression against direct integration, and what it does of honest and of dependent panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire import Fit
from voirdire.infer.multinomial import answer_probabilities, fit_multinomial
from voirdire.kinds.labels.stacking import MAX_KNOWN_ITEMS, Stacking


def kernel_of(x: np.ndarray) -> np.ndarray:
    return 0.2 + 0.3 * x @ x.T


def test_the_regression_is_that_of_direct_integration() -> None:
    """Many draws of the prior weighed by the likelihood: evidence, predictions, and those without one answer."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 2)) * 0.7
    mean, answer = rng.normal(size=(6, 3)) * 0.5, np.array([0, 1, 2, 0])
    kernel = kernel_of(x)
    found = fit_multinomial(mean[:4], kernel[:4, :4], answer)
    draws = mean + np.linalg.cholesky(kernel + 1e-12 * np.eye(6)) @ rng.standard_normal((400_000, 6, 3))
    p = np.exp(draws - np.log(np.exp(draws).sum(axis=2, keepdims=True)))
    each = p[:, np.arange(4), answer]
    weight = each.prod(axis=1)
    assert found.log_evidence == pytest.approx(np.log(weight.mean()), abs=0.02)  # Laplace's own error
    new = answer_probabilities(*found.predict_at(mean[4:], kernel[4:, :4], kernel.diagonal()[4:]))
    exact = (weight[:, None, None] * p[:, 4:]).mean(axis=0) / weight.mean()
    np.testing.assert_allclose(new, exact, atol=0.01)
    left = answer_probabilities(*found.left_out())
    for i in range(4):
        others = weight / each[:, i]
        np.testing.assert_allclose(left[i], (others[:, None] * p[:, i]).mean(axis=0) / others.mean(), atol=0.02)


def test_the_mode_is_one() -> None:
    """The gradient at the mode: what is above the prior mean is the kernel times the residuals."""
    rng = np.random.default_rng(2)
    kernel, mean = kernel_of(rng.normal(size=(30, 4))), rng.normal(size=(30, 3))
    found = fit_multinomial(mean, kernel, rng.integers(3, size=30))
    np.testing.assert_allclose(found.f, mean + kernel @ found.slope, atol=1e-4)


def test_a_kernel_of_few_dimensions_is_factored_and_changes_nothing() -> None:
    """Beside the same kernel of full rank, by as little as does not show."""
    rng = np.random.default_rng(3)
    kernel, mean = kernel_of(rng.normal(size=(60, 4))), rng.normal(size=(60, 3))
    answer = rng.integers(3, size=60)
    few, full = (fit_multinomial(mean, kernel, answer), fit_multinomial(mean, kernel + 1e-10 * np.eye(60), answer))
    assert few.log_evidence == pytest.approx(full.log_evidence, abs=1e-7)
    np.testing.assert_allclose(few.f, full.f, atol=1e-7)
    np.testing.assert_allclose(answer_probabilities(*few.left_out()), answer_probabilities(*full.left_out()), atol=1e-7)


def test_items_that_are_alike_are_computed_once() -> None:
    rng = np.random.default_rng(4)
    kinds = rng.integers(5, size=200)
    shares, half = np.eye(2)[rng.integers(2, size=(5, 3))][kinds], np.full((200, 2), 0.5)
    known, answer = np.arange(20), rng.integers(2, size=20)
    each = Stacking(shares, (half,), known, answer).stacked_probabilities()
    once = Stacking(shares, (half,), known, answer, duplicate_group=kinds).stacked_probabilities()
    for one, other in zip(each, once, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def panel(rng: np.random.Generator, truth: np.ndarray, judges: int, chance: float) -> list[np.ndarray]:
    return [np.where(rng.random(len(truth)) < chance, truth, rng.integers(3, size=len(truth))) for _ in range(judges)]


def table_of(said: list[np.ndarray]) -> pd.DataFrame:
    rows = [(f"j{k}", f"i{n:03d}", "abc"[label]) for k, one in enumerate(said) for n, label in enumerate(one)]
    return pd.DataFrame(rows, columns=["judge", "item", "label"])


def people(truth: np.ndarray, some: slice) -> pd.DataFrame:
    every = pd.DataFrame({"item": [f"i{n:03d}" for n in range(len(truth))], "label": np.array(list("abc"))[truth]})
    return every.iloc[some].reset_index(drop=True)


def log_loss(fit: Fit, truth: pd.DataFrame) -> float:
    found = fit.classes().set_index("item").loc[truth["item"]]
    chance = found[["p_a", "p_b", "p_c"]].to_numpy()
    return float(-np.log(chance[np.arange(len(truth)), ["abc".index(c) for c in truth["label"]]]).mean())


def test_honest_judges_lose_nothing() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=200)
    table, known, rest = (table_of(panel(rng, truth, 8, 0.7)), people(truth, slice(20)), people(truth, slice(20, None)))
    stacked, joint = (
        voirdire.fit(
            table,
            anchors=known,
            method="map",
            anchor_mode=how,
            model="shared-dawid-skene",
            families={f"j{k}": f"j{k}" for k in range(8)},
        )
        for how in (None, "joint")
    )
    assert stacked.anchor_methods().set_index("method").loc["average", "used"] == "items"
    right = [float(fit.accuracy(rest, resamples=1)["value"][0]) for fit in (stacked, joint)]
    assert right[0] >= right[1] - 0.006  # one of 180
    assert log_loss(stacked, rest) < log_loss(joint, rest) + 0.03


def test_one_good_judge_among_copies_of_a_bad_one_is_found(tmp_path: object) -> None:
    """Also of shared errors, where nothing is cut; kept, and predicting new items as it does those of the fit."""
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=150)
    bad = panel(rng, truth, 1, 0.3)[0]
    said = [*(np.where(rng.random(150) < 0.9, bad, rng.integers(3, size=150)) for _ in range(4))]
    said += panel(rng, truth, 1, 0.85)
    table, known, rest = table_of(said), people(truth, slice(40)), people(truth, slice(40, None))
    families = {f"j{k}": "same" if k < 4 else "own" for k in range(5)}
    fit = voirdire.fit(table, anchors=known, method="map", model="shared-dawid-skene", families=families)
    assert fit.anchor_methods()["method"].tolist() == ["majority", "joint", "stacking", "average"]
    assert fit.anchored.chosen == "joint"
    assert float(fit.accuracy(rest, resamples=1)["value"][0]) > 0.85
    classes = fit.classes().set_index("item")
    assert (classes.loc[known["item"], "label"] == known["label"].to_numpy()).all()
    again = voirdire.load(fit.save(f"{tmp_path}/run"))
    pd.testing.assert_frame_equal(again.classes(), fit.classes())
    new = table[table["item"] == "i100"].assign(item="new")
    columns = ["p_a", "p_b", "p_c"]
    np.testing.assert_allclose(again.predict(new)[columns].iloc[0], classes.loc["i100", columns], atol=1e-6)


@pytest.mark.slow
def test_of_many_known_items_some_are_learned_from() -> None:
    rng = np.random.default_rng(5)
    said = rng.integers(2, size=(MAX_KNOWN_ITEMS + 50, 2))
    half = np.full((len(said), 2), 0.5)
    found, left = Stacking(np.eye(2)[said], (half,), np.arange(len(said)), said[:, 0]).stacked_probabilities()
    assert left.shape == found.shape
    assert (left.argmax(axis=1) == said[:, 0]).all()
