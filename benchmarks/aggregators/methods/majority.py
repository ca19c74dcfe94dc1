"""The smoothed shares of the judges' answers; where nobody answered, of answers to the same pair elsewhere."""

from __future__ import annotations

import pandas as pd
from benchmarks.aggregators.methods import CannotError, shares

NAME = "majority"
USES_KNOWN = False


def answer(task):
    if task.labels.empty and task.votes is not None:
        pair = task.votes["first"] + "|" + task.votes["second"]
        counts = pd.crosstab(pair, task.votes["winner"]).reindex(columns=[*task.classes, "tie"], fill_value=0)
        counts = counts[task.classes].add(counts["tie"] / 2, axis=0)
        asked = task.questions["first"] + "|" + task.questions["second"]
        found = shares(counts.reindex(asked.to_numpy(), fill_value=0.0))
        return found.set_axis(task.questions.index)
    if task.labels.empty:
        raise CannotError("nobody has labelled these items")
    return shares(task.counts)


def ranking(votes):
    """Win rates, a tie half a win, each vote independent."""
    won = votes["winner"].map({"first": 1.0, "tie": 0.5, "second": 0.0})
    rows = pd.concat(
        [pd.DataFrame({"item": votes["first"], "won": won}), pd.DataFrame({"item": votes["second"], "won": 1 - won})]
    )
    found = rows.groupby("item")["won"].agg(score="mean", sd="sem")
    return found
