"""Rankings with ties against all orders written out, derivatives against differences, draws against probabilities."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from voirdire.model.family.ranking import draw_orders, ranking_family, tied_places

# a column is one ranking: places of groups, -1 where there are no more items
PATTERNS = np.array(
    [
        [0, 1, 2, 3, 4],  # full
        [0, 0, 1, 2, 3],  # the first two tied
        [0, 1, 1, 1, 2],  # best and worst
        [0, 1, 1, 1, 1],  # a choice of one
        [0, 0, 0, 1, 1],  # the best three
        [0, 0, 1, 1, 2],
        [0, 1, 1, 2, -1],  # of four items
        [0, 1, -1, -1, -1],  # a comparison
        [0, 0, -1, -1, -1],  # a comparison without outcome
    ]
).T


def gradient(form: Any, eta: np.ndarray, answers: np.ndarray, xp: Any) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood of each cell, and its gradient, shape (places, cells)."""
    value, slopes = form.value_slopes(list(eta), answers, xp)
    return value, xp.stack(slopes)


def by_orders(eta: np.ndarray, groups: np.ndarray) -> float:
    """Log probability: the sum of Plackett and Luce's over all orders that agree with the groups."""
    there = [i for i in range(len(eta)) if groups[i] >= 0]
    sizes = [[i for i in there if groups[i] == g] for g in sorted({groups[i] for i in there})]
    total = 0.0
    for parts in itertools.product(*(itertools.permutations(group) for group in sizes)):
        order = [i for part in parts for i in part]
        w = np.exp(eta[order])
        total += math.prod(w[p] / w[p:].sum() for p in range(len(w)))
    return math.log(total)


def points(scale: float) -> np.ndarray:
    return np.random.default_rng(1).normal(size=PATTERNS.shape) * scale


FAMILY = ranking_family(5, tied_places(PATTERNS))


@pytest.mark.parametrize("scale", [0.0, 1.0, 4.0])
def test_probabilities_are_those_of_all_orders_together(scale: float) -> None:
    eta = points(scale)
    found = sum(log * weight for log, weight in FAMILY.log_parts(eta, PATTERNS, np))
    expected = [by_orders(eta[:, c], PATTERNS[:, c]) for c in range(PATTERNS.shape[1])]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("gap", [-20.0, 20.0])
def test_ties_of_items_far_better_or_worse_than_the_rest(gap: float) -> None:
    eta = np.array([[gap], [gap + 1.0], [gap - 1.0], [0.0], [0.5]])
    groups = np.array([[0], [0], [0], [1], [1]])
    found = sum(log * weight for log, weight in ranking_family(5, ((0, 3),)).log_parts(eta, groups, np))
    np.testing.assert_allclose(found, [by_orders(eta[:, 0], groups[:, 0])], rtol=1e-8, atol=1e-9)


def test_probabilities_of_all_rankings_with_as_many_ties_sum_to_one() -> None:
    eta = np.array([0.3, -1.0, 0.8, 0.1])
    groups = np.array([0, 1, 1, 2])
    orders = {(a, *sorted((b, c)), d) for a, b, c, d in itertools.permutations(range(4))}
    columns = np.array([[eta[i] for i in order] for order in sorted(orders)]).T
    same = np.repeat(groups[:, None], columns.shape[1], axis=1)
    log = sum(of * weight for of, weight in ranking_family(4, ((1, 3),)).log_parts(columns, same, np))
    assert np.exp(log).sum() == pytest.approx(1.0, abs=1e-9)


def test_large_groups() -> None:
    """Alike items: a tied group of k of n has one over n choose k."""
    eta, groups = np.zeros((30, 1)), np.repeat([0, 1], [12, 18])[:, None]
    log = sum(of * weight for of, weight in ranking_family(30, ((0, 12),)).log_parts(eta, groups, np))
    assert log[0] == pytest.approx(-math.log(math.comb(30, 12)), rel=1e-9)


def test_a_comparison_is_bradley_terry() -> None:
    (log, weight), *_ = ranking_family(2).log_parts(np.array([[1.3], [0.4]]), np.array([[0], [1]]), np)
    assert (weight * log)[0] == pytest.approx(-math.log1p(math.exp(-0.9)))


