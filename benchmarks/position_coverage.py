"""Intervals of scores where effects of position differ by item, or by judge and context: the default and with terms."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.typing import Floats

TABLES = 20
JUDGES, ITEMS, CONTEXTS = 6, 8, 30
PAIRS = 1_000  # pairs shown in both orders; twice as many in one order
CHECKS = "item-position", "judge-position", "context-position"
#: Effect, its sd in log-odds (of judges, and of judges in contexts), terms that have it.
EFFECTS = (
    ("none", 0.0, 0.0, "position:item"),
    ("none", 0.0, 0.0, "position:judge"),
    ("none", 0.0, 0.0, "position:judge + position:judge:context"),
    ("item", 1.2, 0.0, "position:item"),
    ("judge", 0.8, 0.0, "position:judge"),
    ("judge", 1.5, 0.0, "position:judge"),
    ("judge:context", 1.0, 1.1, "position:judge + position:judge:context"),
    ("judge:context", 1.0, 2.0, "position:judge + position:judge:context"),
)


def drawn(rng: np.random.Generator, effect: str, sd: float, within: float, both_orders: bool) -> pd.DataFrame:
    """Votes on items at even distances, whose values differ by context (sd 0.7)."""
    strength = np.linspace(-1.5, 1.5, ITEMS)[:, None] + rng.normal(0.0, 0.7, (ITEMS, CONTEXTS))
    gain = sd * rng.normal(size=ITEMS) * (effect == "item")
    shift = (sd * rng.normal(size=(JUDGES, 1)) + within * rng.normal(size=(JUDGES, CONTEXTS))) * (effect != "item")
    count = PAIRS if both_orders else 2 * PAIRS
    first = rng.integers(ITEMS, size=count)
    second = (first + rng.integers(1, ITEMS, count)) % ITEMS
    judge, context = rng.integers(JUDGES, size=count), rng.integers(CONTEXTS, size=count)
    if both_orders:
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
        judge, context = np.tile(judge, 2), np.tile(context, 2)
    d = strength[first, context] - strength[second, context] + 0.5 * (gain[first] + gain[second])
    winner = np.where(rng.random(len(d)) < 1.0 / (1.0 + np.exp(-d - shift[judge, context])), first, second)
    items = {"first": first, "second": second, "winner": winner}
    names = {name: np.char.add("i", code.astype(str)) for name, code in items.items()}
    codes = {"judge": np.char.add("j", judge.astype(str)), "context": np.char.add("c", context.astype(str))}
    return pd.DataFrame(codes | names)


def held(fit: voirdire.Fit) -> tuple[float, float]:
    """Share of 90% intervals with the truth, and slope of the scores on the truth."""
    table = fit.ranking().sort_values("item")
    truth: Floats = np.linspace(-1.5, 1.5, ITEMS)
    low, high, score = (table[name].to_numpy(dtype=float) for name in ("low", "high", "score"))
    return float(((low <= truth) & (truth <= high)).mean()), float(score @ truth / (truth @ truth))


rows = []
count = 1 if small() else TABLES
for number, (effect, sd, within, terms) in enumerate(EFFECTS):
    for both_orders in (True, False):
        results: dict[str, list[tuple[float, float]]] = {"default": [], terms: []}
        fired: list[str] = []
        for seed in range(count):
            table = drawn(np.random.default_rng([seed, number, both_orders]), effect, sd, within, both_orders)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                default = voirdire.fit(table, method="laplace")
                other = voirdire.fit(table, terms=f"item + item:context + {terms}", method="laplace")
            results["default"].append(held(default))
            results[terms].append(held(other))
            fired += [entry.check for entry in default.all_checks if entry.check in CHECKS]
        for model, found in results.items():
            share = np.array(found)
            rows.append(
                {
                    "effect by": effect,
                    "sd; sd in contexts": f"{sd}; {within}",
                    "orders": "both" if both_orders else "one at random",
                    "model": model if model == "default" else f"+ {model}",
                    "tables": count,
                    "held": round(float(share[:, 0].mean()), 3),
                    "standard error": round(float(share[:, 0].std() / np.sqrt(count)), 3),
                    "slope on the truth": round(float(share[:, 1].mean()), 2),
                    "checks": "; ".join(f"{name} {fired.count(name) / count:.2f}" for name in CHECKS if name in fired)
                    if model == "default"
                    else "",
                }
            )
show(
    "Scores where effects of position differ by item, or by judge and context",
    rows,
    [
        f"{JUDGES} judges, {ITEMS} items, {CONTEXTS} contexts, 2,000 votes. Held: 90% intervals with the truth.",
        "Checks: share of tables in which each fires.",
    ],
)
