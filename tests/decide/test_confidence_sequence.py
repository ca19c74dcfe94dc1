"""Bounds of a mean that hold at every look: against a plain loop, by enumeration, and how often they are wrong."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from voirdire.decide.e_values import (
    HORIZON_WEIGHTS,
    HORIZONS,
    MAX_LOSS_SHARE,
    PRIOR_VARIANCE,
    log_mean_evidence,
    mean_bounds,
    mean_exceeds,
    values_until_refuted,
)

ALPHA, PLANNED = 0.05, 400.0


def by_loop(x: list[float], mean: float) -> list[float]:
    """The wealth after each value, one bet after the other."""
    money = list(HORIZON_WEIGHTS)
    total, squares, found = 0.5, PRIOR_VARIANCE, []
    for count, value in enumerate(x, start=1):
        deviation = math.sqrt(squares / count)
        for at, horizon in enumerate(HORIZONS):
            bet = min(math.sqrt(2 * math.log(1 / ALPHA) / (PLANNED * horizon)) / deviation, MAX_LOSS_SHARE / mean)
            money[at] *= 1 + bet * (value - mean)
        total += value
        squares += (value - total / (count + 1)) ** 2
        found.append(sum(money))
    return found


def test_the_wealth_is_that_of_one_bet_after_the_other() -> None:
    x = np.random.default_rng(0).random(50)
    assert np.exp(log_mean_evidence(x, 0.45, ALPHA, PLANNED)) == pytest.approx(by_loop(x.tolist(), 0.45))


def test_the_expected_wealth_is_exactly_one_where_the_mean_is_what_is_bet_against() -> None:
    """All sequences of eight values of three kinds, weighed by their probability; small plans make large bets."""
    values, chances = np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.5, 0.3])
    paths = np.array(list(itertools.product(range(3), repeat=8)))
    weight = chances[paths].prod(axis=1)
    for planned in (5.0, 400.0):
        wealth = np.exp(log_mean_evidence(values[paths], float(values @ chances), ALPHA, planned))
        assert weight @ wealth == pytest.approx(np.ones(8))


def test_bounds_are_where_the_wealth_crosses_and_intersected_only_narrow() -> None:
    x = np.random.default_rng(1).choice([0.0, 0.5, 1.0], 300, p=[0.2, 0.3, 0.5])
    for intersect in (False, True):
        low, high = mean_bounds(x, ALPHA, PLANNED, intersect=intersect)
        grid = np.linspace(0.001, 0.999, 999)
        refuted = [mean_exceeds(x, m, ALPHA, PLANNED, intersect=intersect) for m in grid]
        assert refuted == sorted(refuted, reverse=True)  # what is refuted lies below what is not
        assert low == pytest.approx(grid[sum(refuted)], abs=0.002)
        assert (1 - high, 1 - low) == pytest.approx(mean_bounds(1 - x, ALPHA, PLANNED, intersect=intersect))
    looks = np.array([mean_bounds(x[:n], ALPHA, PLANNED, intersect=True) for n in range(20, 301, 20)])
    assert (np.diff(looks[:, 0]) >= 0).all()
    assert (np.diff(looks[:, 1]) <= 0).all()


def test_the_number_of_values_until_it_is_decided_decides_it() -> None:
    x = np.random.default_rng(2).choice([0.0, 0.5, 1.0], 60, p=[0.25, 0.4, 0.35])
    needed = values_until_refuted(x, 0.5, ALPHA, PLANNED)
    assert needed is not None
    assert 60 < needed < 6000
    assert mean_exceeds(np.resize(x, needed), 0.5, ALPHA, PLANNED)
    assert not mean_exceeds(np.resize(x, needed - 1), 0.5, ALPHA, PLANNED)
    assert values_until_refuted(np.ones(60), 0.5, ALPHA, PLANNED) == 60
    assert values_until_refuted(np.ones(60), 0.5, ALPHA, PLANNED, intersect=True) < 60
    assert values_until_refuted(np.full(60, 0.5), 0.5, ALPHA, PLANNED) is None


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "mean"), [("two", 0.5), ("two", 0.05), ("two", 0.95), ("any", 0.3)])
def test_bounds_are_wrong_at_any_of_1000_looks_in_at_most_5_percent(kind: str, mean: float) -> None:
    """2,000 sequences, looked at after each value; Monte Carlo error of 5%: 0.5%."""
    rng = np.random.default_rng(3)
    shape = (2000, 1000)
    x = (rng.random(shape) < mean).astype(float) if kind == "two" else rng.beta(3 * mean, 3 * (1 - mean), shape)
    wrong = log_mean_evidence(x, mean, ALPHA, PLANNED).max(axis=1) >= -math.log(ALPHA)
    assert wrong.mean() <= 0.06
    assert (log_mean_evidence(1 - x, 1 - mean, ALPHA, PLANNED).max(axis=1) >= -math.log(ALPHA)).mean() <= 0.06
