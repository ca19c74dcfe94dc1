"""Products of a factor, again and again: written out, in single precision, and one block after the other."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.infer.latent_gaussian import whitening
from voirdire.infer.latent_gaussian.arrow import Factor, sparse_factor
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.whitening import MAX_DENSE_VALUES, choose_whitening
from voirdire.model import COMMON

COMMONS = 30


def factored(blocks: int, each: int) -> Factor:
    """Cells of one value of a block and two common ones each; the last value of every block is in none."""
    rng = np.random.default_rng(0)
    size = blocks * each
    block = np.concatenate([np.repeat(np.arange(blocks), each), np.full(COMMONS, COMMON)])
    own = np.repeat(np.setdiff1d(np.arange(size), np.arange(each - 1, size, each)), 6)
    common = size + np.stack([rng.permutation(COMMONS)[:2] for _ in own])
    index = np.concatenate([own[:, None], common], axis=1)
    coefficients = np.tile([1.0, 1.0, -1.0], (len(own), 1))
    pattern = Pattern(block, index, coefficients, np.zeros(3, dtype=int))
    return sparse_factor(pattern, rng.uniform(0.5, 2.0, pattern.size), rng.uniform(0.1, 1.0, (len(own), 1, 1)))


@pytest.mark.parametrize(("blocks", "each", "largest"), [(6, 5, 2e7), (50, 8, 2e7), (50, 8, 0.0)])
def test_products_are_those_of_the_factor(
    monkeypatch: pytest.MonkeyPatch, blocks: int, each: int, largest: float
) -> None:
    monkeypatch.setattr(whitening, "MAX_MATRIX_NUMBERS", largest)
    monkeypatch.setattr(whitening, "MIN_BLOCK_ENTRY", 0.0)
    monkeypatch.setattr(whitening, "MIN_COMMON_ENTRY", 0.0)
    factor = factored(blocks, each)
    rng, size = np.random.default_rng(1), factor.pattern.size
    assert (size <= MAX_DENSE_VALUES) == (blocks == 6)
    z, slopes = rng.standard_normal((2, 4, size))
    products = choose_whitening(factor)
    np.testing.assert_allclose(products.normal(z), factor.to_draws(z.T).T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(products.white(slopes), factor.whiten_gradients(slopes.T).T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(products.back(products.normal(z)), z, rtol=1e-4, atol=1e-4)
    through = (products.normal(z) * slopes).sum(axis=1), (z * products.white(slopes)).sum(axis=1)
    np.testing.assert_allclose(*through, rtol=1e-4, atol=1e-4)


def test_what_hardly_turns_anything_is_left_out() -> None:
    """Products stay each other's transposes and inverses, and nearly those of the factor."""
    factor = factored(50, 8)
    z, slopes = np.random.default_rng(1).standard_normal((2, 4, factor.pattern.size))
    products = choose_whitening(factor)
    normal, white = products.normal(z), products.white(slopes)
    assert np.abs(normal - factor.to_draws(z.T).T).max() > 1e-4
    np.testing.assert_allclose(normal, factor.to_draws(z.T).T, atol=0.02)
    np.testing.assert_allclose(white, factor.whiten_gradients(slopes.T).T, atol=0.02)
    np.testing.assert_allclose(products.back(normal), z, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose((normal * slopes).sum(axis=1), (z * white).sum(axis=1), rtol=1e-4, atol=1e-4)
