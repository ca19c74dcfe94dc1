"""Held-out votes of public panels, with and without effects of position in the sum of terms."""

from __future__ import annotations

import warnings

from common import shared, show, small

import voirdire

DEFAULT = "crowd-bt-contexts"
TERMS = ("position:item", "position:context", "position:judge", "position:judge + position:judge:context")
FOLDS = 5

rows: list[dict[str, object]] = []
for name in ("mtrepro_votes.csv",) if small() else ("mtrepro_votes.csv", "llmfao_votes.csv"):
    table = shared(name)
    asked = TERMS[:1] if small() else TERMS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fits = [voirdire.fit(table, terms=f"item + item:context + {term}", method="map") for term in asked]
        models = [DEFAULT, *(fit.problem.model for fit in fits)]
        compared = voirdire.cross_validate(table, models, by=("pair", "context"), folds=2 if small() else FOLDS)
    by_model = compared.set_index("model")
    for model in by_model.index:
        rows.append(
            {
                "table": name,
                "model": model,
                "log loss": round(float(by_model.loc[model, "log_loss"]), 4),
                "more than the least": round(float(by_model.loc[model, "difference"]), 4),
                "its standard error": round(float(by_model.loc[model, "difference_se"]), 4),
                "accuracy": round(float(by_model.loc[model, "accuracy"]), 3),
            }
        )
notes = [f"{FOLDS} folds by pair and context; modes predict. {DEFAULT} is the default's model, item + item:context."]
show("Effects of position in held-out votes (mtrepro, LLMFAO)", rows, notes)
