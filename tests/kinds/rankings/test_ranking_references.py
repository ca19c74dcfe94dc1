"""Maximum likelihood of rankings against choix, its published figures, and closed forms.

The likelihood is the fitted problem's own. PlackettLuce (R) agrees with choix on rankings without ties; its ties are
Davidson's, which have parameters of their own and are another model.
"""

from __future__ import annotations

from typing import Any

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import voirdire
from voirdire.simulate import simulate_rankings


def likeliest(rows: list[Any]) -> np.ndarray:
    """Strengths at the maximum of the likelihood, sum zero; rows are ranking, item and rank."""
    table = pd.DataFrame(rows, columns=["run", "item", "rank"]).assign(judge="a")
    problem = voirdire.fit(table, model="plackett-luce", method="map").problem
    density, data = problem.density, problem.data

    def minus(x: np.ndarray) -> float:
        return float(-density.log_likelihood({"strength": (x - x.mean())[None]}, data, np))

    found = minimize(minus, np.zeros(len(problem.items)), method="BFGS", options={"gtol": 1e-7}).x
    return np.asarray(found - found.mean())


def full(orders: list[list[int]]) -> list[Any]:
    return [(n, item, rank) for n, order in enumerate(orders) for rank, item in enumerate(order)]


def test_figures_that_choix_publishes() -> None:
    """Of its test cases: rankings of several lengths, and choices of one of several."""
    orders = [[0, 1, 2], [3, 2, 0], [1, 3]]
    np.testing.assert_allclose(likeliest(full(orders)), [-0.44328117, 0.69506219, -0.67061442, 0.4188334], atol=1e-4)
    np.testing.assert_allclose(likeliest(full([[0, 1, 2], [1, 2, 0], [2, 0, 1]])), np.zeros(3), atol=1e-4)
    chosen = [(0, 0, 1), (0, 1, 2), (1, 1, 1), (1, 2, 2), (2, 2, 1), (2, 0, 2), (2, 1, 2)]
    np.testing.assert_allclose(likeliest(chosen), [0.16040395, -0.32080789, 0.16040394], atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_rankings_and_choices_against_choix(seed: int) -> None:
    design = {"kind": "rankings", "size": 4, "repeats": 80}
    made = simulate_rankings(1, items=7, design=design, seed=seed).rankings
    items = made["item"].str[-1].astype(int) - 1
    orders = items.to_numpy().reshape(-1, 4).tolist()
    theirs = choix.opt_rankings(7, orders, alpha=0.0, tol=1e-9)
    np.testing.assert_allclose(likeliest(full(orders)), theirs - theirs.mean(), atol=1e-4)
    ones = [(order[0], order[1:]) for order in orders]
    theirs = choix.opt_top1(7, ones, alpha=0.0, tol=1e-9)
    chosen = [(n, item, 1 + (place > 0)) for n, order in enumerate(orders) for place, item in enumerate(order)]
    np.testing.assert_allclose(likeliest(chosen), theirs - theirs.mean(), atol=1e-4)


def test_closed_forms() -> None:
    """Choices of one of three: worth is in proportion to counts; two items: the log of the odds."""
    counts = [5, 3, 2]
    rows = [(n, item, 1 + (item != best)) for n, best in enumerate(np.repeat([0, 1, 2], counts)) for item in range(3)]
    expected = np.log(counts) - np.log(counts).mean()
    np.testing.assert_allclose(likeliest(rows), expected, atol=1e-4)
    pair = full([[0, 1]] * 7 + [[1, 0]] * 2)
    np.testing.assert_allclose(likeliest(pair)[0], np.log(7 / 2) / 2, atol=1e-4)


def test_the_best_two_of_three_are_who_is_not_last() -> None:
    """Ties before the last: the shares of who comes last are met exactly, summed over both orders of the others."""
    last = [1, 3, 6]
    rows = [(n, item, 1 + (item == worst)) for n, worst in enumerate(np.repeat([0, 1, 2], last)) for item in range(3)]
    w = np.exp(likeliest(rows))
    found = [
        sum(w[a] / w.sum() * w[b] / (w[b] + w[c]) for a, b in ((i, j), (j, i)))
        for c, (i, j) in enumerate([(1, 2), (0, 2), (0, 1)])
    ]
    np.testing.assert_allclose(found, np.array(last) / 10, atol=1e-4)
