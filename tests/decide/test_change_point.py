"""A change of a mean: bets that gain nothing on average, posteriors in closed form, intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from voirdire.decide.e_values import find_change, log_change_evidence
from voirdire.typing import Floats


def change(x: Floats, *, shares: bool, alpha: float = 0.01):  # type: ignore[no-untyped-def]
    return find_change(x, log_change_evidence(x), alpha, 0.9, shares=shares)


@pytest.mark.slow
def test_bets_gain_nothing_on_average_where_nothing_changes() -> None:
    rng = np.random.default_rng(0)
    wealth = np.exp([log_change_evidence(rng.choice([0.0, 0.5, 1.0], 60, p=[0.1, 0.2, 0.7]))[-1] for _ in range(3000)])
    assert wealth.mean() < 1 + 3 * wealth.std() / np.sqrt(len(wealth))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_false_alarms_at_any_look_are_few(rate: float) -> None:
    rng = np.random.default_rng(int(100 * rate))
    found = [log_change_evidence((rng.random(400) < rate).astype(float)).max() >= np.log(20) for _ in range(300)]
    assert np.mean(found) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.slow
@pytest.mark.long
def test_false_alarms_of_a_long_life_are_few() -> None:
    rng = np.random.default_rng(7)
    rates = np.tile([0.02, 0.5, 0.9], 100)
    found = [log_change_evidence((rng.random(5000) < rate).astype(float)).max() >= np.log(20) for rate in rates]
    assert np.mean(found) <= 0.05


def test_the_date_of_shares_is_that_of_integrated_likelihoods() -> None:
    x = np.r_[np.ones(40), np.tile([1.0, 0.0, 0.0], 20)]
    found = change(x, shares=True)
    assert found is not None

    def marginal(part: Floats) -> float:
        ones, others = part.sum(), len(part) - part.sum()
        return quad(lambda p: p ** (ones - 0.5) * (1 - p) ** (others - 0.5), 0, 1)[0]

    seen = x[: 1 + int(np.argmax(log_change_evidence(x)))]
    weight = np.array([marginal(seen[:at]) * marginal(seen[at:]) for at in range(1, len(seen))])
    chance = np.cumsum(weight / weight.sum())
    assert found.since == 1 + int(np.argmax(weight))
    tail = 0.1 / 3 / 2
    assert found.since_low == 1 + int(np.searchsorted(chance, tail))
    assert found.since_high == 1 + int(np.searchsorted(chance, 1 - tail))


def test_the_date_of_numbers_is_that_of_multivariate_t() -> None:
    rng = np.random.default_rng(3)
    x = np.r_[rng.normal(0, 0.5, 40), rng.normal(1, 1.0, 40)]
    found = change(x, shares=False)
    assert found is not None
    seen = x[: 1 + int(np.argmax(log_change_evidence(x)))]
    centre, spread = seen.mean(), seen.var()

    def marginal(part: Floats) -> float:
        size = len(part)
        shape = spread * (np.eye(size) + np.ones((size, size)))
        return float(stats.multivariate_t.logpdf(part, np.full(size, centre), shape, df=1))

    log = np.array([marginal(seen[:at]) + marginal(seen[at:]) for at in range(1, len(seen))])
    chance = np.cumsum(np.exp(log - log.max()) / np.exp(log - log.max()).sum())
    assert found.since == 1 + int(np.argmax(log))
    assert found.since_low == 1 + int(np.searchsorted(chance, 0.1 / 6))


def test_intervals_hold_at_the_look_that_finds_the_change() -> None:
    rng, held = np.random.default_rng(1), []
    for _ in range(100):
        x = np.r_[rng.random(150) < 0.85, rng.random(200) < 0.45].astype(float)
        whole = change(x, shares=True, alpha=0.004)
        if whole is not None:
            found = change(x[: whole.found_after], shares=True, alpha=0.004)
            assert found is not None
            held.append([found.since_low <= 150 <= found.since_high, found.low <= -0.4 <= found.high])
    assert len(held) >= 95
    assert (np.mean(held, axis=0) >= 0.9 - 2 * np.sqrt(0.9 * 0.1 / 100)).all()


def test_a_change_that_goes_away_stays_found_and_is_dated() -> None:
    rng = np.random.default_rng(2)
    x = np.r_[rng.random(200) < 0.9, rng.random(80) < 0.3, rng.random(400) < 0.9].astype(float)
    found, early = change(x, shares=True), change(x[:280], shares=True)
    assert found == early
    assert found.since_low <= 200 <= found.since_high
