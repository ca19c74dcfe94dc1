"""Shares of answers weighed by how much better than chance judges are on the known items."""

from __future__ import annotations

import pandas as pd
from benchmarks.aggregators.methods import CannotError, classed

NAME = "weighted majority"
USES_KNOWN = True


def answer(task):
    if task.known.empty:
        raise CannotError("needs known items")
    said, chance = classed(task), 1 / len(task.classes)
    asked = said[said["item"].isin(task.known.index)]
    right = (asked["label"].to_numpy() == task.known[asked["item"]].to_numpy()).astype(float)
    found = pd.Series(right).groupby(asked["judge"].to_numpy()).agg(["sum", "count"])
    rate = (found["sum"] + 2 * chance) / (found["count"] + 2)  # as good as chance, twice
    weight = said["judge"].map((rate - chance).clip(lower=0)).fillna(0.0) + 1e-3
    counts = weight.groupby([said["item"], said["label"]]).sum().unstack(fill_value=0.0)
    counts = counts.reindex(index=task.questions.index, columns=task.classes, fill_value=0.0)
    scale = len(said) / task.questions.shape[0] / counts.sum(axis=1).mean()  # as many votes as there were
    counts = counts * scale
    return (counts + chance).div(counts.sum(axis=1) + 1, axis=0)
