"""The inverse square root by products: against the matrix written out, and what is no precision is told."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer.matrix_free import TOLERANCE, inverse_root


def precision(size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, 2 * size))
    return root @ root.T / size + np.diag(rng.uniform(0.5, 50.0, size))


@pytest.mark.parametrize("size", [1, 2, 30, 400])
def test_the_product_is_that_of_the_matrix_written_out(size: int) -> None:
    matrix = precision(size, 1)
    values, vectors = np.linalg.eigh(matrix)
    z = np.random.default_rng(2).normal(size=size)
    right = vectors @ ((vectors.T @ z) / np.sqrt(values))
    products = []
    found = inverse_root(lambda v: (products.append(1), matrix @ v)[1], z)
    assert np.linalg.norm(found.value - right) <= 5 * TOLERANCE * np.linalg.norm(right)
    assert len(products) <= min(size, 60)
    assert found.smallest > 0
    assert found.smallest >= values[0] * (1 - 1e-9)


def test_a_multiple_of_the_identity_takes_one_product_and_nothing_is_nothing() -> None:
    found = inverse_root(lambda v: 4.0 * v, np.arange(50.0))
    np.testing.assert_allclose(found.value, np.arange(50.0) / 2.0)
    assert inverse_root(lambda v: 4.0 * v, np.zeros(3)).value.tolist() == [0.0, 0.0, 0.0]


def test_what_is_no_precision_is_told() -> None:
    matrix = precision(40, 3)
    values, vectors = np.linalg.eigh(matrix)
    values[0] = -0.5 * values[-1]
    turned = (vectors * values) @ vectors.T
    assert inverse_root(lambda v: turned @ v, np.ones(40)).smallest < 0
