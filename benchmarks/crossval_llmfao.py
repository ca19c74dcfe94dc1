"""Held-out log loss of the models on LLMFAO."""

from __future__ import annotations

from common import shared, show

from voirdire.fit.crossval import cross_validate

MODELS = ("bradley-terry", "bradley-terry-judge-ties", "crowd-bt", "crowd-bt-position", "bt-sigma", "bt-sigma-position")

table = cross_validate(shared("llmfao_votes.csv"), MODELS, by=("pair", "context"), folds=5, seed=0)
rows = [
    {
        "model": row.model,
        "log loss": round(row.log_loss, 4),
        "se": round(row.se, 4),
        "difference from best": round(row.difference, 4),
        "its se": round(row.difference_se, 4),
        "accuracy": round(row.accuracy, 3),
    }
    for row in table.itertuples()
]
notes = [
    "13,209 votes, 5 folds of (pair, context) groups, MAP of the training folds; standard errors clustered by group."
]
show("Held-out prediction (LLMFAO votes)", rows, notes)
