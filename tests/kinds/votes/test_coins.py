"""Coins from anchors: against numerical integration and a closed form, and what draws must be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire.kinds.votes import candidates as coins
from voirdire.kinds.votes.candidates import CONCENTRATIONS, MEAN_GRID, learn_coins

PRIOR = {"a": 4.0, "b": 1.5, "reversed": 0.1}


def by_hand(right: list[float], wrong: list[float], family: list[int]) -> np.ndarray:
    """Posterior means by brute force over (concentration, mean of family 0, mean of family 1)."""
    prior = 0.9 * stats.beta.pdf(MEAN_GRID, 4, 1.5) + 0.1 * stats.beta.pdf(MEAN_GRID, 1.5, 4)
    top, total = np.zeros(len(right)), 0.0
    for c in CONCENTRATIONS:
        for m0, p0 in zip(MEAN_GRID, prior, strict=True):
            for m1, p1 in zip(MEAN_GRID, prior, strict=True):
                m = np.where(np.array(family) == 0, m0, m1)
                n = np.array(right) + np.array(wrong)
                weight = p0 * p1 * stats.betabinom.pmf(right, n, c * m, c * (1 - m)).prod()
                top += weight * (c * m + right) / (c + n)
                total += weight
    return top / total


@pytest.mark.slow
def test_means_equal_brute_force() -> None:
    right, wrong, family = [5.0, 1.0, 8.0], [1.0, 3.0, 2.0], [0, 1, 0]
    found = learn_coins(np.array(right), np.array(wrong), np.array(family), PRIOR)
    np.testing.assert_allclose(found.mean(), by_hand(right, wrong, family), rtol=1e-10)


@pytest.mark.slow
def test_draws_have_the_posterior_s_mean_and_spread() -> None:
    found = learn_coins(np.array([9.0, 2.0]), np.array([1.0, 2.0]), np.array([0, 0]), PRIOR)
    drawn = found.draws(20_000, np.random.default_rng(0))
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - found.mean()) < 4 * error).all()
    assert np.corrcoef(drawn.T)[0, 1] > 0.05  # what one judge does is news of its family


def test_a_single_concentration_is_the_beta_binomial(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mean that is known, the coin is Beta(c m + right, c (1 - m) + wrong)."""
    monkeypatch.setattr(coins, "CONCENTRATIONS", np.array([10.0]))
    monkeypatch.setattr(coins, "MEAN_GRID", np.array([0.7]))
    found = learn_coins(np.array([3.0]), np.array([2.0]), np.array([0]), PRIOR)
    assert found.mean()[0] == pytest.approx((7 + 3) / (10 + 5))


def test_no_anchors_leave_the_prior() -> None:
    found = learn_coins(np.zeros(2), np.zeros(2), np.array([0, 1]), PRIOR)
    expected = 0.9 * 4 / 5.5 + 0.1 * 1.5 / 5.5
    np.testing.assert_allclose(found.mean(), expected, atol=2e-3)  # the grid has 60 points
