"""The mean score: of levels, a normal around it with the spread within items; of two sides, by the mean difference."""

from __future__ import annotations

import numpy as np
import pandas as pd
from benchmarks.aggregators.methods import CannotError, sides

NAME = "mean"
USES_KNOWN = False


def answer(task):
    if task.scores is None:
        raise CannotError("labels are no numbers")
    scores = task.scores[task.scores["item"].isin(task.questions.index)]
    if task.votes is not None:
        # each judge's differences in its own unit, then their mean in its own
        unit = scores.groupby("judge")["score"].transform("std").replace(0, 1)
        ahead = (scores["score"] / unit).groupby(scores["item"]).mean().reindex(task.questions.index, fill_value=0.0)
        return sides(task, 1 / (1 + np.exp(-1.7 * ahead / ahead.std())))
    by_item = scores.groupby("item")["score"]
    spread = np.sqrt(by_item.var().mean())
    middle = by_item.mean().reindex(task.questions.index).to_numpy()[:, None]
    log = -0.5 * ((np.array([float(c) for c in task.classes]) - middle) / spread) ** 2
    p = np.exp(log - log.max(axis=1, keepdims=True))
    return pd.DataFrame(p / p.sum(axis=1, keepdims=True), task.questions.index, task.classes)
