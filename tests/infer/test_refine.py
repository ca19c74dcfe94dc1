"""Corrected Laplace draws against quadrature, and smoothed weights against ArviZ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from voirdire.infer import refine
from voirdire.infer.importance import pareto_smoothed, systematic
from voirdire.infer.laplace import laplace
from voirdire.infer.mode import find_mode
from voirdire.infer.refine import laplace_draws
from voirdire.infer.skew import skewed
from voirdire.problem import Problem, pose
from voirdire.specs import load_model
from voirdire.tables.votes import read_votes

COUNT = 20_000


@pytest.fixture(scope="module")
def separated() -> Problem:
    """Two items, eight votes for one and none for the other: the posterior of their difference leans far out."""
    rows = pd.DataFrame({"judge": "a", "first": ["x"] * 8, "second": "y", "winner": "x"})
    return pose(load_model("bradley-terry"), read_votes(rows))


def exact(problem: Problem) -> tuple[float, float, np.ndarray]:
    """Mean, skewness and the 5%, 50% and 95% points of d by quadrature: 8 log sigmoid(d) - d^2 / (4 sd^2)."""
    sd = problem.model.strength.numbers["sd"]
    d = np.linspace(-30, 50, 200_001)
    log = -8 * np.logaddexp(0, -d) - d**2 / (4 * sd**2)
    density = np.exp(log - log.max())
    cdf = integrate.cumulative_trapezoid(density, d, initial=0)
    density, cdf = density / cdf[-1], cdf / cdf[-1]
    mean = integrate.trapezoid(d * density, d)
    moments = [integrate.trapezoid((d - mean) ** k * density, d) for k in (2, 3)]
    return mean, moments[1] / moments[0] ** 1.5, np.interp([0.05, 0.5, 0.95], cdf, d)


def differences(problem: Problem, draws: np.ndarray) -> np.ndarray:
    theta = problem.program.values(draws, np)["strength"][:, 0]
    return theta[:, 0] - theta[:, 1]


def test_resampled_draws_are_the_posterior(separated: Problem) -> None:
    """20,000 draws: quantiles within 0.1 of quadrature (sd 3.2; Monte Carlo errors up to 0.06), where Laplace's are not."""
    approximation = laplace(separated, find_mode(separated))
    draws, k = laplace_draws(separated, approximation, COUNT, np.random.default_rng(0))
    wanted = exact(separated)[2]
    assert k is not None
    assert k < 0.7
    assert np.quantile(differences(separated, draws), [0.05, 0.5, 0.95]) == pytest.approx(wanted, abs=0.2)
    plain = differences(separated, approximation.draws(COUNT, np.random.default_rng(0)))
    assert abs(np.quantile(plain, [0.05, 0.5, 0.95]) - wanted).max() > 0.5


def test_skewed_draws_lean_as_the_posterior(separated: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without weights (as for many parameters) every quantile is nearer than Laplace's, and skewness has its sign."""
    monkeypatch.setattr(refine, "RESAMPLED_SIZE", 0)
    approximation = laplace(separated, find_mode(separated))
    corrected, k = laplace_draws(separated, approximation, COUNT, np.random.default_rng(0))
    assert k is None
    wanted = exact(separated)[2]
    plain = approximation.draws(COUNT, np.random.default_rng(0))
    error, before = (
        abs(np.quantile(differences(separated, draws), [0.05, 0.5, 0.95]) - wanted)
        for draws in (corrected, plain)
    )
    assert (error < before).all()
    assert error.max() < 0.6 * before.max()
    assert stats.skew(differences(separated, corrected)) > 0.2


def test_the_skewed_density_is_that_of_its_draws(separated: Problem) -> None:
    """In one dimension: the ECDF of 20,000 draws against the integral of their stated density (KS at 1%)."""
    approximation = laplace(separated, find_mode(separated))
    draws, log_density = skewed(separated, approximation).draws(COUNT, np.random.default_rng(1))
    order = np.argsort(draws[:, 0])
    cdf = integrate.cumulative_trapezoid(np.exp(log_density[order]), draws[order, 0], initial=0)
    assert np.abs(cdf / cdf[-1] - (np.arange(COUNT) + 0.5) / COUNT).max() < 1.63 / np.sqrt(COUNT)


def test_a_normal_posterior_is_left_alone() -> None:
    """An item pair that was never compared has its normal prior: no shift, no skewness."""
    rows = pd.DataFrame({"judge": "a", "first": ["x", "x"], "second": "y", "winner": ["x", "y"]})
    problem = pose(load_model("bradley-terry"), read_votes(rows))
    found = skewed(problem, laplace(problem, find_mode(problem)))
    assert found.skewness == pytest.approx([0.0], abs=1e-9)  # one win each: symmetric
    assert found.shift == pytest.approx([0.0], abs=1e-9)


def test_smoothed_weights_are_arviz_s() -> None:
    import arviz as az

    if not hasattr(az, "psislw"):
        pytest.skip("this ArviZ has no psislw function")
    rng = np.random.default_rng(4)
    for scale in (0.5, 1.0, 2.0):
        log_ratio = scale * rng.standard_normal(2000) ** 2
        wanted, k = az.psislw(log_ratio.copy())
        weights, shape = pareto_smoothed(log_ratio)
        assert shape == pytest.approx(float(k), abs=1e-6)
        assert weights == pytest.approx(np.exp(np.asarray(wanted)), rel=1e-6)


def test_systematic_resampling_keeps_shares() -> None:
    """Every index comes up floor or ceiling of its expected number."""
    weights = np.array([0.05, 0.15, 0.3, 0.5])
    counts = np.bincount(systematic(weights, 30, np.random.default_rng(0)), minlength=4)
    assert (abs(counts - 30 * weights) < 1).all()
