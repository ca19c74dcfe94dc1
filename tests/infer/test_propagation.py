"""Expectation propagation: against quadrature, long-run sampling, refits, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit, log_expit
from scipy.stats import norm

from voirdire.infer.propagation import _sigmoid_moments, logistic_mean, propagate_expectations

RNG = np.random.default_rng(3)


def plane(x: np.ndarray, y: np.ndarray, b: np.ndarray, root: np.ndarray) -> tuple[float, object]:
    """Evidence of a regression with two weights by the trapezoidal rule, and the rule for expectations of f(beta)."""
    grid = np.linspace(-9.0, 9.0, 601)
    z = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2)
    beta = b + z @ root.T
    weight = np.exp(log_expit((beta @ x.T) * y).sum(axis=1) - 0.5 * (z**2).sum(axis=1)) / (2 * np.pi)
    weight *= (grid[1] - grid[0]) ** 2
    return float(np.log(weight.sum())), lambda f: float(f(beta) @ weight / weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize("data", [1, 2, 5, 12])
def test_evidence_and_predictions_are_those_of_quadrature(data: int) -> None:
    """Two weights, a prior with a mean; with one answer and two weights the data have fewer directions."""
    x = RNG.normal(size=(data, 2))
    y = np.where(RNG.random(data) < 0.8, np.sign(x[:, 0]), -1.0)
    new = np.array([[1.0, -1.0], [0.5, 1.0]])
    for scale, error in ((0.25, 2e-4), (0.5, 1.2e-3), (1.0, 1e-2)):  # posteriors grow skew
        b, root = np.array([0.7, -0.2]), scale * np.array([[1.0, 0.0], [0.4, 0.8]])
        found = propagate_expectations(x, y, b[None], root[None])
        evidence, mean = plane(x, y, b, root)
        assert found.converged.all()
        assert found.log_evidence[0] == pytest.approx(evidence, abs=error)
        exact = [mean(lambda beta, row=row: expit(beta @ row)) for row in new]
        np.testing.assert_allclose(found.probabilities(new)[0], exact, atol=error)
        for i in range(data):
            rest = np.arange(data) != i
            left = plane(x[rest], y[rest], b, root)[0]
            assert found.left_out[0, i] == pytest.approx(np.exp(evidence - left), abs=error)


def test_predictions_are_those_of_a_long_run_of_elliptical_slices() -> None:
    """Six weights, eight answers: Murray, Adams and MacKay 2010; 40,000 draws know a probability to about 0.002."""
    x = RNG.normal(size=(8, 6))
    y, root = np.where(x[:, 0] + x[:, 1] > -0.5, 1.0, -1.0), 0.4 * np.eye(6)
    new = RNG.choice([-1.0, 1.0], (10, 6))
    found = propagate_expectations(x, y, np.zeros((1, 6)), root[None])
    rng, chains = np.random.default_rng(0), 400
    beta, total, kept = rng.normal(size=(chains, 6)) @ root.T, np.zeros(10), 0
    for step in range(150):
        other = rng.normal(size=(chains, 6)) @ root.T
        level = log_expit((beta @ x.T) * y).sum(axis=1) + np.log(rng.random(chains))
        angle = rng.random(chains) * 2 * np.pi
        low, high, moved, still = angle - 2 * np.pi, angle.copy(), beta.copy(), np.ones(chains, bool)
        while still.any():
            trial = beta * np.cos(angle)[:, None] + other * np.sin(angle)[:, None]
            good = still & (log_expit((trial @ x.T) * y).sum(axis=1) > level)
            moved[good], still = trial[good], still & ~good
            low, high = np.where(angle < 0, angle, low), np.where(angle < 0, high, angle)
            angle = np.where(still, low + (high - low) * rng.random(chains), angle)
        beta = moved
        if step >= 50:
            total, kept = total + expit(beta @ new.T).mean(axis=0), kept + 1
    np.testing.assert_allclose(found.probabilities(new)[0], total / kept, atol=4e-3)
    drawn = expit(found.draws(0, 40_000, rng) @ new.T).mean(axis=0)
    np.testing.assert_allclose(drawn, found.probabilities(new)[0], atol=4e-3)


@pytest.mark.parametrize("mean", [-20.0, 0.3, 3.0])
@pytest.mark.parametrize("variance", [0.0, 0.5, 4.0, 400.0])
def test_moments_are_those_of_quadrature(mean: float, variance: float) -> None:
    sd = np.sqrt(variance)

    def part(z: float) -> float:
        return float(expit(mean + sd * z) * norm.pdf(z))

    knots = [0.0, *([-mean / sd] if sd and abs(mean / sd) < 12 else [])]
    exact = integrate.quad(part, -14, 14, epsabs=1e-14, epsrel=1e-11, limit=400, points=knots)[0]
    exact = exact if sd else float(expit(mean))
    assert logistic_mean(np.array([mean]), np.array([variance]))[0] == pytest.approx(exact, rel=2e-5)
    answers, gap = np.array([1.0, -1.0]), 1e-4
    log, slope, bend = (
        np.array(
            [_sigmoid_moments(answers, np.full(2, mean + shift), np.full(2, variance)) for shift in (-gap, 0.0, gap)]
        )
    ).swapaxes(0, 1)
    np.testing.assert_allclose(slope[1], (log[2] - log[0]) / (2 * gap), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(bend[1], (slope[2] - slope[0]) / (2 * gap), rtol=1e-5, atol=1e-8)


def test_separable_answers_and_wide_priors_converge() -> None:
    """Answers that a weight separates, copies of judges, and none at all."""
    x = np.repeat(RNG.choice([-1.0, 1.0], (40, 3)), 4, axis=1)
    factor = np.stack([spread * np.eye(12) for spread in (0.1, 1.0, 10.0, 100.0)])
    found = propagate_expectations(x, x[:, 0], np.zeros((4, 12)), factor)
    assert found.converged.all()
    assert (found.left_out > 0.5).all()
    assert (np.diff(found.log_evidence) > 0).all()
    nothing = propagate_expectations(np.zeros((0, 12)), np.zeros(0), np.zeros((4, 12)), factor)
    np.testing.assert_allclose(nothing.log_evidence, 0.0, atol=1e-12)
    np.testing.assert_allclose(nothing.probabilities(x), 0.5, atol=1e-12)
