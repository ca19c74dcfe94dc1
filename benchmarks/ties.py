"""Ties at random: coverage of intervals with and without these votes, and warnings of the check.

python benchmarks/ties.py [TABLES]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from common import shared, show, small

import voirdire

TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 2 if small() else 12
ITEMS, JUDGES = 10, 5
SIZES = (300,) if small() else (300, 3000)
DAVIDSON = 0.5
KINDS: dict[str, float | None] = {"none": 0.0, "Davidson's": None, "5%": 0.05, "15%": 0.15, "30%": 0.3}
REAL = ("mtrepro_votes.csv", "llmfao_votes.csv")


def simulated(kind: str, size: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Votes on items at even distances, which no prior of the models would draw, and the items' strengths."""
    rng = np.random.default_rng([seed, size, list(KINDS).index(kind)])
    strength = rng.permutation(np.linspace(-2.2, 2.2, ITEMS))
    accuracy = rng.uniform(0.75, 0.98, JUDGES)
    judge = rng.integers(0, JUDGES, size)
    first = rng.integers(0, ITEMS, size)
    second = (first + rng.integers(1, ITEMS, size)) % ITEMS
    gap = strength[first] - strength[second]
    share = KINDS[kind]
    tie = rng.random(size) < (DAVIDSON / (DAVIDSON + 2 * np.cosh(gap / 2)) if share is None else share)
    preferred = 1 / (1 + np.exp(-gap))
    p = accuracy[judge] * preferred + (1 - accuracy[judge]) * (1 - preferred)
    winner = np.where(tie, "tie", np.where(rng.random(size) < p, "first", "second"))
    names = {"judge": judge, "first": first, "second": second}
    return pd.DataFrame(names).astype(str).assign(winner=winner), strength


def covered(votes: pd.DataFrame, strength: np.ndarray, method: str) -> tuple[float, float, bool]:
    """Share of items within 90% intervals, slope of scores on strengths, and whether the check warns."""
    fit = voirdire.fit(votes, method=method, seconds=4)
    ranking = fit.ranking()
    true = strength[ranking["item"].astype(int)] - strength.mean()
    within = ((ranking["low"] <= true) & (true <= ranking["high"])).mean()
    return float(within), float(np.polyfit(true, ranking["score"], 1)[0]), "ties" in set(fit.checks()["check"])


rows: list[dict[str, object]] = []
for size in SIZES:
    for kind in KINDS:
        results = []
        for seed in range(TABLES):
            votes, strength = simulated(kind, size, seed)
            method = "auto" if size == SIZES[0] else "laplace"
            without = votes[votes["winner"] != "tie"]
            others = (np.nan, np.nan, False) if kind == "none" else covered(without, strength, method)
            results.append((*covered(votes, strength, method), *others[:2]))
        held, slope, warned, held_without, slope_without = np.array(results, dtype=float).T
        row = {
            "ties": kind,
            "votes": size,
            "tables": TABLES,
            "held": round(held.mean(), 3),
            "slope": round(slope.mean(), 2),
        }
        row["error"] = round(held.std(ddof=1) / np.sqrt(TABLES), 3)
        if kind != "none":
            row |= {
                "held without ties": round(held_without.mean(), 3),
                "slope without ties": round(slope_without.mean(), 2),
                "check warns": round(warned.mean(), 2),
            }
        rows.append(row)


def left_out(name: str) -> dict[str, object]:
    """Log loss of a fifth of a table's decided votes, predicted from the others with and without its ties."""
    votes = pd.read_csv(shared(name), dtype=str)
    decided = np.flatnonzero(votes["winner"] != "tie")
    hidden = np.random.default_rng(0).permutation(decided)[: len(decided) // 5]
    rest, asked = votes.drop(index=hidden), votes.iloc[hidden]
    losses, warned = [], False
    for table in (rest, rest[rest["winner"] != "tie"]):
        fit = voirdire.fit(table, method="laplace")
        p = fit.predict(asked)
        chosen = np.where(asked["winner"] == "first", p["p_first"], p["p_second"])
        losses.append(-np.log(chosen / (p["p_first"] + p["p_second"])))
        warned = warned or "ties" in set(fit.checks()["check"])
    change = losses[1] - losses[0]
    return {
        "ties": f"{name.partition('_')[0]} (real)",
        "votes": len(votes),
        "check warns": float(warned),
        "log loss of decided votes": round(losses[0].mean(), 3),
        "more without ties": round(change.mean(), 4),
        "error of that": round(change.std(ddof=1) / np.sqrt(len(change)), 4),
    }


rows += [left_out(name) for name in REAL]

show(
    "Ties at random: coverage of 90% intervals",
    rows,
    [
        f"{JUDGES} judges, {ITEMS} items at even distances from -2.2 to 2.2 log-odds. Davidson's: P(tie) by his model "
        f"with {DAVIDSON}; 5 to 30%: at random. Default model; 300 votes by the default method with 4 seconds, 3,000 "
        "by Laplace's. Without ties: the same tables without the votes that are ties. Real tables: a fifth of the "
        "decided votes left out, and predicted given that they are decided."
    ],
)
