"""Scores left out: the default, which learns how far items are apart, beside a given spread (VOIRDIRE_SHARED)."""

from __future__ import annotations

import pandas as pd
from common import shared, show

import voirdire
from voirdire.kinds.scores.terms import with_learned_spread
from voirdire.model.specs import load_model
from voirdire.tables.scores import read_scores

FOLDS = 5
MODELS = ["rating-learned", "rating-severity"]
TABLES = ("newsroom_scores.csv", "dialsum_scores.csv")

rows = []
for file in TABLES:
    table = pd.read_csv(shared(file))
    for criterion, one in table.groupby("criterion"):
        found = voirdire.cross_validate(one.drop(columns="criterion"), MODELS, folds=FOLDS, seed=1)
        found = found.set_index("model")
        learned, given = (found.loc[name] for name in MODELS)
        model = with_learned_spread(load_model("rating-severity"), read_scores(one.drop(columns="criterion")))
        some = voirdire.cross_validate(one.drop(columns="criterion"), [model], folds=FOLDS, seed=1)
        rows.append(
            {
                "table": file,
                "criterion": criterion,
                "scores": len(one),
                "rating-learned": learned["log_loss"],
                "rating-severity": given["log_loss"],
                "rating-severity, learned from some": some["log_loss"].iloc[0],
                "standard deviation learned": model.sections["strength"].numbers["sd"],
                "difference": given["difference"] - learned["difference"],
                "standard error": max(given["difference_se"], learned["difference_se"]),
            }
        )
show(
    "Scores left out: how far items are apart learned, or given (tables of VOIRDIRE_SHARED)",
    rows,
    [
        f"Log loss of a score, {FOLDS} folds of judge and item; the difference is that of the given spread above. "
        "Learned from some: as in the default of large tables, once from 300 items of the whole table."
    ],
)
