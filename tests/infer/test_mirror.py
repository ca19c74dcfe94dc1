"""The mirror: folding, and the mass of the other orientation against brute-force integration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from voirdire import Fit, fit
from voirdire.infer import mirror
from voirdire.kinds.votes.density import VotesDensity
from voirdire.model import load_model

SD, A, B, REVERSED = 3.0, 2.0, 1.0, 0.1  # of strengths, and the prior of every coin
PRIORS = {"strength": {"sd": SD}, "reliability": {"a": A, "b": B, "reversed": REVERSED}}
BETA_ALONE = {"strength": {"sd": SD}, "reliability": {"a": A, "b": B, "reversed": 0.0}}


def s(t: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-t))


# --- brute force: the posterior of two items and one or two judges, integrated on a grid -----------------------


def nodes(low: float, high: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    x, weight = np.polynomial.legendre.leggauss(count)
    return 0.5 * (high - low) * x + 0.5 * (high + low), 0.5 * (high - low) * weight


def mirrored_mass(likelihood: Callable[..., Any], coins: int) -> float:
    """Mass where prior(mirror(x)) > prior(x): one or two coins of one prior, so where the log-odds sum below 0.

    (The log ratio of the prior at x and at -x is an odd increasing function of a coin's log-odds x.)

    d = theta_x - theta_y has variance 2 SD^2. Two coins are integrated over the sum and the difference of their
    log-odds, so that the boundary lies between two grids and the integrand is smooth on both.
    """
    d, weight_d = nodes(-10 * SD, 10 * SD, 240)
    weight_d = weight_d * stats.norm.pdf(d, 0.0, np.sqrt(2.0) * SD)
    halves = []
    for low, high in ((-30.0, 0.0), (0.0, 30.0)):
        u, weight_u = nodes(low, high, 80)
        if coins == 1:
            logits, weight = [u[:, None]], weight_u[:, None] * weight_d
        else:
            v, weight_v = nodes(-30.0, 30.0, 160)
            logits = [(0.5 * (u[:, None] + sign * v))[..., None] for sign in (1, -1)]
            weight = weight_u[:, None, None] * weight_v[:, None] * weight_d
        density = likelihood(d, *logits)
        for logit in logits:
            # the mixture of Beta(A, B) and Beta(B, A) as a density of the log-odds
            right, wrong = s(logit), s(-logit)
            density = density * ((1 - REVERSED) * right**A * wrong**B + REVERSED * right**B * wrong**A)
        halves.append(float((density * weight).sum()))
    return halves[0] / sum(halves)


def one(d: Any, coin: Any, x_wins: int, y_wins: int) -> Any:
    p = s(coin) * s(d) + s(-coin) * s(-d)
    return p**x_wins * (1 - p) ** y_wins


def votes(*groups: tuple[str, str, str, str, int]) -> pd.DataFrame:
    rows = [group[:4] for group in groups for _ in range(group[4])]
    return pd.DataFrame(rows, columns=["judge", "first", "second", "winner"])


def two_judges(d: Any, ann: Any, bob: Any) -> Any:
    return one(d, ann, 6, 0) * one(d, bob, 1, 2)


def two_positions(d: Any, e1: Any, e2: Any) -> Any:
    x_first = s(e1) * s(d) + s(-e2) * s(-d)  # P(says first) where x is shown first
    y_first = s(e1) * s(-d) + s(-e2) * s(d)
    return x_first**4 * (1 - x_first) * y_first**2 * (1 - y_first) ** 3


PANELS: dict[str, tuple[str, pd.DataFrame, Callable[..., Any], int]] = {
    "one judge, one coin": (
        "crowd-bt",
        votes(("ann", "x", "y", "x", 3), ("ann", "x", "y", "y", 1)),
        lambda d, ann: one(d, ann, 3, 1),
        1,
    ),
    "two judges, one coin each": (
        "crowd-bt",
        votes(("ann", "x", "y", "x", 6), ("bob", "x", "y", "y", 2), ("bob", "y", "x", "x", 1)),
        two_judges,
        2,
    ),
    "one judge, two coins": (
        "crowd-bt-position",
        votes(
            ("ann", "x", "y", "first", 4),
            ("ann", "x", "y", "second", 1),
            ("ann", "y", "x", "second", 3),
            ("ann", "y", "x", "first", 2),
        ),
        two_positions,
        2,
    ),
}


def check_value(result: Fit) -> float:
    return float(result.checks().set_index("check").loc["orientation", "value"])


@pytest.mark.long
@pytest.mark.parametrize("panel", ["two judges, one coin each", "one judge, two coins"])
@pytest.mark.slow
def test_mass_by_nuts_is_the_integral(panel: str) -> None:
    import arviz as az

    model, table, likelihood, coins = PANELS[panel]
    result = fit(table, model=model, method="nuts", seed=1, draws=2000, priors=PRIORS)
    _, ratio, turned = mirror.fold_draws(result.problem.density, result.posterior.draws, result.problem.data)
    assert turned.mean() == pytest.approx(check_value(result), abs=1 / turned.size)  # it keeps both orientations
    share = ratio / (1 + ratio)
    error = float(share.std() / np.sqrt(az.ess(share)))
    assert check_value(result) == pytest.approx(share.mean(), rel=1e-12)
    assert error < 0.004
    assert check_value(result) == pytest.approx(mirrored_mass(likelihood, coins), abs=4 * error)


@pytest.mark.slow
@pytest.mark.parametrize("panel", PANELS)
def test_mass_by_laplace_is_rough(panel: str) -> None:
    """On tables as small as these, whose true masses are 0.23 to 0.32, it is off by 0.01 to 0.03 (measured)."""
    model, table, likelihood, coins = PANELS[panel]
    value = check_value(fit(table, model=model, priors=PRIORS))
    assert value == pytest.approx(mirrored_mass(likelihood, coins), abs=0.035)


def mass_beside_people(ann: tuple[int, int], people: tuple[int, int]) -> float:
    """Mass of the panel's less likely orientation, where people answered, too: people's coin is integrated as well."""
    d, weight_d = nodes(-10 * SD, 10 * SD, 240)
    weight_d = weight_d * stats.norm.pdf(d, 0.0, np.sqrt(2.0) * SD)
    coin, weight_coin = nodes(0.0, 1.0, 100)
    by_people = stats.beta.pdf(coin, 19, 1) * weight_coin @ one(d, np.log(coin / (1 - coin))[:, None], *people)
    halves = []
    for low, high in ((0.0, 0.5), (0.5, 1.0)):
        eta, weight = nodes(low, high, 100)
        prior = (1 - REVERSED) * stats.beta.pdf(eta, A, B) + REVERSED * stats.beta.pdf(eta, B, A)
        by_judge = (prior * weight) @ one(d, np.log(eta / (1 - eta))[:, None], *ann)
        halves.append(float((by_judge * by_people * weight_d).sum()))
    return min(halves) / sum(halves)


@pytest.mark.parametrize("against", [1, 2, 3])
def test_where_people_contradict_the_panel_the_mass_is_of_one_orientation_of_the_panel(against: int) -> None:
    """People prefer the one orientation in some draws and the other in others: the lesser of each adds up to little."""
    table = votes(("ann", "x", "y", "x", 5))
    people = pd.DataFrame({"person": [f"p{k}" for k in range(against)], "first": "x", "second": "y", "winner": "y"})
    result = fit(table, model="crowd-bt", anchors=people, anchor_mode="joint", priors=PRIORS)
    assert check_value(result) == pytest.approx(mass_beside_people((5, 0), (0, against)), abs=0.04)
    assert result.posterior.values is not None
    wrong = float((result.posterior.values["reliability"] < 0).mean())
    assert check_value(result) == pytest.approx(min(wrong, 1 - wrong), abs=0.03)


# --- estimates on a posterior known in closed form ---------------------------------------------------
# One judge, no votes: the posterior is the prior, eta ~ Beta(2, 1) has density 2 eta, and P(eta < 1/2) = 1/4.

MIDPOINTS = (np.arange(100_000) + 0.5) / 100_000


def ratios(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    density = VotesDensity(load_model("crowd-bt").with_priors(BETA_ALONE), judges=1, criteria=1, items=2, ties=False)
    draws = np.stack([np.zeros_like(eta), np.log(eta) - np.log1p(-eta)], axis=1)
    folded, ratio, turned = mirror.fold_draws(density, draws, {})
    # beyond the midpoint one ratio is another's inverse, up to rounding
    np.testing.assert_allclose(s(folded[:, 1]), np.maximum(eta, 1 - eta), rtol=1e-9)
    return ratio, turned


def test_mass_from_draws_of_the_symmetric_posterior() -> None:
    ratio, turned = ratios(MIDPOINTS)  # density 2 eta + 2 (1 - eta): uniform
    assert turned.mean() == pytest.approx(0.5)
    assert mirror.mirror_mass(ratio, mirror.orbit_weights(ratio, turned, True)) == pytest.approx(0.25, abs=1e-6)


def test_mass_from_draws_of_one_orientation() -> None:
    upper = np.sqrt(0.25 + 0.75 * MIDPOINTS)  # quantiles of Beta(2, 1) above one half
    ratio, turned = ratios(upper)
    assert not turned.any()
    assert mirror.mirror_mass(ratio, mirror.orbit_weights(ratio, turned, False)) == pytest.approx(0.25, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("in_upper", [0, 1, 20, 40])
def test_mass_from_chains_stuck_wherever_they_started(in_upper: int) -> None:
    """How many of 40 chains sit in the likely half must not matter."""
    upper, lower = np.sqrt(0.25 + 0.75 * MIDPOINTS), np.sqrt(0.25 * MIDPOINTS)
    ratio, turned = ratios(np.concatenate([upper] * in_upper + [lower] * (40 - in_upper)))
    assert turned.mean() == pytest.approx(1 - in_upper / 40)
    # below one half 1 / ratio is heavy-tailed, so that the grid converges slowly there
    assert mirror.mirror_mass(ratio, mirror.orbit_weights(ratio, turned, False)) == pytest.approx(
        0.25, abs=2e-3 if in_upper == 0 else 1e-6
    )


# --- folding ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["crowd-bt", "crowd-bt-position", "maple-position", "maple-criterion-reliability"])
def test_folding_keeps_the_likelier_half_by_the_prior(name: str) -> None:
    model = load_model(name)
    density = VotesDensity(model, judges=3, criteria=1 if "crowd" in name else 2, items=4, ties=True)
    draws = np.random.default_rng(0).normal(size=(2, 50, density.size))
    folded, ratio, turned = mirror.fold_draws(density, draws, {})
    here, there = density.log_prior(draws, np), density.log_prior(density.mirror_values(draws, np), np)
    np.testing.assert_array_equal(turned, there > here)
    assert 0.2 < turned.mean() < 0.8
    np.testing.assert_allclose(np.log(ratio), -np.abs(here - there), rtol=1e-9)
    kept = np.where(turned[..., None], density.mirror_values(draws, np), draws)
    np.testing.assert_array_equal(folded, kept)
    assert not mirror.fold_draws(density, folded, {})[2].any()
    # the deviations of single criteria have a symmetric prior
    values = density.values(folded, np)
    coins = [s(values[key]) for key in ("reliability", "coin_first", "coin_second") if key in values]
    numbers = model.reliability.numbers
    a, b, part = numbers["a"], numbers["b"], numbers["reversed"]
    favour = 0.0
    for p in coins:
        straight, turned_ = stats.beta.pdf(p, a, b), stats.beta.pdf(p, b, a)
        favour += np.log(((1 - part) * straight + part * turned_) / ((1 - part) * turned_ + part * straight)).sum(-1)
    assert (favour >= 0).all()
    np.testing.assert_allclose(np.log(ratio), -favour, atol=1e-9)
    both = np.logaddexp(here, there)
    np.testing.assert_allclose(density.symmetric_log_prior(draws, {}, np), both, rtol=1e-12)


def test_without_a_mirror_the_prior_stays() -> None:
    density = VotesDensity(load_model("bt-sigma-position"), judges=3, criteria=1, items=4, ties=True)
    x = np.random.default_rng(0).normal(size=density.size)
    assert density.symmetric_log_prior(x, {}, np) == density.log_prior(x, np)
