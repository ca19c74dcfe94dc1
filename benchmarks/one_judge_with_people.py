"""One judge under several criteria beside people: coverage of intervals with tastes, the default, and without.

python benchmarks/one_judge_with_people.py [TABLES]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from common import show, small

import voirdire

TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 1 if small() else 6
ITEMS, CRITERIA = 60, 4
SHARES = (0.1,) if small() else (0.1, 0.2, 0.6, 1.0)
LEVELS = {"continuous": (0, 6), "five levels": (1, 2, 3, 4, 5)}
WITHOUT = {"continuous": "rating-continuous", "five levels": "rating-learned"}


def simulated(kind: str, share: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Scores of a judge with tastes, scores of people for a share of the items, and the items' quality in points."""
    rng = np.random.default_rng([seed, list(WITHOUT).index(kind), int(10 * share)])
    quality = rng.permutation(np.linspace(-1.2, 1.2, ITEMS))[:, None] + rng.normal(0, 0.4, (ITEMS, CRITERIA))
    liked = quality + rng.normal(0, 0.64, ITEMS)[:, None]
    scored = rng.permutation(ITEMS)[: round(share * ITEMS)]

    def rows(values: np.ndarray, items: np.ndarray) -> pd.DataFrame:
        score = 3 + values[items] + rng.normal(0, 0.45, (len(items), CRITERIA))
        low, *_, high = LEVELS[kind]
        score = np.clip(score.round(2 if kind == "continuous" else 0), low, high)
        index = pd.MultiIndex.from_product([items.astype(str), list("abcd")], names=["item", "criterion"])
        return pd.Series(score.ravel(), index, name="score").reset_index()

    return rows(liked, np.arange(ITEMS)).assign(judge="judge"), rows(quality, scored), quality.mean(axis=1)


def covered(kind: str, share: float, seed: int, model: str | None) -> tuple[float, float]:
    """Share of items within 90% intervals, and the intervals' mean width relative to the spread of scores."""
    judge, people, quality = simulated(kind, share, seed)
    ranking = voirdire.fit(judge, anchors=people, model=model, levels=LEVELS[kind], seconds=6).ranking()
    score = (ranking["score"] - ranking["score"].mean()).to_numpy()
    true = (quality - quality.mean())[ranking["item"].astype(int)]
    if kind != "continuous":  # log-odds: the unit is that of the scores
        true = true * (score @ true) / (true @ true)
    low, high = (ranking[end] - ranking["score"].mean() for end in ("low", "high"))
    return float(((low <= true) & (true <= high)).mean()), float((high - low).mean() / score.std())


rows: list[dict[str, object]] = []
for kind, without in WITHOUT.items():
    for share in SHARES:
        for model in (None, without):
            held, width = np.array([covered(kind, share, seed, model) for seed in range(TABLES)]).T
            rows.append(
                {
                    "scores": kind,
                    "items that people scored": round(share * ITEMS),
                    "model": "default, with tastes" if model is None else model,
                    "held": round(held.mean(), 3),
                    "error": round(held.std(ddof=1) / np.sqrt(TABLES), 3) if TABLES > 1 else None,
                    "width / sd of scores": round(width.mean(), 2),
                }
            )

show(
    "One judge beside people: coverage of 90% intervals of items' quality",
    rows,
    [
        f"{ITEMS} items at even distances, {CRITERIA} criteria, {TABLES} tables of each kind; the judge's tastes have "
        "the sd 0.64 points, each score an error of 0.45 points. Scores on five levels are compared in the unit "
        "in which the truth fits them best. Default method with 6 seconds."
    ],
)
