"""Intervals of repeated scores by Laplace, on truths that no prior draws: do they hold what was planted?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.typing import Floats

JUDGES, ITEMS, RUNS = 5, 15, 3
LIMITS = np.array([-2.5, -0.8, 0.8, 2.5])  # of five levels, in log-odds
POINTS, NOISE = 0.12, 0.1  # points of a scale from 0 to 1 that a log-odds is, and the noise of a run there
TABLES = 20
#: Criteria and contexts; in either items have worths of their own, and judges a taste for each item.
CASES = {"one criterion": (1, 1), "four criteria, halo": (4, 1), "six contexts": (1, 6)}


def planted(rng: np.random.Generator, criteria: int, contexts: int, *, between: bool) -> tuple[pd.DataFrame, Floats]:
    """Scores of judges who make of each item under a criterion (in a context) what they make of it in all runs."""
    many = criteria > 1 or contexts > 1
    worth = rng.normal(0, 1, ITEMS) + (criteria > 1) * rng.normal(0, 0.5, (criteria, ITEMS))
    here = (contexts > 1) * rng.normal(0, 0.8, (ITEMS, contexts))
    severity, taste = rng.normal(0, 0.5, JUDGES), many * rng.normal(0, 0.9, (JUDGES, ITEMS))
    own = rng.uniform(0.3, 1.2, JUDGES)[:, None, None, None] * rng.normal(size=(JUDGES, criteria, ITEMS, contexts))
    k, c, i, x, run = (part.ravel() for part in np.indices((*own.shape, RUNS)))
    eta = worth[c, i] + here[i, x] + taste[k, i] + own[k, c, i, x] - severity[k]
    if between:
        score = np.clip(0.5 + POINTS * eta + NOISE * rng.normal(size=len(eta)), 0, 1)
    else:
        score = 1.0 + ((eta + rng.logistic(size=len(eta)))[:, None] > LIMITS).sum(axis=1)
    names = {"judge": k, "item": i, "run": run} | ({"criterion": c} if criteria > 1 else {})
    names |= {"context": x} if contexts > 1 else {}
    table = {name: [f"{name[0]}{code:02d}" for code in codes] for name, codes in names.items()}
    truth = worth.mean(axis=0) - worth.mean()
    return pd.DataFrame({**table, "score": score}), truth * (POINTS if between else 1.0)


rows = []
for between in (False, True):
    for number, (name, shape) in enumerate(CASES.items()):
        shares, models = [], set()
        for seed in range(1 if small() else TABLES):
            table, truth = planted(np.random.default_rng([number, seed]), *shape, between=between)
            fit = voirdire.fit(table, levels=[0, 1] if between else [1, 2, 3, 4, 5], seed=0, method="laplace")
            found = fit.ranking().set_index("item").sort_index()
            off = found["score"].mean()
            shares.append(((found["low"] - off <= truth) & (truth <= found["high"] - off)).mean())
            models.add(fit.model.name)
        error = np.std(shares) / np.sqrt(max(len(shares) - 1, 1))
        rows.append(
            {
                "scores": "between levels" if between else "of five levels",
                "what": name,
                "model": " / ".join(sorted(models)),
                "tables": len(shares),
                "held by 90% intervals": round(float(np.mean(shares)), 3),
                "standard error": None if len(shares) == 1 else round(float(error), 3),
            }
        )

show(
    "Repeated scores: what 90% intervals hold",
    rows,
    [
        f"The default model of each table by Laplace's method. {JUDGES} judges score {ITEMS} items {RUNS} times under "
        "each criterion and in each context; what each makes of an item there has a standard deviation of 0.3 to 1.2 "
        "log-odds, its taste for the item (of several criteria or contexts) 0.9, items 1."
    ],
)
