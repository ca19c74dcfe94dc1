"""Stacking: against a general optimiser, refits without an anchor, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.special import betaln, expit, log_expit
from scipy.stats import norm

from voirdire.kinds.votes.human import stacking
from voirdire.kinds.votes.human.stacking import kernels, stack

RNG = np.random.default_rng(3)
X = RNG.choice([-1.0, 0.0, 1.0], (30, 6))
ROWS = np.arange(12)
Y = np.where(X[:12, 0] + 0.3 * RNG.normal(size=12) > 0, 1.0, -1.0)


def test_the_mode_is_the_regression_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """One ridge prior: log-odds at the mode equal those of the primal problem, solved by BFGS."""
    kernel = 3.0 * kernels(X, None)["ridge"]
    scale = 3.0 / np.mean(np.sum(X * X, axis=1))

    def loss(beta: np.ndarray) -> float:
        return float(-log_expit(Y * (X[ROWS] @ beta)).sum() + 0.5 * beta @ beta / scale)

    beta = optimize.minimize(loss, np.zeros(6), tol=1e-12).x
    monkeypatch.setattr(stacking, "_averaged", lambda mean, variance: mean)
    _, mean, _ = stacking._laplace(kernel, ROWS, Y)
    np.testing.assert_allclose(mean, X @ beta, atol=1e-5)


def test_the_evidence_is_laplace_s() -> None:
    """Two anchors: against numerical integration over the two log-odds, where Laplace is good to a few percent."""
    kernel = kernels(X, None)["ridge"]
    rows, y = np.array([0, 1]), np.array([1.0, -1.0])
    inner = kernel[:2, :2]
    grid = np.linspace(-8, 8, 401)
    f = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2)
    log = log_expit(f * y).sum(1) - 0.5 * np.einsum("ni,ij,nj->n", f, np.linalg.inv(inner), f)
    area = (grid[1] - grid[0]) ** 2
    exact = np.log(np.exp(log).sum() * area / (2 * np.pi * np.sqrt(np.linalg.det(inner))))
    assert stacking._laplace(kernel, rows, y)[0] == pytest.approx(exact, abs=0.05)


def test_left_out_predictions_are_close_to_refits() -> None:
    found = stack(X, ROWS, Y)
    refits = [stack(X, np.delete(ROWS, i), np.delete(Y, i)).p[i] for i in ROWS]
    np.testing.assert_allclose(found.left_out, refits, atol=0.06)


def test_naming_the_items_the_other_way_round_changes_nothing() -> None:
    turn = np.where(RNG.random(30) < 0.5, -1.0, 1.0)
    found, turned = stack(X, ROWS, Y), stack(X * turn[:, None], ROWS, Y * turn[ROWS])
    np.testing.assert_allclose(np.where(turn > 0, found.p, 1 - found.p), turned.p, atol=1e-9)


def test_reversed_judges_are_used_reversed_and_copies_count_once() -> None:
    found = stack(X, ROWS, Y)
    np.testing.assert_allclose(stack(-X, ROWS, Y).p, found.p, atol=1e-9)
    everyone_twice = stack(np.repeat(X, 2, axis=1), ROWS, Y)
    np.testing.assert_allclose(everyone_twice.p, found.p, atol=1e-9)


def test_judges_that_never_answered_leave_even_odds() -> None:
    silent = np.zeros((5, 3))
    np.testing.assert_allclose(stack(silent, np.array([0]), np.array([1.0])).p, 0.5)


@pytest.mark.parametrize("mean", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("variance", [0.5, 4.0, 30.0])
def test_the_mean_of_a_probability_is_the_logistic_normal_s(mean: float, variance: float) -> None:
    """Against numerical integration; MacKay's formula is known to be within 0.02 of it."""
    sd = np.sqrt(variance)
    exact, _ = integrate.quad(lambda z: expit(mean + sd * z) * norm.pdf(z), -12, 12, epsabs=1e-12, limit=200)
    found = stacking._averaged(np.array([mean, -mean]), np.array([variance, variance]))
    np.testing.assert_allclose(found, [exact, 1.0 - exact], atol=0.02)


def test_the_mean_of_a_probability_is_exact_where_the_variance_is_large() -> None:
    """pi / 8 gives the logistic function the slope of the normal one: P - 1/2 -> mean / sqrt(2 pi variance)."""
    variance = 1e6
    found = stacking._averaged(np.array([1.0]), np.array([variance]))[0]
    assert found - 0.5 == pytest.approx(1.0 / np.sqrt(2.0 * np.pi * variance), rel=1e-4)


def test_a_left_out_answer_weighs_no_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beta-binomial models in the kernels' places, where evidence and leaving out are known in closed form.

    With m_a(n, k) = B(a + k, a + n - k) / B(a, a), n answers of which k are +1, the left-out probability of +1 is
    sum_a m_a(n, k' + 1) / sum_a m_a(n - 1, k'), k' those of the other n - 1 answers.
    """

    def beta_binomial(
        kernel: np.ndarray, rows: np.ndarray, y: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        a, n, yes = kernel[0, 0], len(y), int((y > 0).sum())
        evidence = betaln(a + yes, a + n - yes) - betaln(a, a)
        left_out = (a + yes - (y > 0)) / (2 * a + n - 1)
        return evidence, np.full(len(kernel), (a + yes) / (2 * a + n)), left_out

    monkeypatch.setattr(stacking, "kernels", lambda features, family: {"ridge": np.eye(len(features))})
    monkeypatch.setattr(stacking, "_laplace", beta_binomial)
    y = np.array([1.0, 1.0, 1.0, 1.0, 1.0, -1.0])
    a = np.array(stacking.SCALES)

    def marginal(n: int, yes: int) -> float:
        return float(np.exp(betaln(a + yes, a + n - yes) - betaln(a, a)).sum())

    others = [int((np.delete(y, i) > 0).sum()) for i in range(6)]
    exact = [marginal(6, yes + 1) / marginal(5, yes) for yes in others]
    found = stack(X, np.arange(6), y)
    np.testing.assert_allclose(found.left_out, exact, rtol=1e-12)
    np.testing.assert_allclose(found.p, marginal(7, 6) / marginal(6, 5), rtol=1e-12)


def test_the_evidence_without_an_answer_is_that_of_a_refit() -> None:
    """Evidence over left-out probability, at variance 0.1, where both of Laplace's are exact to about 3e-4."""
    for kernel in kernels(X, None).values():
        evidence, _, left_out = stacking._laplace(0.1 * kernel, ROWS, Y)
        agreed = np.where(Y > 0, left_out, 1.0 - left_out)
        refits = [stacking._laplace(0.1 * kernel, np.delete(ROWS, i), np.delete(Y, i))[0] for i in ROWS]
        np.testing.assert_allclose(evidence - np.log(agreed), refits, atol=1e-3)
