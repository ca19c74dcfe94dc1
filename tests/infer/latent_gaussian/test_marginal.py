"""The Laplace-marginal likelihood beside closed forms, differences and quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from voirdire.infer.latent_gaussian.answers import Answers
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.marginal import Marginal, find_conditional_mode, refine_fixed_effects
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.spread_posterior import draw_posterior, maximise_spreads
from voirdire.model import COMMON

GROUPS, EACH = 40, 6


def field(answers: Any, groups: tuple[Group, ...] | None = None) -> LatentGaussianModel:
    """A mean shared by all, and what each of 40 groups adds to it."""
    groups = groups or (Group("mean", 1, 10.0), Group("own", GROUPS, "spread"))
    index = np.stack([np.zeros(GROUPS, dtype=int), 1 + np.arange(GROUPS)], axis=1)
    block = np.append(COMMON, np.arange(GROUPS))
    pattern = Pattern(block, index, np.ones((GROUPS, 2)), np.array([0, 0]))
    return LatentGaussianModel(
        groups,
        (Hyperparameter("spread", 1.0),),
        pattern,
        answers,
        lambda x: (x[:-1], x[-1:]),
        lambda latent, hyper: np.append(latent, hyper),
    )


class NormalAnswers:
    """Answers with unit variance, as :class:`.answers.Answers` of a few alternatives."""

    def __init__(self, y: np.ndarray) -> None:
        self.y = y

    def value_gradient(self, sums: np.ndarray) -> tuple[Any, np.ndarray]:
        gap = self.y - sums
        return (-0.5 * gap**2 - 0.5 * np.log(2 * np.pi)).sum(axis=(-2, -1)), gap

    def expected_information(self, sums: np.ndarray) -> np.ndarray:
        return np.ones((sums.shape[1], 1, 1))

    def gradient_change(self, sums: np.ndarray) -> Any:
        return lambda change: -change


def test_of_normal_answers_it_is_exact() -> None:
    y = np.random.default_rng(0).normal(0.3, 1.2, GROUPS)
    model = field(NormalAnswers(y))
    for spread in (0.1, 0.8, 3.0):
        found = find_conditional_mode(model, np.log([spread]), np.zeros(model.size))
        covariance = (1 + spread**2) * np.eye(GROUPS) + 100.0
        exact = stats.multivariate_normal.logpdf(y, np.zeros(GROUPS), covariance)
        assert found.log_marginal == pytest.approx(exact, abs=1e-6)


def binomial(wins: np.ndarray) -> Answers:
    def chances(sums: Any, xp: Any) -> Any:
        d = sums[..., 0, :]
        return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]

    return Answers(chances, [np.stack([wins, EACH - wins])])


def wins(spread: float, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.binomial(EACH, expit(0.5 + spread * rng.normal(size=GROUPS)))


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_the_mode_is_the_same_from_wherever_it_is_searched(spread: float) -> None:
    """Rounding is another on other machines; what is searched for must not be."""
    model, hyper = field(binomial(wins(1.0))), np.log([spread])
    one = find_conditional_mode(model, hyper, np.zeros(model.size))
    other = find_conditional_mode(model, hyper, 2.0 * np.random.default_rng(3).normal(size=model.size))
    assert np.abs((other.x - one.x) / np.sqrt(one.factor.marginal_variances())).max() < 1e-6


def test_draws_at_a_point_are_the_same_whatever_their_number() -> None:
    """Noise that other libraries make in the weights of points must not become that of other draws."""
    model = field(binomial(wins(1.0)))
    found = maximise_spreads(model, np.zeros(model.size), np.zeros(1))
    some, more = (draw_posterior(found, count, np.random.default_rng(0)) for count in (400, 420))
    assert len(np.intersect1d(some[0][:, 0], more[0][:, 0])) >= 399


def test_its_gradient_is_that_of_differences() -> None:
    model = field(binomial(wins(1.0)))
    marginal = Marginal(model, find_conditional_mode(model, np.zeros(1), np.zeros(model.size)))
    for log in (-1.0, 0.0, 1.0):
        slope = marginal(np.array([log]))[1][0]
        ahead, behind = (marginal(np.array([log + step]))[0] for step in (1e-2, -1e-2))
        assert slope == pytest.approx((ahead - behind) / 2e-2, rel=2e-3, abs=2e-3)


@pytest.mark.slow
def test_the_spread_is_near_that_of_quadrature_and_carries_its_uncertainty() -> None:
    won = wins(1.0)
    model = field(binomial(won))
    found = maximise_spreads(model, np.zeros(model.size), np.zeros(1))

    def exact(log: float) -> float:
        points, weights = np.polynomial.hermite_e.hermegauss(60)

        def of_mean(mean: float) -> float:
            p = expit(mean + np.exp(log) * points)
            each = np.log(stats.binom.pmf(won[:, None], EACH, p) @ (weights / weights.sum()))
            return float(each.sum() + stats.norm.logpdf(mean, 0, 10))

        grid = np.linspace(-1.0, 2.0, 121)
        values = np.array([of_mean(mean) for mean in grid])
        return float(
            values.max() + np.log(integrate.simpson(np.exp(values - values.max()), x=grid)) + log - np.exp(log)
        )

    logs = np.linspace(-1.2, 1.0, 45)
    density = np.array([exact(log) for log in logs])
    weight = np.exp(density - density.max())
    mean = (weight * logs).sum() / weight.sum()
    sd = np.sqrt((weight * (logs - mean) ** 2).sum() / weight.sum())
    assert abs(found.mode.hyper[0] - logs[density.argmax()]) < 0.25 * sd
    _, spreads = draw_posterior(found, 4000, np.random.default_rng(0))
    assert spreads.mean() == pytest.approx(mean, abs=0.3 * sd)
    assert spreads.std() == pytest.approx(sd, rel=0.35)


def test_what_stays_is_moved_to_the_mode_of_the_others_integrated_out() -> None:
    """The mean of binomial answers with overdispersion: the joint mode draws it to zero."""
    won = wins(2.0)
    groups = (Group("mean", 1, 10.0, kept=True), Group("own", GROUPS, "spread"))
    model = field(binomial(won), groups)
    joint = find_conditional_mode(model, np.log([2.0]), np.zeros(model.size))
    moved = refine_fixed_effects(model, joint)
    points, weights = np.polynomial.hermite_e.hermegauss(80)

    def exact(mean: float) -> float:
        p = expit(mean + 2.0 * points)
        return float(np.log(stats.binom.pmf(won[:, None], EACH, p) @ (weights / weights.sum())).sum())

    grid = np.linspace(-2, 2, 801)
    best = grid[np.argmax([exact(mean) - 0.5 * (mean / 10) ** 2 for mean in grid])]
    assert abs(moved.x[0] - best) < 0.3 * abs(joint.x[0] - best) + 0.01
