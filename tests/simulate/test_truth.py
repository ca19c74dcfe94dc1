"""Truths: ranks, Normals, given arrays; their correlation; overall scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from voirdire.errors import InputError
from voirdire.simulate import (
    GivenTruth,
    NormalTruth,
    RanksTruth,
    Truth,
    simulate_counts,
    simulate_votes,
    truth_from_spec,
)


def test_ranks_are_strict():
    strengths, weights, length = RanksTruth().draw_truth(np.random.default_rng(0), 50, 5)
    assert np.array_equal(np.sort(strengths, axis=1), np.tile(np.arange(1.0, 51.0), (5, 1)))
    assert np.array_equal(np.sort(weights), np.arange(1.0, 6.0))
    assert length.shape == (50,)
    assert len({tuple(row) for row in strengths}) == 5


def test_ranks_are_uniform_over_permutations():
    """Each of the 6 orders of 3 items within 4 standard errors in 6,000 draws."""
    rng, counts = np.random.default_rng(1), {}
    for _ in range(6000):
        row = tuple(RanksTruth().draw_truth(rng, 3, 1)[0][0])
        counts[row] = counts.get(row, 0) + 1
    assert len(counts) == 6
    assert max(abs(count - 1000) for count in counts.values()) < 4 * np.sqrt(1000 * 5 / 6)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 1.0])
def test_correlation_of_ranks(correlation):
    """Pearson's (1907) (6 / pi) arcsin(rho / 2), within 4 standard errors (at most 1 / sqrt(n))."""
    n = 40_000
    strengths, _, _ = RanksTruth(correlation).draw_truth(np.random.default_rng(2), n, 3)
    expected = 6 / np.pi * np.arcsin(correlation / 2)
    error = 4 * (1 - expected**2) / np.sqrt(n) + 1e-9
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert abs(np.corrcoef(strengths[a], strengths[b])[0, 1] - expected) <= error


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_normal_strengths(correlation):
    n = 40_000
    truth = NormalTruth(sd=2.0, correlation=correlation)
    strengths, _, length = truth.draw_truth(np.random.default_rng(3), n, 3)
    assert np.abs(strengths.mean(axis=1)).max() < 1e-12
    assert np.abs(strengths.std(axis=1) / 2 - 1).max() < 4 / np.sqrt(2 * n)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        observed = np.corrcoef(strengths[a], strengths[b])[0, 1]
        assert abs(observed - correlation) < 4 * (1 - correlation**2) / np.sqrt(n)
    assert kstest(strengths[0] / 2, "norm").pvalue > 1e-3
    assert kstest(length, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(length, strengths[0])[0, 1]) < 4 / np.sqrt(n)


def test_normal_weights():
    weights = NormalTruth(sd_w=0.5).draw_truth(np.random.default_rng(4), 2, 40_000)[1]
    assert kstest(weights / 0.5, "norm").pvalue > 1e-3


def test_no_spread_is_a_tie_of_all():
    strengths, weights, _ = NormalTruth(sd=0, sd_w=0).draw_truth(np.random.default_rng(0), 4, 2)
    assert not strengths.any()
    assert not weights.any()


def test_given_truth_is_used_as_it_is():
    strengths = [[0.0, 1.0, 5.0], [2.0, 0.0, 1.0]]
    for given in (GivenTruth(strengths), {"kind": "given", "strengths": strengths}, np.array(strengths)):
        truth = simulate_counts(["random"], truth=given).truth
        assert truth.strengths.tolist() == strengths
        assert truth.weights.tolist() == [0, 0]
        assert truth.items == ("item-1", "item-2", "item-3")
        assert truth.criteria == ("criterion-1", "criterion-2")
    one = simulate_counts(["random"], truth=GivenTruth([3.0, 1.0], length=[0, 4], weights=[7.0])).truth
    assert one.strengths.tolist() == [[3, 1]]
    assert one.length.tolist() == [0, 4]
    assert one.weights.tolist() == [7]


def test_the_caller_keeps_its_array():
    strengths = np.array([[0.0, 1.0]])
    truth = simulate_counts(["random"], truth=strengths).truth
    truth.strengths[0, 0] = 9
    assert strengths[0, 0] == 0


def test_overall_scores():
    """Softmax (MAPLE eq. 6), proportional and uniform weights, against sums written out."""
    truth = Truth(("a", "b"), ("x", "y", "z"), np.array([[1.0, 0], [0, 1], [3, 3]]), np.array([1.0, 2, 3]), np.zeros(2))
    e = np.exp([1.0, 2, 3]) / np.exp([1.0, 2, 3]).sum()
    np.testing.assert_allclose(truth.overall_scores(), [e[0] + 3 * e[2], e[1] + 3 * e[2]])
    np.testing.assert_allclose(truth.overall_scores("proportional"), [1 / 6 + 9 / 6, 2 / 6 + 9 / 6])
    np.testing.assert_allclose(truth.overall_scores("uniform"), [4 / 3, 4 / 3])
    with pytest.raises(InputError, match="unknown weighting 'sum'"):
        truth.overall_scores("sum")
    bad = Truth(("a", "b"), ("x",), np.ones((1, 2)), np.zeros(1), np.zeros(2))
    with pytest.raises(InputError, match="proportional weighting needs weights above 0"):
        bad.overall_scores("proportional")
    # The criterion of largest weight alone, wherever it stands; weights far apart come to the same.
    steep = Truth(
        ("a", "b"), ("x", "y", "z"), np.array([[5.0, 1], [0, 2], [4, 3]]), np.array([-1.0, 2, 1]), np.zeros(2)
    )
    np.testing.assert_array_equal(steep.overall_scores("first"), [0, 2])
    far = Truth(steep.items, steep.criteria, steep.strengths, 1000 * steep.weights, steep.length)
    np.testing.assert_allclose(far.overall_scores(), steep.overall_scores("first"), atol=1e-12)
    # Large weights do not overflow.
    large = Truth(("a", "b"), ("x", "y"), np.eye(2), np.array([2000.0, 0]), np.zeros(2))
    np.testing.assert_allclose(large.overall_scores(), [1, 0])


def test_truth_does_not_depend_on_panel_or_design():
    one = simulate_votes(["random"], items=9, criteria=3, seed=5).truth
    other = simulate_votes({"x": "always-first"}, items=9, criteria=3, seed=5, design={"kind": "referenced"}).truth
    np.testing.assert_array_equal(one.strengths, other.strengths)
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.length, other.length)


def test_from_spec_passes_settings_through():
    setting = NormalTruth(3.0)
    assert truth_from_spec(setting) is setting
