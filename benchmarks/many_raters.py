"""Mode and intervals of ratings by thousands of people: 36,000 comments, nine ratings each, 11,000 raters."""

from __future__ import annotations

import resource

import numpy as np
import pandas as pd
from common import show, small, timed

from voirdire import fit

ITEMS, RATERS, SEED = (1_000, 400, 0) if small() else (36_000, 11_000, 0)


def simulated() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Ratings from 1 to 5, worths of items, and severities of raters."""
    rng = np.random.default_rng(SEED)
    worth, severity = rng.normal(0, 1.2, ITEMS), rng.normal(0, 0.7, RATERS)
    slope = rng.lognormal(0, 0.3, RATERS)
    slope /= np.sqrt(np.mean(slope**2))
    item, rater = np.repeat(np.arange(ITEMS), 9), rng.integers(0, RATERS, 9 * ITEMS)
    seen = slope[rater] * worth[item] - severity[rater] + rng.logistic(size=len(item))
    score = 1 + (seen[:, None] > np.array([-2.0, -0.7, 0.7, 2.0])).sum(axis=1)
    table = pd.DataFrame({"judge": rater, "item": item, "score": score}).drop_duplicates(["judge", "item"])
    names = {"judge": "r" + table["judge"].astype(str), "item": "i" + table["item"].astype(str)}
    return table.assign(**names), worth, severity


def within(shown: pd.DataFrame, truth: pd.Series) -> float:
    known = truth[shown.iloc[:, 0]].to_numpy()
    return round(float(((shown["low"] <= known) & (known <= shown["high"])).mean()), 3)


table, worth, severity = simulated()
rows = []
for model in ("rating-severity", "rating-discrimination"):
    seconds, found = timed(lambda model=model: fit(table, model=model))
    items, judges = found.ranking(), found.judges()
    truth = pd.Series(worth - worth.mean(), index=[f"i{n}" for n in range(ITEMS)])
    known = truth[items["item"]].to_numpy()
    of_raters = pd.Series(severity - severity.mean(), index=[f"r{n}" for n in range(RATERS)])
    severe = judges[["judge", "severity", "severity_low", "severity_high"]].set_axis(
        ["judge", "severity", "low", "high"], axis=1
    )
    rows.append(
        {
            "model": model,
            "ratings": len(table),
            "fit, s": round(seconds, 1),
            "peak, GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1),
            "correlation with the truth": round(float(np.corrcoef(items["score"], known)[0, 1]), 3),
            "items within 90%": within(items, truth),
            "raters' severities within 90%": within(severe, of_raters),
        }
    )
show(
    "Ratings by thousands of people (simulated)",
    rows,
    ["Slopes of raters are lognormal with sd 0.3; severities have sd 0.7."],
)
