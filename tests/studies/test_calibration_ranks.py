"""Rank statistics: exact p-values against simulation, and what they must detect."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire_studies import sbc


@pytest.mark.slow
def test_ecdf_p_values_are_exact() -> None:
    """P(p <= a) = a at attained values: 4,000 sets of 60 uniform ranks, within 3.5 binomial errors at five levels."""
    rng = np.random.default_rng(1)
    p = np.array([sbc.ecdf_p_value(rank, 19) for rank in rng.integers(0, 20, (4000, 60))])
    for level in (0.02, 0.05, 0.1, 0.3, 0.6):
        attained = p[p <= level].max()  # the statistic is discrete: the p-value is exact where it is attained
        share = (p <= level).mean()
        assert abs(share - attained) < 3.5 * np.sqrt(attained * (1 - attained) / 4000)


def test_chance_inside_one_point_is_binomial() -> None:
    """One draw: a single z = 1/2, whose band is the two-sided binomial test."""
    rank = np.array([0] * 17 + [1] * 3)
    assert sbc.ecdf_p_value(rank, 1) == pytest.approx(stats.binomtest(17, 20).pvalue, rel=1e-9)


def test_ecdf_sees_a_shift_and_a_squeeze() -> None:
    """500 tables; draws too wide by 20%, or off by 0.3 sd: both are seen well below the corrected level."""
    rng = np.random.default_rng(2)
    truth, draws = rng.standard_normal((500, 1)), rng.standard_normal((500, 99))
    assert sbc.ecdf_p_value((draws < truth).sum(axis=1), 99) > 0.01
    assert sbc.ecdf_p_value((draws + 0.3 < truth).sum(axis=1), 99) < 1e-5
    assert sbc.ecdf_p_value((1.4 * draws < truth).sum(axis=1), 99) < 1e-4
    assert sbc.chi_square((draws + 0.3 < truth).sum(axis=1), 99) < 1e-4


def test_intervals_cover_exactly_their_share_of_ranks() -> None:
    for draws in (99, 599, 999):
        for prob in (0.5, 0.8, 0.9):
            share = sbc.is_covered(np.arange(draws + 1), draws, prob).mean()
            assert share == pytest.approx(prob, abs=1e-12)


def test_thinning_keeps_evenly_spaced_draws() -> None:
    assert sbc.thin_draws(np.arange(599), 99).tolist() == list(range(5, 594, 6))
