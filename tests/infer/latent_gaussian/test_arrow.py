"""Block-arrow matrices beside the same matrices in full."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer.latent_gaussian.arrow import sparse_factor
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.model import COMMON

SIZE, CELLS = 14, 60


@pytest.fixture(params=["blocks", "common", "twice"])
def pattern(request: pytest.FixtureRequest) -> Pattern:
    """Three blocks of three with five common values; common values alone; some values in both predictors of a cell."""
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2, COMMON], [3, 3, 3, 5]) if request.param != "common" else np.full(SIZE, COMMON)
    own = rng.integers(0, 3, CELLS)[:, None] * 3 + np.argsort(rng.random((CELLS, 3)), axis=1)[:, :2]
    shared = 9 + np.argsort(rng.random((CELLS, 5)), axis=1)[:, :2]
    index = np.concatenate([own, shared], axis=1)
    if request.param == "twice":  # as the one coin of a judge is both of two
        index[::2, 1], index[::3, 3] = index[::2, 0], index[::3, 2]
    coefficients = rng.normal(size=index.shape)
    index[::7, 1], coefficients[::7, 1] = SIZE, 0.0  # some cells have fewer
    return Pattern(block, index, coefficients, np.array([0, 1, 0, 1]))


def in_full(pattern: Pattern, curvature: np.ndarray) -> np.ndarray:
    total = np.zeros((SIZE, SIZE))
    for index, coefficients, w in zip(pattern.index, pattern.coefficients, curvature, strict=True):
        rows = np.zeros((2, SIZE + 1))
        for place, coefficient, predictor in zip(index, coefficients, pattern.predictor, strict=True):
            rows[predictor, place] += coefficient
        total += rows[:, :-1].T @ w @ rows[:, :-1]
    return total


def test_factors_are_those_of_the_full_matrix(pattern: Pattern) -> None:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(CELLS, 2, 2))
    curvature, diagonal = root @ root.transpose(0, 2, 1), rng.uniform(0.5, 2.0, SIZE)
    full = in_full(pattern, curvature) + np.diag(diagonal)
    factor, inverse = sparse_factor(pattern, diagonal, curvature), np.linalg.inv(full)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(full)[1], rel=1e-12)
    right = rng.normal(size=(SIZE, 3))
    np.testing.assert_allclose(factor.solve_system(right), inverse @ right, rtol=1e-9, atol=1e-12)
    variances, covariances = factor.marginal_covariances()
    np.testing.assert_allclose(variances, inverse.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(factor.marginal_variances(), inverse.diagonal(), rtol=1e-9)
    for cell in range(0, CELLS, 5):
        rows = np.zeros((2, SIZE + 1))
        np.add.at(rows, (pattern.predictor, pattern.index[cell]), pattern.coefficients[cell])
        np.testing.assert_allclose(covariances[cell], rows[:, :-1] @ inverse @ rows[:, :-1].T, atol=1e-10)
    np.testing.assert_allclose(factor.to_draws(np.eye(SIZE)) @ factor.to_draws(np.eye(SIZE)).T, inverse, atol=1e-10)
    x = rng.normal(size=SIZE)
    sums = np.zeros((2, CELLS))
    for j, predictor in enumerate(pattern.predictor):
        sums[predictor] += pattern.coefficients[:, j] * np.append(x, 0.0)[pattern.index[:, j]]
    np.testing.assert_allclose(pattern.linear_predictors(x), sums, atol=1e-12)
    np.testing.assert_allclose(pattern.linear_predictors(np.stack([x, 2 * x]))[1], 2 * sums, atol=1e-12)
    slopes = rng.normal(size=(2, CELLS))
    assert pattern.gather_gradient(slopes) @ x == pytest.approx((slopes * sums).sum())


def test_what_is_not_positive_definite_is_an_error(pattern: Pattern) -> None:
    curvature = -np.ones((CELLS, 1, 1)) * np.eye(2)
    with pytest.raises(np.linalg.LinAlgError):
        sparse_factor(pattern, np.ones(SIZE), curvature)


def test_gradients_by_white_vectors_are_those_of_draws(pattern: Pattern) -> None:
    factor = sparse_factor(pattern, np.ones(SIZE), np.ones((CELLS, 1, 1)) * np.eye(2))
    rng = np.random.default_rng(2)
    slope, normal = rng.normal(size=(SIZE, 3)), rng.normal(size=(SIZE, 4))
    np.testing.assert_allclose(
        factor.whiten_gradients(slope).T @ normal, slope.T @ factor.to_draws(normal), rtol=1e-9, atol=1e-12
    )
