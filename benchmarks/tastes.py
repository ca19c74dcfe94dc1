"""Votes under several criteria of judges who have tastes: coverage of the default and of a given scale, and halves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from common import show, small

import voirdire

MODELS = ("maple-tastes", "maple-position")
TABLES = 1 if small() else 6
JUDGES, ITEMS, CRITERIA, VOTES, ON_CRITERIA = 8, 12, 3, 1200, 40
SPREAD = 2.0  # of items, half of their variance the same under all criteria
COIN = 2.0, 1.1  # mean and sd of the log-odds of coins
TASTES = (0.0, 1.0, 2.0)


class Made(NamedTuple):
    """Votes on items and on criteria, what items are worth over criteria, and judges' reliability."""

    votes: pd.DataFrame
    on_criteria: pd.DataFrame
    scores: pd.Series
    reliability: pd.Series


def table(rng: np.random.Generator, taste: float) -> Made:
    """A table of judges with tastes."""
    strength = SPREAD * np.sqrt(0.5) * (rng.standard_normal(ITEMS) + rng.standard_normal((CRITERIA, ITEMS)))
    own = taste * rng.standard_normal((JUDGES, ITEMS))
    coins = 1 / (1 + np.exp(-rng.normal(*COIN, (JUDGES, 2))))
    weight = rng.standard_normal(CRITERIA)

    def winner(judge: np.ndarray, difference: np.ndarray) -> np.ndarray:
        better = rng.random(len(judge)) < 1 / (1 + np.exp(-difference))
        said = np.where(better, coins[judge, 0], 1 - coins[judge, 1])
        return np.where(rng.random(len(judge)) < said, "first", "second")

    def pairs(count: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = rng.integers(size, size=count)
        second = (first + rng.integers(1, size, size=count)) % size
        return rng.integers(JUDGES, size=count), first, second

    judge, first, second = pairs(VOTES, ITEMS)
    criterion = rng.integers(CRITERIA, size=VOTES)
    difference = strength[criterion, first] - strength[criterion, second]
    difference = difference + own[judge, first] - own[judge, second]
    votes = named(judge, first, second, winner(judge, difference), "i")
    votes["criterion"] = [f"c{c}" for c in criterion]
    judge, first, second = pairs(ON_CRITERIA, CRITERIA)
    on = named(judge, first, second, winner(judge, weight[first] - weight[second]), "c")
    share = np.exp(weight) / np.exp(weight).sum()
    worth = share @ (strength - strength.mean(axis=1, keepdims=True))
    items, judges = [f"i{i}" for i in range(ITEMS)], [f"j{k}" for k in range(JUDGES)]
    return Made(votes, on, pd.Series(worth, items), pd.Series(coins.mean(axis=1), judges))


def named(judge: np.ndarray, first: np.ndarray, second: np.ndarray, winner: np.ndarray, of: str) -> pd.DataFrame:
    names = {"judge": [f"j{k}" for k in judge], "first": [f"{of}{i}" for i in first]}
    return pd.DataFrame({**names, "second": [f"{of}{i}" for i in second], "winner": winner})


def apart(made: Made, model: str) -> tuple[float, float]:
    """Scores of one half of the judges beside those of the others: share within 90%, and sd of z."""
    one = {f"j{k}" for k in range(0, JUDGES, 2)}
    halves = [
        voirdire.fit(*(table[table["judge"].isin(one) == here] for table in made[:2]), model=model)
        .ranking()
        .set_index("item")
        for here in (True, False)
    ]
    a, b = (half.loc[made.scores.index] for half in halves)
    off = (a["score"] - a["score"].mean()) - (b["score"] - b["score"].mean())
    z = off / np.hypot(a["sd"], b["sd"])
    return float((z.abs() < 1.645).mean()), float(z.std())


rows = []
for taste in TASTES:
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in MODELS}
    for seed in range(TABLES):
        made = table(np.random.default_rng((seed, int(10 * taste))), taste)
        for name in MODELS:
            result = voirdire.fit(made.votes, made.on_criteria, model=name)
            items, judges = result.ranking().set_index("item"), result.judges().set_index("judge")
            true = made.scores[items.index]
            right = made.reliability[judges.index]
            covered = ((items["low"] <= true) & (true <= items["high"])).mean()
            known = (judges["reliability_low"] <= right) & (right <= judges["reliability_high"])
            error = np.sqrt(((items["score"] - true) ** 2).mean())
            scale = (items["score"] * true).sum() / (true**2).sum()
            found[name].append((covered, known.mean(), error, scale, *apart(made, name)))
    for name, of_tables in found.items():
        mean = np.mean(of_tables, axis=0)
        error = np.std(of_tables, axis=0, ddof=1 if TABLES > 1 else 0) / np.sqrt(TABLES)
        rows.append(
            {
                "sd of tastes": taste,
                "model": name,
                "coverage of scores": round(float(mean[0]), 3),
                "its standard error": round(float(error[0]), 3),
                "of reliability": round(float(mean[1]), 3),
                "error of scores": round(float(mean[2]), 2),
                "scores, in parts of the truth": round(float(mean[3]), 2),
                "halves of the judges: within 90%": round(float(mean[4]), 3),
                "sd of z": round(float(mean[5]), 2),
            }
        )
notes = [
    f"{TABLES} tables each of {JUDGES} judges, {ITEMS} items, {CRITERIA} criteria, {VOTES:,} votes and {ON_CRITERIA} "
    f"on criteria; items with sd {SPREAD:g}, half of their variance the same under all criteria; log-odds of coins "
    f"with mean {COIN[0]:g} and sd {COIN[1]:g}. Default method, intervals of 90%."
]
show("Tastes: votes under several criteria", rows, notes)
