"""Intervals of votes and scores of the same items, in contexts and under criteria, on truths that no prior draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import shared, show, small
from halves import halves

import voirdire
from voirdire.typing import Floats

JUDGES, ITEMS, TABLES = 6, 10, 24
VOTERS, SCORERS = range(4), range(2, 6)  # two judges do both
TASTE, HERE, SEVERITY, SHARPER = 0.5, 0.8, 0.5, 1.5
LIMITS = np.array([-2.0, -0.7, 0.7, 2.0])
VOTES = {"six contexts": 12, "four criteria": 20, "one question": 60}  # of each judge in each
SPLITS = 2 if small() else 6


def planted(rng: np.random.Generator, what: str) -> tuple[list[pd.DataFrame], Floats]:
    """Votes and scores, and what items are worth (uniform), in log-odds of a score, less their mean."""
    parts = {"six contexts": 6, "four criteria": 4, "one question": 1}[what]
    column = "criterion" if what == "four criteria" else "context"
    worth = rng.uniform(-1.8, 1.8, ITEMS)
    if what == "four criteria":  # differ in what items are worth
        own = [worth + rng.uniform(-1, 1, ITEMS) for _ in range(parts)]
        worth = np.mean(own, axis=0)
    else:
        own = [worth + (parts > 1) * rng.normal(0, HERE, ITEMS) for _ in range(parts)]
    taste = rng.normal(0, TASTE * (1 + (parts == 4)), (JUDGES, ITEMS))
    severity = rng.normal(0, SEVERITY, JUDGES)
    votes, scores = [], []
    for part in range(parts):
        for k in range(JUDGES):
            seen = own[part] + taste[k]
            for _ in range(VOTES[what] * (k in VOTERS)):
                a, b = rng.choice(ITEMS, 2, replace=False)
                first = SHARPER * (seen[a] - seen[b]) + rng.logistic() > 0
                votes.append((f"j{k}", f"p{part}", f"i{a}", f"i{b}", "first" if first else "second"))
            for i in range(ITEMS * (k in SCORERS)):
                level = 1 + int((seen[i] - severity[k] + rng.logistic() > LIMITS).sum())
                scores.append((f"j{k}", f"p{part}", f"i{i}", level))
    tables = [
        pd.DataFrame(votes, columns=["judge", column, "first", "second", "winner"]),
        pd.DataFrame(scores, columns=["judge", column, "item", "score"]),
    ]
    return [t.drop(columns=column) if parts == 1 else t for t in tables], worth - worth.mean()


rows = []
for number, what in enumerate(VOTES):
    for name, model in (("the default", None), ("joint-position", "joint-position")):
        held, errors, widths = [], [], []
        for seed in range(1 if small() else TABLES):
            tables, truth = planted(np.random.default_rng([number, seed]), what)
            fit = voirdire.fit(tables, model=model, levels=[1, 2, 3, 4, 5], seed=0)
            found = fit.ranking().set_index("item").sort_index()
            low, high, score = (found[column].to_numpy() for column in ("low", "high", "score"))
            held.append(float(((low <= truth) & (truth <= high)).mean()))
            widths.append(float((high - low).mean()))
            errors.append(float(np.sqrt(((score - truth) ** 2).mean())))
        error = np.std(held) / np.sqrt(max(len(held) - 1, 1))
        rows.append(
            {
                "table": what,
                "model": f"{name} ({fit.model.name})" if model is None else name,
                "tables": len(held),
                "held by 90% intervals": round(float(np.mean(held)), 3),
                "standard error": None if len(held) == 1 else round(float(error), 3),
                "width": round(float(np.mean(widths)), 2),
                "error": round(float(np.mean(errors)), 3),
            }
        )

votes = pd.read_csv(shared("mtrepro_votes.csv"))[["judge", "context", "first", "second", "winner"]]
scores = pd.read_csv(shared("mtrepro_scores.csv")).rename(columns={"system": "item"})
scores[["context", "turn"]] = scores["context"].str.split("-", expand=True).astype(int)
scores = scores[scores["turn"] == 2].assign(score=lambda t: t["score"].round().astype(int))
scores = scores[["judge", "context", "item", "score"]]


for name in ("joint-contexts", "joint-position"):
    apart = halves([votes, scores], SPLITS, model=name, seed=0)
    rows.append({"table": "mtrepro, halves of the prompts", "model": name, "tables": 2 * SPLITS, **apart})

some = sorted(set(votes["context"]))[: 4 if small() else 20]
asked = [one[one["context"].isin(some)] for one in (votes, scores)]
families = {judge: "Qwen" for judge in votes["judge"].unique() if judge.startswith("Qwen")}
models = ["joint-contexts", "joint-position", voirdire.fit(asked, families=families, method="map").model]
lengths = pd.read_csv(shared("mtrepro_lengths.csv"))
for what, by in (("votes of a pair in a prompt", ["pair", "context"]), ("prompts", ["context"])):
    left_out = voirdire.cross_validate(asked, models, by=by, families=families, folds=4)
    found = left_out.to_dict("records")
    held = voirdire.cross_validate(asked, "joint-contexts", by=by, covariates=lengths, folds=4).iloc[0]
    found.append({"model": "joint-contexts, lengths given", "log_loss": held["log_loss"]})
    for row in found:
        rows.append(
            {
                "table": f"mtrepro, {len(some)} prompts, {what} left out",
                "model": row["model"],
                "tables": 1,
                "log loss": round(row["log_loss"], 3),
            }
            | {
                said: round(row[name], 3)
                for said, name in (("more than the first", "difference"), ("error of that", "difference_se"))
                if name in row
            }
        )

show(
    "Votes and scores of the same items: what 90% intervals hold",
    rows,
    [
        f"Six judges, of whom two vote and score, {ITEMS} items worth -1.8 to 1.8 log-odds of a score; votes are "
        f"{SHARPER} times as sharp. Default method. Error: root mean square, in log-odds.",
        f"mtrepro: votes and scores (second turn) of six judges on six systems in 80 prompts; {SPLITS} random halves "
        "of the prompts by Laplace's method, fitted apart: 90% of items should be within 90%, and sd of z be 1. Halves "
        "of one table are no independent trials. Left out: votes, predicted from the other votes and all scores; with "
        "family:item the three judges of Qwen's are one family; lengths of answers have one effect in votes and "
        "scores.",
    ],
)
