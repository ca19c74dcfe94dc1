"""Intervals where judges of named families share what they make of an item, on truths that no prior draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.typing import Floats

FAMILIES = {"j0": "f", "j1": "f", "j2": "f", "j3": "f", "j4": "g", "j5": "g"}  # j6 and j7 are of none
JUDGES, ITEMS, CONTEXTS, TABLES = 8, 12, 4, 16
SHARED, HERE = 0.8, 0.4  # standard deviation of what families share, and of contexts, in log-odds
POINTS, NOISE = 0.12, 0.1  # points of a scale from 0 to 1 that a log-odds is, and the noise of a score
VOTES = 30  # of each judge in a context
COLUMNS = {
    "votes": ["first", "second", "winner"],
    "rankings": ["item", "rank"],
    "scores between levels": ["item", "score"],
}


def planted(rng: np.random.Generator, kind: str, contexts: int) -> tuple[pd.DataFrame, Floats]:
    """Answers of the panel, and what items are worth (uniform), in log-odds from their mean."""
    items = [f"i{n:02d}" for n in range(ITEMS)]
    worth = rng.uniform(-1.5, 1.5, ITEMS)
    error = {family: rng.normal(0, SHARED, ITEMS) for family in ("f", "g")}
    rows = []
    for context in range(contexts):
        here = (contexts > 1) * rng.normal(0, HERE, ITEMS)
        for k in range(JUDGES):
            eta = worth + here + error.get(FAMILIES.get(f"j{k}", ""), np.zeros(ITEMS))
            if kind == "votes":
                pairs = [rng.choice(ITEMS, 2, replace=False) for _ in range(VOTES)]
                won = [a if eta[a] - eta[b] + rng.logistic() > 0 else b for a, b in pairs]
                answers = [(items[a], items[b], items[w]) for (a, b), w in zip(pairs, won, strict=True)]
            elif kind == "rankings":
                rank = np.argsort(np.argsort(-(eta + rng.gumbel(size=ITEMS)))) + 1
                answers = list(zip(items, rank.tolist(), strict=True))
            else:
                score = np.clip(0.5 + POINTS * eta + NOISE * rng.normal(size=ITEMS), 0, 1)
                answers = list(zip(items, score.tolist(), strict=True))
            rows += [(f"j{k}", f"c{context}", *answer) for answer in answers]
    table = pd.DataFrame(rows, columns=["judge", "context", *COLUMNS[kind]])
    return (table if contexts > 1 else table.drop(columns="context")), worth - worth.mean()


rows = []
for number, kind in enumerate(COLUMNS):
    between = kind.startswith("scores")
    for contexts in (1, CONTEXTS):
        held: dict[str, list[float]] = {"named": [], "not named": []}
        errors: dict[str, list[float]] = {"named": [], "not named": []}
        for seed in range(1 if small() else TABLES):
            table, truth = planted(np.random.default_rng([number, contexts, seed]), kind, contexts)
            for way, families in (("named", FAMILIES), ("not named", {})):
                scale = {"levels": [0, 1]} if between else {}
                fit = voirdire.fit(table, families=families, method="laplace", seed=0, **scale)
                found = fit.ranking().set_index("item").sort_index()
                unit, off = (POINTS if between else 1.0), found["score"].mean()
                low, high, score = (((found[name] - off) / unit).to_numpy() for name in ("low", "high", "score"))
                held[way].append(float(((low <= truth) & (truth <= high)).mean()))
                errors[way].append(float(np.sqrt(((score - truth) ** 2).mean())))
        count = len(held["named"])
        error = np.std(held["named"]) / np.sqrt(max(count - 1, 1))
        rows.append(
            {
                "answers": kind,
                "contexts": contexts,
                "tables": count,
                "held by 90% intervals": round(float(np.mean(held["named"])), 3),
                "standard error": None if count == 1 else round(float(error), 3),
                "held, families not named": round(float(np.mean(held["not named"])), 3),
                "error": round(float(np.mean(errors["named"])), 3),
                "error, not named": round(float(np.mean(errors["not named"])), 3),
            }
        )

show(
    "Named families: what 90% intervals hold",
    rows,
    [
        f"The default model of each table by Laplace's method. Of {JUDGES} judges four are of one family and two of "
        f"another; what a family makes of an item in common has a standard deviation of {SHARED} log-odds, {ITEMS} "
        "items are worth -1.5 to 1.5. Not named: every judge is taken as independent (families={}). Error: root mean "
        "square, in log-odds."
    ],
)
