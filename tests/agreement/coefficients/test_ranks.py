"""Kendall's W, tau-b and Spearman's rho of rankings, against textbooks and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, kendalltau, spearmanr

from voirdire.agreement.coefficients.ranks import kendall_w, rank_correlation, ratings_from_ranks

ONE = np.ones((1, 1))


def value(statistic: object, lists: int = 1) -> float:
    fixed = statistic.fixed() if hasattr(statistic, "fixed") else statistic  # type: ignore[attr-defined]
    return float(fixed.values(np.ones((1, lists)))[0])


def test_w_is_that_of_siegel() -> None:
    """Siegel (1956), Nonparametric Statistics, p. 230: three executives rank six applicants.

    Sums of ranks 8, 14, 11, 11, 11, 8 give s = 25.5 and W = .16.
    """
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]], float).T
    assert value(kendall_w(ratings_from_ranks([ranks]))) == pytest.approx(25.5 / (9 * (6**3 - 6) / 12), abs=1e-12)
    assert value(kendall_w(ratings_from_ranks([ranks]))) == pytest.approx(0.162, abs=5e-4)


def test_w_with_ties_is_that_of_friedman_s_test() -> None:
    """chi^2 = m (n - 1) W, with the same correction for ties (Siegel's tied example has s = 477, W = .828)."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        ranks = rng.integers(1, 5, (7, 5)).astype(float)
        found = friedmanchisquare(*ranks).statistic / (5 * 6)
        assert value(kendall_w(ratings_from_ranks([ranks]))) == pytest.approx(found, abs=1e-12)
    x = [1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10]
    y = [2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5]
    z = [2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10]
    assert value(kendall_w(ratings_from_ranks([np.array([x, y, z]).T]))) == pytest.approx(0.828, abs=5e-4)


@pytest.mark.parametrize(("name", "theirs"), [("kendall_tau_b", kendalltau), ("spearman", spearmanr)])
def test_correlations_are_means_over_lists_of_what_both_ranked(name: str, theirs: object) -> None:
    rng = np.random.default_rng(1)
    lists, expected = [], []
    for size in (3, 6, 9):
        ranks = rng.integers(1, size + 1, (size, 2)).astype(float)
        ranks[rng.random((size, 2)) < 0.1] = np.nan
        lists.append(ranks)
        both = ~np.isnan(ranks).any(axis=1)
        expected.append(theirs(*ranks[both].T).statistic)  # type: ignore[operator]
    lists.append(np.array([[1.0, np.nan], [np.nan, 1.0]]))  # nothing in common: it does not count
    ratings = ratings_from_ranks(lists)
    assert value(rank_correlation(ratings, name), 4) == pytest.approx(np.mean(expected), abs=1e-12)


def test_of_a_panel_it_is_the_mean_over_its_pairs() -> None:
    ranks = np.random.default_rng(2).permuted(np.tile(np.arange(6.0)[:, None], 4), axis=0)
    ratings = ratings_from_ranks([ranks])
    pairs = [spearmanr(ranks[:, j], ranks[:, k]).statistic for j in range(4) for k in range(j)]
    assert value(rank_correlation(ratings, "spearman")) == pytest.approx(np.mean(pairs), abs=1e-12)
    # without ties W says the same (Kendall 1948, Rank Correlation Methods)
    assert value(kendall_w(ratings)) == pytest.approx((3 * np.mean(pairs) + 1) / 4, abs=1e-12)


def test_copies_of_a_judge_do_not_agree_with_each_other() -> None:
    ranks = np.array([[1, 1, 3], [2, 3, 2], [3, 2, 1]], float)
    whole = rank_correlation(ratings_from_ranks([ranks]), "spearman")
    first = rank_correlation(ratings_from_ranks([ranks[:, :2]]), "spearman")
    drawn = np.array([[2.0, 1.0, 0.0]])
    assert whole.two_way(ONE, drawn)[0] == pytest.approx(value(first))  # type: ignore[union-attr]
    assert np.isnan(kendall_w(ratings_from_ranks([ranks])).two_way(ONE, np.array([[3.0, 0.0, 0.0]]))[0])


def test_lists_without_two_items_that_differ_do_not_count() -> None:
    level = np.array([[1.0, 1.0], [1.0, 2.0]])
    assert np.isnan(value(rank_correlation(ratings_from_ranks([level]), "kendall_tau_b")))
    assert np.isnan(value(kendall_w(ratings_from_ranks([[[1.0, 1.0]], [[1.0, 2.0]]])), 2))
