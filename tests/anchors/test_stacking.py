"""Stacking: against a general optimiser, refits without an anchor, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.special import log_expit

from voirdire.anchors import stacking
from voirdire.anchors.stacking import kernels, stack

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
