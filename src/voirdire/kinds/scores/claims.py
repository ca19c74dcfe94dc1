"""Scores that a fit of scores claims."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.claims import Claims
from voirdire.kinds.scores.predict import predict_scores
from voirdire.kinds.scores.problem import ScoresProblem


def claimed_scores(problem: ScoresProblem, posterior: Posterior) -> Claims:
    """Score of every item under each criterion: the mean that the fit expects of the judges who scored it, or pooled.

    The confidence is 1 / (1 + r), r the root mean square of the item's scores about that mean.
    """
    table = problem.table
    width = len(table.items)
    units, unit = np.unique(table.criterion * width + table.item, return_inverse=True)
    count = np.bincount(unit)
    if problem.model.pool == "none":
        answer = np.bincount(unit, predict_scores(problem, posterior, table)["expected"]) / count
    else:
        zero, one = problem.unit
        answer = zero + one * posterior.central_values["strength"].ravel()[units]
    apart = np.sqrt(np.bincount(unit, (table.score - answer[unit]) ** 2) / count)
    about = {
        "criterion": np.array(table.criteria)[units // width],
        "item": np.array(table.items)[units % width],
    }
    taught = np.zeros(len(units), dtype=bool)
    if problem.anchors is not None:
        known = problem.anchors.table
        taught = np.isin(units, known.criterion * width + known.item)
    return Claims(about, answer, 1.0 / (1.0 + apart), taught)
