"""The hand-derived gradient and metric of confusion matrices against automatic derivatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from voirdire.infer import Derivatives, find_modes, mode
from voirdire.infer.autodiff import TAPE_NUMPY, value_and_gradient
from voirdire.kinds import LabelsProblem, encode_labels
from voirdire.kinds.labels import curvature
from voirdire.kinds.labels.expected import ExpectedLabels
from voirdire.kinds.labels.layout import LabelCounts, is_compressed
from voirdire.model import load_model
from voirdire.tables import read_labels

MODELS = ("dawid-skene", "hierarchical-dawid-skene", "dawid-skene-pooled")


def encoded(model: str, *, known: bool) -> LabelsProblem:
    """Two criteria, an answer that is no class, items nobody or all judges labelled; some or all classes known."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (12, 2))
    rows = [
        (f"j{j}", f"i{i:02}", f"c{c}", "abu"[truth[i, c] if rng.random() < 0.7 else rng.integers(0, 3)])
        for j in range(4)
        for i in range(12)
        for c in range(2)
        if rng.random() < 0.8
    ]
    columns = ["judge", "item", "criterion", "label"]
    labelled = pd.DataFrame(rows, columns=columns)
    # the first two items have the same labels and are counted together
    twins = pd.DataFrame(
        [(f"j{j}", item, c, "a") for j in range(4) for item in ("t0", "t1") for c in ("c0", "c1")], columns=columns
    )
    table = read_labels(pd.concat([labelled, twins]))
    free = encode_labels(load_model(model), table, classes=["a", "b"])
    codes = np.full(len(free.unit_item), -1)
    chosen = slice(None) if known else slice(0, 5)
    codes[chosen] = np.arange(len(codes))[chosen] % 2
    return encode_labels(load_model(model), table, classes=["a", "b"], known=codes)


@pytest.mark.parametrize("model", MODELS)
def test_value_and_gradient(model: str) -> None:
    problem = encoded(model, known=False)
    density, data = problem.density, problem.data
    assert data["labels"]["weight"].max() > 1
    found = ExpectedLabels(density, data)
    for seed in range(3):
        x = np.random.default_rng(seed).normal(0, 1.5, density.size)
        value, slope = found.value_gradient(x)
        other, automatic = value_and_gradient(lambda node: -density.log_density(node, data, TAPE_NUMPY), x)
        assert value == pytest.approx(other, rel=1e-12)
        np.testing.assert_allclose(slope, automatic, rtol=1e-10, atol=1e-10)


def test_all_orientations_alike() -> None:
    """By hand of one orientation, with what the others add, as by the whole density."""
    problem = encoded("hierarchical-dawid-skene", known=False)
    free = encode_labels(problem.model, problem.table, classes=["a", "b"])
    density, data = free.density, free.data
    assert density.has_mirror
    points = np.random.default_rng(7).normal(size=(4, density.size))
    derivatives = Derivatives(density, data, symmetric=True)
    values, slopes = derivatives.many(points)
    for value, slope, x in zip(values, slopes, points, strict=True):
        other, automatic = value_and_gradient(lambda node: -density.symmetric_log_density(node, data, TAPE_NUMPY), x)
        assert value == pytest.approx(float(other), rel=1e-12)
        np.testing.assert_allclose(slope, automatic, atol=1e-10)
        np.testing.assert_allclose(derivatives.value_gradient(x)[1], automatic, atol=1e-10)


def hessian(problem: LabelsProblem, x: np.ndarray) -> np.ndarray:
    """By central differences of automatic gradients, within about 1e-8."""

    def slope(point: np.ndarray) -> np.ndarray:
        return value_and_gradient(lambda node: -problem.density.log_density(node, problem.data, TAPE_NUMPY), point)[1]

    step = 1e-5
    return np.stack([(slope(x + step * e) - slope(x - step * e)) / (2 * step) for e in np.eye(x.size)])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("known", [False, True])
def test_the_hessian(model: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = encoded(model, known=known)
    x = np.random.default_rng(4).normal(0, 1.0, problem.density.size)
    found = curvature.negative_hessian(ExpectedLabels(problem.density, problem.data), x)
    np.testing.assert_allclose(found, hessian(problem, x), atol=1e-6)
    monkeypatch.setattr(curvature, "MAX_DIRECTIONS", 3)  # three directions at a time
    again = curvature.negative_hessian(ExpectedLabels(problem.density, problem.data), x)
    np.testing.assert_allclose(again, found, atol=1e-12)


def test_sums_over_labels_given_are_products_of_matrices() -> None:
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.02, (40, 150)).astype(float)
    counts[3] = 0.0
    assert is_compressed(LabelCounts(counts).matrix)
    assert not is_compressed(LabelCounts(counts + 1.0).matrix)
    for given in (counts, csr_array(counts), counts + 1.0):
        form, counts = LabelCounts(given), given if isinstance(given, np.ndarray) else counts
        rates, belief = rng.normal(size=(3, 150)), rng.normal(size=(3, 40))
        np.testing.assert_allclose(form.by_item(rates), rates @ counts.T, atol=1e-12)
        np.testing.assert_allclose(form.by_label(belief), belief @ counts, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_the_metric_is_the_hessian_where_all_classes_are_known(model: str) -> None:
    problem = encoded(model, known=True)
    x = np.random.default_rng(1).normal(0, 1.0, problem.density.size)
    apply = ExpectedLabels(problem.density, problem.data).inverse_information(x)
    inverse = np.stack([apply(unit) for unit in np.eye(x.size)], axis=1)
    np.testing.assert_allclose(inverse @ hessian(problem, x), np.eye(x.size), atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_the_metric_bounds_the_hessian_where_classes_are_hidden(model: str) -> None:
    problem = encoded(model, known=False)
    x = np.random.default_rng(2).normal(0, 1.0, problem.density.size)
    apply = ExpectedLabels(problem.density, problem.data).inverse_information(x)
    inverse = np.stack([apply(unit) for unit in np.eye(x.size)], axis=1)
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12)
    curvature = np.linalg.eigvalsh(np.linalg.inv(inverse) - hessian(problem, x))
    assert curvature.min() > -1e-6
    assert curvature.max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_search_ends_at_the_mode_of_the_compiled_one(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = encoded(model, known=False)
    alone = find_modes(problem.density, [problem.data])[0]
    monkeypatch.setattr(mode, "MAX_UNCOMPILED_WORK", 0)
    compiled = find_modes(problem.density, [problem.data] * 2)[0]
    assert alone.converged
    assert alone.evaluations < compiled.evaluations
    assert alone.log_density == pytest.approx(compiled.log_density, abs=1e-8)
    np.testing.assert_allclose(alone.x, compiled.x, atol=1e-5)
