"""Votes in contexts: LLMFAO's held-out votes and halves of its prompts, and coverage in simulated tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import folds, shared, show
from halves import halves

import voirdire
from voirdire.kinds.registry import find_kind
from voirdire.kinds.request import Request
from voirdire.model.specs import load_model
from voirdire.tables.votes import read_votes

MODELS = ("crowd-bt-contexts", "crowd-bt-position", "bradley-terry-judge-ties")
UNORDERED = ("unordered-crowd-bt-contexts", "learned-crowd-bt")  # which do not know what was shown first
SPLITS, TABLES, FOLDS = 12, 6, 5
ITEMS, CONTEXTS, JUDGES, VOTES = 20, 12, 10, 3000


def held_out(table: pd.DataFrame, model: str) -> dict[str, object]:
    """Log loss and accuracy of folds by (pair, context)."""
    votes = read_votes(table)
    fold = folds(votes, FOLDS)
    spec, kind = load_model(model), find_kind("votes")
    seen = [kind.score_held_out(spec, votes, fold == number, Request()) for number in range(FOLDS)]
    log, right = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    return {
        "what": "held-out votes",
        "model": model,
        "log loss": round(float(-log.mean()), 4),
        "accuracy": round(float(right.mean()), 3),
    }


def simulated(spread: float, model: str) -> dict[str, object]:
    """Coverage of scores and reliability where items differ between contexts by ``spread``."""
    scores, judges, learned = [], [], []
    for seed in range(TABLES):
        rng = np.random.default_rng(100 + seed)
        theta, u = rng.normal(0, 1.5, ITEMS), rng.normal(0, spread, (ITEMS, CONTEXTS))
        coins = 1 / (1 + np.exp(-rng.normal(2, 1.1, (2, JUDGES))))
        first = rng.integers(0, ITEMS, VOTES)
        second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
        judge, context = rng.integers(0, JUDGES, VOTES), rng.integers(0, CONTEXTS, VOTES)
        d = theta[first] - theta[second] + u[first, context] - u[second, context]
        better = 1 / (1 + np.exp(-d))
        chance = coins[0, judge] * better + (1 - coins[1, judge]) * (1 - better)
        table = pd.DataFrame(
            {
                "judge": [f"j{k:02}" for k in judge],
                "first": [f"i{i:02}" for i in first],
                "second": [f"i{i:02}" for i in second],
                "context": [f"c{x:02}" for x in context],
                "winner": np.where(rng.random(VOTES) < chance, "first", "second"),
            }
        )
        result = voirdire.fit(table, model=model)
        items, found = result.ranking().sort_values("item"), result.judges().sort_values("judge")
        truth, right = theta - theta.mean(), coins.mean(axis=0)
        scores.append(((items["low"] <= truth) & (truth <= items["high"])).mean())
        judges.append(((found["reliability_low"] <= right) & (right <= found["reliability_high"])).mean())
        if model == "crowd-bt-contexts":
            learned.append(result.spreads().set_index("name").loc["context", "value"])
    return {
        "what": f"simulated, sd between contexts {spread}",
        "model": model,
        "coverage of scores": round(float(np.mean(scores)), 3),
        "of reliability": round(float(np.mean(judges)), 3),
        "sd found": round(float(np.mean(learned)), 2) if learned else None,
    }


table = pd.read_csv(shared("llmfao_votes.csv"))
rows = [held_out(table, model) for model in (*MODELS, *UNORDERED)]
rows += [
    {"what": "halves of the prompts", "model": model, **halves(table, SPLITS, model=model)} for model in MODELS[:2]
]
rows += [simulated(spread, model) for spread in (0.0, 0.7, 1.5) for model in MODELS[:2]]
columns = dict.fromkeys(key for row in rows for key in row)
rows = [{key: row.get(key) for key in columns} for row in rows]
notes = [
    f"LLMFAO: 13,209 votes of 126 judges on 59 models and 13 prompts; {FOLDS} folds by pair and prompt, fits by their "
    f"mode; {SPLITS} random halves of the prompts.",
    f"Simulated: {TABLES} tables of {ITEMS} items, {CONTEXTS} contexts, {JUDGES} judges and {VOTES:,} votes, strengths "
    "with sd 1.5, log-odds of coins with mean 2 and sd 1.1; 90% intervals by the default method.",
]
show("Votes in contexts (LLMFAO, simulated)", rows, notes)
