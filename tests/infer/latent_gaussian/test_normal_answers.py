"""Answers that are numbers: beside quadrature, differences and the exact density of normal tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from voirdire.infer.latent_gaussian import marginal as searched
from voirdire.infer.latent_gaussian.coordinates import build_coordinates
from voirdire.infer.latent_gaussian.hessian_pattern import Pattern
from voirdire.infer.latent_gaussian.latent_priors import Group, Hyperparameter
from voirdire.infer.latent_gaussian.marginal import Marginal, find_conditional_mode
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.normal import NormalAnswers
from voirdire.infer.latent_gaussian.spread_posterior import maximise_spreads, spread_covariance
from voirdire.model import COMMON
from voirdire.model.terms.score_probabilities import score_log_density

POINTS = np.array([[0.0, 0.3, -0.45, 0.7, -1.2, 2.0], np.log([0.1, 0.4, 0.2, 0.3, 0.5, 3.0])])


def answers(end: int = 0) -> NormalAnswers:
    score = np.array([0.05, -0.3, 0.2, 0.4, -0.1, 0.3]) if end == 0 else np.full(6, 0.5 * end)
    return NormalAnswers(score, np.full(6, end), np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0]))


@pytest.mark.parametrize("end", [-1, 0, 1])
def test_gradient_turn_and_compiled_are_those_of_differences(end: int) -> None:
    own = answers(end)
    value, slope = own.value_gradient(POINTS)
    assert value == pytest.approx((score_log_density(own.score, own.end, *POINTS, np) * own.weight).sum(), rel=1e-12)
    change = np.random.default_rng(0).normal(size=POINTS.shape)
    ahead, behind = (own.value_gradient(POINTS + sign * 1e-5 * change) for sign in (1, -1))
    assert (slope * change).sum() == pytest.approx((ahead[0] - behind[0]) / 2e-5, rel=1e-7)
    np.testing.assert_allclose(own.gradient_change(POINTS)(change), (ahead[1] - behind[1]) / 2e-5, rtol=1e-6, atol=1e-6)
    both = own.value_gradient(np.stack([POINTS, 0.5 * POINTS]))
    for mine, theirs in zip(both, own.compiled_gradient(np.stack([POINTS, 0.5 * POINTS])), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_information_is_the_mean_of_products_of_slopes() -> None:
    """Over all that a score may be: both ends, and by quadrature in between."""
    found = answers().expected_information(POINTS)
    for cell, (mean, log_noise) in enumerate(POINTS.T):
        point, noise = np.array([[mean], [log_noise]]), np.exp(log_noise)

        def outer(score: float, end: int, point: Any = point) -> Any:
            slope = NormalAnswers(np.array([score]), np.array([end]), np.ones(1)).value_gradient(point)[1][:, 0]
            return np.outer(slope, slope)

        expected = outer(-0.5, -1) * stats.norm.cdf(-0.5, mean, noise)
        expected = expected + outer(0.5, 1) * stats.norm.sf(0.5, mean, noise)
        between, _ = integrate.quad_vec(
            lambda y, mean=mean, noise=noise: outer(y, 0) * stats.norm.pdf(y, mean, noise),
            -0.5,
            0.5,
            epsabs=1e-12,
            points=[float(np.clip(mean, -0.49, 0.49))],
        )
        weight = answers().weight[cell]
        np.testing.assert_allclose(found[cell], weight * (expected + between), rtol=1e-6, atol=1e-8)


def test_bend_is_half_the_change_of_a_sum_of_information() -> None:
    own = answers()
    root = np.random.default_rng(2).normal(size=(6, 2, 2))
    covariance = root @ root.transpose(0, 2, 1)
    for row in np.eye(2):
        ahead, behind = (
            np.einsum("cab,cab->c", covariance, own.expected_information(POINTS + sign * 1e-4 * row[:, None]))
            for sign in (1, -1)
        )
        np.testing.assert_allclose(
            own.information_gradient(POINTS, covariance)[row > 0][0],
            0.5 * (ahead - behind) / 2e-4,
            rtol=1e-4,
            atol=1e-5,
        )


ITEMS, JUDGES = 6, 3


def field(y: np.ndarray, end: np.ndarray | None = None) -> LatentGaussianModel:
    """Scores of items by judges: theta_i + noise of each judge, all noises and the spread of items learned."""
    k, i = (part.ravel() for part in np.indices((JUDGES, ITEMS)))
    size = ITEMS + 1  # no latent value enters the second predictor
    index = np.stack([i, np.full(len(i), ITEMS), np.full(len(i), size)], axis=1)
    block, ones = np.append(np.arange(ITEMS), COMMON), np.ones((len(i), 2))
    pattern = Pattern(block, index, np.column_stack([ones, 0.0 * ones[:, 0]]), np.array([0, 0, 1]))
    cells = len(i)
    at = (cells + np.arange(cells), 1 + k)  # the second predictor of each cell, by its judge's noise
    scales = sparse.csr_array((np.ones(cells), at), shape=(2 * cells, 1 + JUDGES))
    end = np.zeros(cells, dtype=int) if end is None else end
    hypers = (Hyperparameter("spread", 3.0), *(Hyperparameter(f"noise{j}", 0.0, -1.9, 0.7) for j in range(JUDGES)))
    return LatentGaussianModel(
        (Group("theta", ITEMS, "spread"), Group("level", 1, 0.3)),
        hypers,
        pattern,
        NormalAnswers(y, end, np.ones(cells)),
        lambda x: (x[: ITEMS + 1], x[ITEMS + 1 :]),
        lambda latent, hyper: np.concatenate([latent, hyper], axis=-1),
        scales=scales,
    )


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(5)
    theta, noise = 0.05 * rng.normal(size=ITEMS), np.array([0.02, 0.03, 0.01])
    return (theta + noise[:, None] * rng.normal(size=(JUDGES, ITEMS))).ravel()


HYPER = np.log([0.06, 0.03, 0.02, 0.015])


def exact(y: np.ndarray, hyper: np.ndarray) -> float:
    """Of a multivariate normal distribution: items, the level and noise are added up."""
    k, i = (part.ravel() for part in np.indices((JUDGES, ITEMS)))
    spread, *noise = np.exp(hyper)
    covariance = spread**2 * (i[:, None] == i) + 0.3**2 + np.diag(np.array(noise)[k] ** 2)
    return float(stats.multivariate_normal.logpdf(y, np.zeros(len(y)), covariance))


def test_the_marginal_likelihood_is_that_of_the_normal_distribution(table: np.ndarray) -> None:
    model = field(table)
    for hyper in (HYPER, HYPER + np.array([0.5, -0.7, 0.4, 0.0])):
        found = find_conditional_mode(model, hyper, np.zeros(model.size))
        assert found.log_marginal == pytest.approx(exact(table, hyper), abs=1e-6)


@pytest.mark.parametrize("at_ends", [False, True])
def test_its_gradient_by_spreads_and_noise_is_that_of_differences(
    table: np.ndarray, at_ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searched, "GRADIENT_TOLERANCE", 1e-7)  # differences of values whose modes are the same to that
    y, end, hyper = table, None, HYPER
    if at_ends:
        y = np.clip(10 * table, -0.5, 0.5)
        end, hyper = np.sign(y).astype(int) * (np.abs(y) == 0.5), HYPER + np.log(10)
    model = field(y, end)
    marginal = Marginal(model, find_conditional_mode(model, hyper, np.zeros(model.size)))
    slope = marginal(hyper)[1]
    for place, step in enumerate(1e-3 * np.eye(len(hyper))):
        ahead, behind = (marginal(hyper + sign * step)[0] for sign in (1, -1))
        assert slope[place] == pytest.approx((ahead - behind) / 2e-3, rel=1e-4, abs=1e-5)


def test_the_search_ends_at_the_maximum_and_knows_the_curvature(table: np.ndarray) -> None:
    model = field(table)
    found = maximise_spreads(model, np.zeros(model.size), np.full(4, -2.0))

    def value(hyper: np.ndarray) -> float:
        return exact(table, hyper) + float(model.hyper_prior(hyper)[0])

    from scipy.optimize import approx_fprime, minimize

    best = minimize(lambda h: -value(h), HYPER, method="BFGS").x
    covariance = spread_covariance(found)
    assert (np.abs(found.mode.hyper - best) < 0.15 * np.sqrt(covariance.diagonal())).all()
    curvature = np.array(
        [-approx_fprime(best, lambda h, a=a: approx_fprime(h, value, 1e-4)[a], 1e-3) for a in range(4)]
    )
    np.testing.assert_allclose(covariance, np.linalg.inv(curvature), rtol=0.25, atol=0.01)


def test_moves_follow_the_gradient_of_the_density(table: np.ndarray) -> None:
    model = field(table)
    found = maximise_spreads(model, np.zeros(model.size), np.full(4, -2.0))
    where = build_coordinates(found, spread_covariance(found))
    z = np.random.default_rng(1).normal(size=(3, where.size))
    _, slope = where.energy_gradient(z)
    for along in np.random.default_rng(2).normal(size=(4, where.size)):
        ahead, behind = (where.energy_gradient(z + sign * 1e-5 * along)[0] for sign in (1, -1))
        np.testing.assert_allclose(slope @ along, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-5)
