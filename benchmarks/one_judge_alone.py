"""Votes of one judge alone in unknown order: what models claim, how often wrongly, and how they predict others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.decide import pairs
from voirdire.typing import Floats

ITEMS, NEW, PROMPTS = 8, 400, 40
TRUTHS = ("normal", "two groups", "evenly spaced", "one far ahead")
JUDGES = ("logistic", "right in 85%")
VOTES = (60,) if small() else (15, 60, 250)
REPLICATES, TABLES = (1, 1) if small() else (2, 8)
MODELS = ("learned-crowd-bt", "bradley-terry", "learned-bradley-terry")


def worths(truth: str, rng: np.random.Generator) -> Floats:
    """Worth of the items in log-odds, on no line that a prior would draw but the first."""
    if truth == "normal":
        return rng.normal(0.0, 1.5, ITEMS)
    if truth == "two groups":
        return np.repeat([-1.5, 1.5], ITEMS // 2) + rng.normal(0.0, 0.05, ITEMS)
    if truth == "evenly spaced":
        return np.linspace(-3.0, 3.0, ITEMS)
    return np.array([3.0, *np.zeros(ITEMS - 1)]) + rng.normal(0.0, 0.05, ITEMS)


def votes(worth: Floats, judge: str, size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Votes on random pairs, the judge right by their distance or in a fixed share; worth may be by prompt."""
    first = rng.integers(0, ITEMS, size)
    second = (first + rng.integers(1, ITEMS, size)) % ITEMS
    prompt = np.arange(size) % len(np.atleast_2d(worth))
    gap = np.atleast_2d(worth)[prompt, first] - np.atleast_2d(worth)[prompt, second]
    right = 1.0 / (1.0 + np.exp(-np.abs(gap))) if judge == "logistic" else 0.85
    won = (gap > 0) == (rng.random(size) < right)
    names = np.array([f"i{n}" for n in range(ITEMS)])
    table = pd.DataFrame({"judge": "ann", "first": names[first], "second": names[second]})
    return table.assign(winner=np.where(won, "first", "second"), context=prompt)


def claims(fit: Any, worth: Floats) -> tuple[int, int]:
    """Pairs called distinguishable, and whether any of them is wrong."""
    decision = fit.decide()
    place = [int(name[1:]) for name in decision.items]
    better = np.argwhere(decision.pairs.better)
    return len(better), int(any(worth[place[i]] < worth[place[j]] for i, j in better))


def by_model() -> list[dict[str, object]]:
    """Tables without prompts, of which the default was learned-crowd-bt."""
    rows: list[dict[str, object]] = []
    for size in VOTES:
        found = {model: np.zeros(3) for model in MODELS}
        cases = [(t, j, r) for t in TRUTHS for j in JUDGES for r in range(REPLICATES)]
        for number, (truth, judge, _) in enumerate(cases):
            rng = np.random.default_rng([size, number])
            worth = worths(truth, rng)
            table = votes(worth, judge, size, rng).drop(columns="context")
            new = votes(worth, judge, NEW, rng).drop(columns="context")
            new = new[new[["first", "second"]].isin({*table["first"], *table["second"]}).all(axis=1)]
            for model in MODELS:
                fit = voirdire.fit(table, model=model, order="unknown", seed=0)
                said = fit.predict(new)
                p = np.where(new["winner"] == "first", said["p_first"], said["p_second"])
                found[model] += [*claims(fit, worth), -np.log(p).mean()]
        rows += [
            {
                "votes": size,
                "model": model,
                "tables": len(cases),
                "pairs claimed": int(total[0]),
                "tables with a wrong one": int(total[1]),
                "log loss of new votes": round(total[2] / len(cases), 3),
            }
            for model, total in found.items()
        ]
    return rows


def in_prompts() -> list[dict[str, object]]:
    """Tables with prompts, whose default has a coin: by the rule, and with turned draws left among the others."""
    kept = pairs._mirrored_draws
    total = {"by the rule": np.zeros(2), "draws turned round left in": np.zeros(2)}
    for number in range(TABLES):
        rng = np.random.default_rng([7, number])
        worth = worths(TRUTHS[number % len(TRUTHS)], rng)
        table = votes(worth + 0.7 * rng.normal(size=(PROMPTS, ITEMS)), "logistic", 800, rng)
        fit = voirdire.fit(table, order="unknown", seed=0)
        total["by the rule"] += claims(fit, worth)
        pairs._mirrored_draws = lambda draws: np.zeros(len(draws), dtype=bool)
        total["draws turned round left in"] += claims(fit, worth)
        pairs._mirrored_draws = kept
    return [
        {
            "votes": 800,
            "model": f"default with prompts, {name}",
            "tables": TABLES,
            "pairs claimed": int(of[0]),
            "tables with a wrong one": int(of[1]),
        }
        for name, of in total.items()
    ]


show(
    "One judge alone, order unknown",
    [*by_model(), *in_prompts()],
    [
        "Worths of eight items: normal, in two groups, evenly spaced, one far ahead; a judge that is right with the "
        "logistic function of the difference, or in 85% of all pairs. Claimed: called distinguishable by decide()."
    ],
)
