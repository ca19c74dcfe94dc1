"""White coordinates of a Laplace approximation: exact where nothing is left out, nearly so and thin where much is."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer import Laplace
from voirdire.infer.nuts import Whitening, whitening_map


def spread(white: Whitening) -> np.ndarray:
    """Covariance of x where z is standard normal."""
    size = len(white.mean)
    sides = white.free(np.eye(size)) - white.mean
    return np.asarray(sides.T @ sides)


def approximation(hessian: np.ndarray) -> Laplace:
    root = np.linalg.cholesky(np.linalg.inv(hessian))
    return Laplace(np.arange(float(len(hessian))), root, 0.0, 1.0)


def test_a_dense_covariance_is_exact() -> None:
    hessian = np.array([[2.0, 1.2, 0.8], [1.2, 3.0, -0.9], [0.8, -0.9, 1.5]])
    found = whitening_map(approximation(hessian))
    assert len(found.gain) == 3
    np.testing.assert_allclose(spread(found), np.linalg.inv(hessian), rtol=1e-8)


def test_items_tied_by_a_few_parameters_take_thin_matrices() -> None:
    """300 items that depend on each other through three parameters."""
    rng = np.random.default_rng(1)
    hessian = np.diag(rng.uniform(0.5, 4.0, 303))
    tied = rng.uniform(0.1, 0.3, (300, 3))
    hessian[:300, 300:], hessian[300:, :300] = tied, tied.T
    hessian[300:, 300:] = np.diag([30.0, 40.0, 50.0])
    found = whitening_map(approximation(hessian))
    assert found.across.shape == (303, len(found.gain))
    assert 1 <= len(found.gain) <= 6
    exact = np.linalg.cholesky(hessian)
    # what z would have to be for draws of the exact approximation: its standard deviations
    left = np.sqrt(np.linalg.eigvalsh(exact.T @ spread(found) @ exact))
    assert left.min() > 0.95
    assert left.max() < 1.06


def test_draws_keep_their_leading_axes() -> None:
    found = whitening_map(approximation(np.diag([1.0, 4.0])))
    z = np.random.default_rng(2).normal(size=(3, 5, 2))
    assert found.free(z)[1, 2] == pytest.approx(found.mean + z[1, 2] * [1.0, 0.5])
