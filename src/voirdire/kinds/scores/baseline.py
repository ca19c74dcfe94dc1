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
from voirdire.model.terms.term import Values
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
    import pandas as pd

    criteria, items = sizes
    rows = pd.DataFrame({"unit": criterion * items + item, "group": group[judge], "judge": judge, "score": score})
    of_judges = rows.groupby(["unit", "group", "judge"])["score"].agg(pool)
    panels = of_judges.groupby(level=["unit", "group"])
    count = panels.transform("size")
    residual = ((of_judges - panels.transform("mean")) * np.sqrt(count / np.maximum(count - 1, 1)))[count > 1]
    residual_criterion = residual.index.get_level_values("unit") // items
    residuals = [residual[residual_criterion == c].to_numpy() for c in range(criteria)]
    centres = panels.agg([pool, "size"]).reset_index()
    keys = list(zip(centres["unit"] // items, centres["size"], strict=True))
    errors = {(c, judges): _standard_error(residuals[c], pool, judges) for c, judges in set(keys)}
    centres["variance"] = [errors[key] ** 2 for key in keys]
    by_unit = centres.groupby("unit")
    unit = np.array(list(by_unit.groups), dtype=np.int64)
    return {
        "criterion": unit // items,
        "item": unit % items,
        "centre": by_unit[pool].mean().to_numpy(),
        "error": (np.sqrt(by_unit["variance"].sum()) / by_unit.size()).to_numpy(),
        "weight": np.ones(len(unit)),
        "known": np.array([len(residuals[c]) > 0 for c in unit // items], dtype=float),
    }


def _standard_error(residuals: Floats, pool: str, judges: int) -> float:
    """Standard error of the mean or median of a number of judges, from the residuals of one criterion."""
    if not len(residuals):
        return UNKNOWN_ERROR
    # residuals have mean zero in every item
    judge_error = max(float(np.sqrt(np.mean(residuals**2))), MIN_ERROR)
    if pool == "mean":
        return judge_error / math.sqrt(judges)
    resampled = np.random.default_rng(0).choice(residuals, (RESAMPLES, judges))
    return max(float(np.median(resampled, axis=1).std()), MIN_ERROR / math.sqrt(judges))


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
