"""Means over all units from chosen ones: closed forms, coverage under unequal chances, and promised numbers kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voirdire.agreement.replace.estimate import Mean, additional_answers_needed, estimate_mean, verdict_probability


def test_with_equal_chances_and_no_predictions_it_is_the_mean_and_its_t_interval() -> None:
    y = np.array([0.0, 1.0, 0.5, 0.0, 1.0, 1.0])
    found = estimate_mean(y, None, None, 0.9, 1.0)
    low, high = stats.t.interval(0.9, 5, y.mean(), stats.sem(y))
    assert (found.value, found.low, found.high) == pytest.approx((y.mean(), low, high))
    # a superpopulation's mean is as unsure from a part of a table as without the rest of it
    found = estimate_mean(np.r_[y, np.full(50, np.nan)], None, None, 0.9, 1.0)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert np.isnan(estimate_mean(np.array([1.0, np.nan]), None, None, 0.9, 1.0).error)


def test_answers_that_are_all_alike_are_not_certain() -> None:
    found = estimate_mean(np.r_[np.zeros(12), np.full(50, np.nan)], None, None, 0.95, 2.0)
    assert found.value == 0
    assert 0.05 < found.high < 0.6


@pytest.mark.parametrize("helpful", [False, True])
def test_intervals_cover_where_chances_are_unequal(helpful: bool) -> None:
    """400 replicates: 95% +- 3 Monte Carlo errors of 1.1 percentage points; unweighted means miss."""
    rng = np.random.default_rng(5)
    covered, naive, widths = 0, 0, []
    for _ in range(400):
        hard = rng.random(1500)
        y = np.where(rng.random(1500) < hard, -1.0, 1.0) * (rng.random(1500) < 0.6)
        f = np.where(rng.random(1500) < 0.85, y, rng.choice([-1.0, 0.0, 1.0], 1500)) if helpful else None
        chance = 0.02 + 0.2 * hard  # the hard ones more often, and they are the worse ones
        seen = np.where(rng.random(1500) < chance, y, np.nan)
        found = estimate_mean(seen, f, chance, 0.95, 2.0)
        covered += found.low <= 0 <= found.high
        other = estimate_mean(seen, f, None, 0.95, 2.0)
        naive += other.low <= 0 <= other.high
        widths.append(found.high - found.low)
    assert 0.917 <= covered / 400 <= 0.983
    if not helpful:
        assert naive / 400 < 0.7
    assert np.mean(widths) < (0.22 if helpful else 0.35)


@pytest.mark.parametrize("answered", [1.0, 0.5])
def test_intervals_cover_where_units_of_a_context_are_alike(answered: float) -> None:
    """400 replicates: 90% +- 3 Monte Carlo errors of 1.5 percentage points; units taken as independent miss."""
    rng = np.random.default_rng(6)
    contexts = np.repeat(np.arange(40), 8)
    covered, naive = 0, 0
    for _ in range(400):
        y = 0.7 * rng.normal(size=40)[contexts] + rng.normal(size=320)
        y[rng.random(320) >= answered] = np.nan
        found = estimate_mean(y, None, None, 0.9, 2.0, contexts)
        covered += found.low <= 0 <= found.high
        other = estimate_mean(y, None, None, 0.9, 2.0)
        naive += other.low <= 0 <= other.high
    assert 0.855 <= covered / 400 <= 0.945
    assert naive / 400 < 0.8
    alone = estimate_mean(y, None, None, 0.9, 2.0, np.arange(320))  # contexts of one unit each say nothing more
    assert (alone.low, alone.high) == pytest.approx((other.low, other.high))


def test_how_many_more_answers() -> None:
    now = Mean(0.0, 0.06, -0.12, 0.12, 40, 5000, 0.0, 0.0, 0.144)
    more = additional_answers_needed(now, 0.05, 0.95)
    assert more is not None
    assert verdict_probability(now, 0.05, 0.95, 40 + more) >= 0.85 > verdict_probability(now, 0.05, 0.95, 39 + more)
    assert additional_answers_needed(now, 0.2, 0.95) == 0
    assert additional_answers_needed(Mean(-0.5, 0.06, -0.62, -0.38, 40, 5000, 0.0, 0.0, 0.144), 0.05, 0.95) == 0
    few = Mean(0.0, 0.06, -0.12, 0.12, 40, 100, 0.0, 0.00144, 0.144)
    assert additional_answers_needed(few, 0.05, 0.95) is None


@pytest.mark.slow
@pytest.mark.parametrize("truth", [-0.2, 0.0, 0.1])
def test_promised_numbers_lead_to_a_verdict(truth: float) -> None:
    """Wanted: in at least 85% of the runs whose first 60 answers leave it open, after as many more as were promised."""
    rng = np.random.default_rng(7)
    kept, wrong = [], 0
    for _ in range(150):
        y = rng.choice([-1.0, 0.0, 1.0], 20_000, p=[0.25 - truth / 2, 0.5, 0.25 + truth / 2])
        seen = np.full(20_000, np.nan)
        seen[:60] = y[:60]
        more = additional_answers_needed(estimate_mean(seen, None, None, 0.95, 2.0), 0.05, 0.95)
        if not more:
            continue
        seen[: 60 + more] = y[: 60 + more]
        then = estimate_mean(seen, None, None, 0.95, 2.0)
        kept.append(then.low > -0.05 or then.high < -0.05)
        wrong += (then.low > -0.05) != (truth > -0.05) and kept[-1]
    assert len(kept) > 50
    assert np.mean(kept) >= 0.85
    assert wrong <= 0.05 * len(kept)