def test_derivatives_in_closed_form_are_those_of_differences() -> None:
    form = FAMILY.closed_form
    assert form is not None
    eta, step = points(1.0), 1e-5
    value, slope = gradient(form, eta, PATTERNS, np)
    sums = list(eta)
    np.testing.assert_allclose(form.log_likelihoods(sums, PATTERNS), value)
    np.testing.assert_allclose(np.stack(form.value_slopes(sums, PATTERNS, np)[1]), slope)
    curved = form.curved(sums, PATTERNS)
    information = form.information(sums, PATTERNS)
    covariance = np.random.default_rng(2).normal(size=(PATTERNS.shape[1], 5, 5))
    covariance = covariance @ np.swapaxes(covariance, 1, 2)
    bend = form.bend(sums, PATTERNS, covariance)

    def half(eta: np.ndarray) -> np.ndarray:
        of = form.information(list(eta), PATTERNS)
        return sum((1.0 if u != v else 0.5) * covariance[:, u, v] * w for (u, v), w in of.items())

    for u in range(5):
        moved = np.zeros((5, 1))
        moved[u] = step
        (above, up), (below, down) = (gradient(form, eta + sign * moved, PATTERNS, np) for sign in (1, -1))
        np.testing.assert_allclose(slope[u], (above - below) / (2 * step), atol=1e-8)
        np.testing.assert_allclose(bend[u], (half(eta + moved) - half(eta - moved)) / (2 * step), atol=1e-6)
        for v in range(u, 5):
            np.testing.assert_allclose(curved.second[u, v], (up[v] - down[v]) / (2 * step), atol=1e-8)
            np.testing.assert_allclose(information[u, v], -curved.second[u, v])


def test_the_information_is_never_negative() -> None:
    form = FAMILY.closed_form
    assert form is not None
    for scale in (1.0, 5.0):
        total = np.zeros((PATTERNS.shape[1], 5, 5))
        for (u, v), of in form.information(list(points(scale)), PATTERNS).items():
            total[:, u, v] = total[:, v, u] = of
        assert np.linalg.eigvalsh(total).min() > -1e-9


@pytest.mark.slow
def test_jax_and_numpy_agree_in_single_precision_too() -> None:
    import jax.numpy as jnp

    form = FAMILY.closed_form
    assert form is not None
    exact = gradient(form, points(1.0), PATTERNS, np)
    found = gradient(form, points(1.0).astype(np.float32), PATTERNS, jnp)
    for one, other in zip(exact, found, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_the_maximum_of_the_likelihood_is_that_of_hunters_iterations() -> None:
    """Minorisation and maximisation (Hunter 2004, Annals of Statistics 32), to 1e-6."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    items = np.array([rng.permutation(6)[:4] for _ in range(60)]).T
    answers = np.repeat(np.arange(4)[:, None], 60, axis=1)
    form = ranking_family(4).closed_form
    assert form is not None

    def minus(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = gradient(form, theta[items], answers, np)
        return -value.sum(), -np.bincount(items.ravel(), slope.ravel(), 6)

    theta = minimize(minus, np.zeros(6), jac=True, options={"gtol": 1e-9}).x
    w = np.ones(6)
    chosen = np.bincount(items[:-1].ravel(), minlength=6)
    for _ in range(3000):
        left = np.cumsum(w[items][::-1], axis=0)[::-1][:-1]
        rate = np.cumsum(1.0 / left, axis=0)
        w = chosen / np.bincount(items.ravel(), np.vstack([rate, rate[-1]]).ravel(), 6)
    np.testing.assert_allclose(theta - theta.mean(), np.log(w) - np.log(w).mean(), atol=1e-6)


def test_draws_come_as_often_as_their_probabilities_say() -> None:
    eta = np.array([0.5, -0.4, 0.1])
    count = 40_000
    drawn = draw_orders(np.repeat(eta[:, None], count, axis=1), np.random.default_rng(4))
    seen = Counter(map(tuple, drawn.T.tolist()))
    for order in itertools.permutations(range(3)):
        chance = math.exp(by_orders(eta[list(order)], np.arange(3)))
        assert seen[order] / count == pytest.approx(chance, abs=4 * math.sqrt(chance / count))


def test_tied_groups_cost_their_nodes() -> None:
    """Measured: 180 best-worst rankings took chains some seventy times as long as full ones."""
    assert ranking_family(4).cost == 1.0
    assert 40.0 < ranking_family(4, ((1, 3),)).cost < 100.0
    assert ranking_family(4, ((0, 2), (2, 4))).cost > 1.9 * ranking_family(4, ((1, 3),)).cost
