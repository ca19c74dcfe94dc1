"""The judge that is most often right about the known items; how sure, by how often it is right when it says so."""

from __future__ import annotations

import pandas as pd
from benchmarks.aggregators.methods import CannotError, classed, shares

NAME = "best judge by known items"
USES_KNOWN = True


def answer(task):
    if task.known.empty:
        raise CannotError("needs known items")
    said = classed(task)
    asked = said[said["item"].isin(task.known.index)]
    right = pd.Series(asked["label"].to_numpy() == task.known[asked["item"]].to_numpy())
    found = right.groupby(asked["judge"].to_numpy()).agg(["sum", "count"])
    rate = (found["sum"] + 2 / len(task.classes)) / (found["count"] + 2)  # of few answers, nearer to chance
    best = rate.idxmax()
    mine = said[said["judge"] == best].set_index("item")["label"]
    known = task.known[task.known.index.isin(mine.index)]
    when = pd.crosstab(mine[known.index], known).reindex(index=task.classes, columns=task.classes, fill_value=0)
    chance = shares(when.astype(float))
    spread = shares(task.known.value_counts().reindex(task.classes, fill_value=0).to_frame().T.astype(float))
    label = mine.reindex(task.questions.index)
    return chance.reindex(label.to_numpy()).set_axis(task.questions.index).fillna(spread.iloc[0])
