"""Stacking: against refits without an anchor and a sum over its priors, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp

from voirdire.kinds.votes.stacking import Stacking, covariance_factors

RNG = np.random.default_rng(3)
X = RNG.choice([-1.0, 0.0, 1.0], (30, 6))
ROWS = np.arange(12)
Y = np.where(X[:12, 0] + 0.3 * RNG.normal(size=12) > 0, 1.0, -1.0)
COIN = {"a": 4.0, "b": 1.5, "reversed": 0.1}
EVEN = COIN | {"reversed": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("features", "error"), [(RNG.uniform(-1.0, 1.0, (30, 2)), 0.01), (X[:, :2], 0.02)], ids=["apart", "repeated"]
)
def test_two_judges_are_weighed_as_by_summing_over_the_priors(features: np.ndarray, error: float) -> None:
    """All of it by importance sampling from the priors, whose 100,000 draws know a probability to about 0.001.

    Among them are priors with s of 10, where expectation propagation is too even by about a hundredth, and by two where
    some comparisons have the same answers.
    """
    rows, y = ROWS[:6], Y[:6]
    model, rng = Stacking(features, rows, y, COIN), np.random.default_rng(0)
    log, p = [], []
    for prior in model.priors():
        beta = prior.start + rng.normal(size=(100_000, 3)) @ prior.factor.T
        seen = log_expit((beta @ features[rows].T) * y).sum(axis=1)
        log.append(logsumexp(seen) - np.log(len(beta)) + prior.log_weight)
        p.append(np.exp(seen - logsumexp(seen)) @ expit(beta @ features.T))
    weight = np.exp(np.array(log) - logsumexp(log))
    np.testing.assert_allclose(model.stacked_probabilities()[0], weight @ np.array(p), atol=error)


def test_priors_weigh_one_and_have_the_scale_that_is_said() -> None:
    priors = Stacking(X, ROWS[:0], Y[:0], COIN, np.array([0, 0, 0, 1, 1, 2])).priors()
    assert logsumexp([prior.log_weight for prior in priors]) == pytest.approx(0.0, abs=1e-12)
    for name, root in covariance_factors(X, np.array([0, 0, 0, 1, 1, 2])).items():
        assert np.mean(((X @ root) ** 2).sum(axis=1)) == pytest.approx(1.0), name
    alone = [prior for prior in priors if prior.start[0] and not prior.start[1:].any()]
    shift = [float(np.sqrt(np.mean((X @ prior.start) ** 2))) for prior in alone]
    np.testing.assert_allclose(shift, 1.2197, atol=1e-4)  # digamma(4) - digamma(1.5)
    assert sum(np.exp(p.log_weight) for p in alone if p.start[0] < 0) == pytest.approx(0.1 * 0.5 / 7)


def test_left_out_predictions_are_close_to_refits() -> None:
    """Cavities at s of 10 are not quite what a refit gives: up to 0.03 here, where Laplace's were off by up to 0.06."""
    found = Stacking(X, ROWS, Y, COIN).stacked_probabilities()
    refits = [Stacking(X, np.delete(ROWS, i), np.delete(Y, i), COIN).stacked_probabilities()[0][i] for i in ROWS]
    np.testing.assert_allclose(found[1], refits, atol=0.035)


def test_naming_the_items_the_other_way_round_changes_nothing() -> None:
    turn = np.where(RNG.random(30) < 0.5, -1.0, 1.0)
    found = Stacking(X, ROWS, Y, COIN).stacked_probabilities()
    turned = Stacking(X * turn[:, None], ROWS, Y * turn[ROWS], COIN).stacked_probabilities()
    np.testing.assert_allclose(np.where(turn > 0, found[0], 1 - found[0]), turned[0], atol=1e-6)


def test_reversed_judges_are_used_reversed_where_they_are_as_likely() -> None:
    found = Stacking(X, ROWS, Y, EVEN).stacked_probabilities()
    np.testing.assert_allclose(Stacking(-X, ROWS, Y, EVEN).stacked_probabilities()[0], found[0], atol=1e-6)


def test_copies_count_once_in_what_is_shared() -> None:
    for name in ("ridge", "moment power 0.5"):
        once, twice = (covariance_factors(x, None)[name] for x in (X, np.repeat(X, 2, axis=1)))
        loads, double = X @ once, np.repeat(X, 2, axis=1) @ twice
        np.testing.assert_allclose(double @ double.T, loads @ loads.T, atol=1e-12)


def test_judges_that_never_answered_leave_even_odds() -> None:
    silent = Stacking(np.zeros((5, 3)), np.array([0]), np.array([1.0]), COIN)
    np.testing.assert_allclose(silent.stacked_probabilities()[0], 0.5)


def test_a_judge_far_ahead_is_found() -> None:
    """Right on 90% beside four that toss coins: it is nearly followed."""
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    x = truth[:, None] * np.where(rng.random((400, 5)) < [0.9, 0.5, 0.5, 0.5, 0.5], 1.0, -1.0)
    found = Stacking(x, np.arange(60), truth[:60], COIN).stacked_probabilities()
    assert np.mean((found[0] > 0.5) == (x[:, 0] > 0)) > 0.97


def test_draws_have_the_probabilities() -> None:
    model = Stacking(X, ROWS, Y, COIN)
    drawn = expit(model.draws(20_000, np.random.default_rng(0))).mean(axis=0)
    np.testing.assert_allclose(drawn, model.stacked_probabilities()[0], atol=0.015)
