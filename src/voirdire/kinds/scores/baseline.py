"""Baselines: the mean or the median of each item's scores, with a standard error from the judges' disagreement.

A judge's scores of one item are averaged first, so that runs do not count as judges. With groups of judges the means of
groups are averaged, and each group counts once (as MAJ-EVAL averages its stakeholders). Then

    centre_c,i ~ Normal(theta_c,i, error_c,i)

under a prior so wide that the estimate of theta is the centre.

Residuals r are the differences of judges' scores from the mean of their item (and group), times sqrt(n / (n - 1)) for a
mean of n judges; they are pooled over the items of a criterion. The error of the mean of n judges is sd(r) / sqrt(n).
The error of their median is the standard deviation of medians of n residuals drawn with replacement. Errors include
differences in severity: they predict another panel's score for the item.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.kinds.scores.layout import ScoresLayout
from voirdire.model.density import Data
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

RESAMPLES = 2000
# In parts of the scale's length.
MIN_ERROR = 1e-3  # error of one judge where all judges agree fully: the density needs an error above zero
UNKNOWN_ERROR = 1.0  # error where no item has two judges of a group


def single_scores_message(model: str) -> str:
    """Message that a baseline makes no predictions, with the models that do."""
    return (
        f"predict() needs a model of single scores, and {model} has none; take another (--model rating-continuous for "
        "scores between levels, else rating-learned)"
    )


def encode_centres(
    judge: Ints, criterion: Ints, item: Ints, score: Floats, sizes: tuple[int, int], group: Ints, pool: str
) -> dict[str, Any]:
    """Centre and error of every item under every criterion.

    Parameters
    ----------
    score : array, shape (rows,)
        From -1/2 to 1/2.
    sizes : (criteria, items)
    group : int array, shape (judges,)
    pool : "mean" or "median"

    Returns
    -------
    dict
        ``criterion``, ``item``, ``centre``, ``error``, ``weight`` (one each), and ``known``: 1 where the error could be
        estimated, else 0.

    Examples
    --------
    >>> judge, zero = np.array([0, 1, 2]), np.zeros(3, dtype=np.int64)
    >>> part = encode_centres(judge, zero, zero, np.array([0.0, 0.1, 0.5]), (1, 1), zero, "mean")
    >>> part["centre"].round(3).tolist(), part["error"].round(3).tolist()
    ([0.2], [0.153])
    """
    criteria, items = sizes
    combine = np.mean if pool == "mean" else np.median
    cells, row = np.unique((judge * criteria + criterion) * items + item, return_inverse=True)
    order = np.argsort(row, kind="stable")
    runs = np.split(score[order], np.cumsum(np.bincount(row))[:-1])
    value = np.array([combine(run) for run in runs])
    unit, judge_group = cells % (criteria * items), group[cells // (criteria * items)]
    panels: dict[int, dict[int, list[float]]] = {}
    for u, g, v in zip(unit.tolist(), judge_group.tolist(), value.tolist(), strict=True):
        panels.setdefault(u, {}).setdefault(g, []).append(v)
    residuals: list[list[float]] = [[] for _ in range(criteria)]
    for u, by_group in panels.items():
        for scores in by_group.values():
            n = len(scores)
            if n > 1:
                residuals[u // items] += list((np.array(scores) - np.mean(scores)) * math.sqrt(n / (n - 1)))
    errors = [_Errors(np.array(residual), pool) for residual in residuals]
    units = sorted(panels)
    centre = [float(np.mean([combine(scores) for scores in panels[u].values()])) for u in units]
    error = [
        math.sqrt(sum(errors[u // items].standard_error(len(scores)) ** 2 for scores in panels[u].values()))
        / len(panels[u])
        for u in units
    ]
    cell = np.array(units, dtype=np.int64)
    return {
        "criterion": cell // items,
        "item": cell % items,
        "centre": np.array(centre),
        "error": np.array(error),
        "weight": np.ones(len(units)),
        "known": np.array([len(residuals[u // items]) > 0 for u in units], dtype=float),
    }


class _Errors:
    """Standard errors of the mean or median of n judges, from the residuals of one criterion."""

    def __init__(self, residuals: Floats, pool: str) -> None:
        self.left, self.pool = residuals, pool
        self.known: dict[int, float] = {}

    def standard_error(self, n: int) -> float:
        if n not in self.known:
            self.known[n] = self._standard_error(n)
        return self.known[n]

    def _standard_error(self, n: int) -> float:
        if not len(self.left):
            return UNKNOWN_ERROR
        # residuals have mean zero in every item
        judge_error = max(float(np.sqrt(np.mean(self.left**2))), MIN_ERROR)
        if self.pool == "mean":
            return judge_error / math.sqrt(n)
        resampled = np.random.default_rng(0).choice(self.left, (RESAMPLES, n))
        return max(float(np.median(resampled, axis=1).std()), MIN_ERROR / math.sqrt(n))


def score_log_densities(density: ScoresLayout, values: Values, data: Data, xp: Any) -> tuple[Array, Array]:
    """Log density of each centre, and its weight."""
    part = data["scores"]
    z = (part["centre"] - values["strength"][..., part["criterion"], part["item"]]) / part["error"]
    return -0.5 * z * z - xp.log(part["error"]) - 0.5 * math.log(2.0 * math.pi), part["weight"]


def starts(density: ScoresLayout, data: Data) -> list[Values]:
    """Start at the centres of the items."""
    part = data["scores"]
    strength = np.zeros((density.criteria, density.items))
    strength[part["criterion"], part["item"]] = part["centre"]
    return [{"strength": strength}]
