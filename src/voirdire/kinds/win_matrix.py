"""Pairs of items: how often one wins against another, and how sure it is that it is the better one."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.kinds.panel_gap import shown_draws
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import logistic_sigmoid


def win_matrix(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Win probability of every item against every other, with its interval.

    Item i wins against item j where a judge who errs by nothing but how close they are prefers it:
    sigmoid(score_i - score_j), which is 1 / (1 + exp(score_j - score_i)) in log-odds of the scores that the fit shows.

    Returns
    -------
    dict of array, shape (items (items - 1),)
        first, second, p_win (median over draws), low, high, p_better (share of draws in which the first is better, ties
        counting half); the last three are missing without draws. By items as the table has them.

    Raises
    ------
    InputError
        The items have no scores in log-odds (baselines that count).
    """
    if problem.density.model.pool != "none" or "strength" not in posterior.central_values:
        raise InputError(
            f"win_matrix() needs strengths in log-odds, and {problem.density.model.name} has none; fit crowd-bt"
        )
    items = np.array(problem.items, dtype=object)
    first, second = (side.ravel() for side in np.nonzero(~np.eye(len(items), dtype=bool)))
    columns: Columns = {"first": items[first], "second": items[second]}
    if posterior.values is None:
        centre = {name: of[None] for name, of in posterior.central_values.items()}
        score = shown_draws(problem, centre)[0]
        nothing = np.full(len(first), np.nan)
        return columns | {
            "p_win": logistic_sigmoid(score[first] - score[second], np),
            "low": nothing,
            "high": nothing,
            "p_better": nothing,
        }
    draws = shown_draws(problem, posterior.values)
    found = np.empty((4, len(first)))
    for item in range(len(items)):  # pairs of one item at a time: draws times items, not times pairs
        rows = first == item
        gap = draws[:, [item]] - draws[:, second[rows]]
        wins = logistic_sigmoid(gap, np)
        better = (gap > 0).mean(axis=0) + (gap == 0).mean(axis=0) / 2
        found[:, rows] = (np.median(wins, axis=0), *posterior.interval(wins, prob), better)
    return columns | dict(zip(("p_win", "low", "high", "p_better"), found, strict=True))
