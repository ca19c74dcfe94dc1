"""Intervals of scores between levels by default, on truths that no prior draws: do they hold what was planted?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from common import show, small

import voirdire
from voirdire.kinds.scores.systems import system_draws
from voirdire.typing import Floats

ENDS = [0, 1]


def scored(score: Floats, **about: Floats) -> pd.DataFrame:
    """A table of scores of any shape, cut off at the ends, with what each is about."""
    names = {name: [f"{name[0]}{code:02d}" for code in codes.ravel()] for name, codes in about.items()}
    return pd.DataFrame({**names, "score": np.clip(score, 0, 1).ravel()})


def held(ranking: pd.DataFrame, truth: Floats, *, level: bool) -> Floats:
    """Which intervals of items hold the truth, as it is or from its mean."""
    found = ranking.set_index("item").sort_index()
    off = 0.0 if level else found["score"].mean() - truth.mean()
    return np.asarray((found["low"] - off <= truth) & (truth <= found["high"] - off), dtype=float)


def systems_of_one_judge(rng: np.random.Generator) -> Floats:
    """Differences of six systems over 30 contexts that differ for all, scatter of heavy tails."""
    worth = rng.normal(0, 0.08, 6)
    system, context = np.indices((6, 30))
    score = 0.6 + worth[:, None] + rng.normal(0, 0.08, 30) + 0.08 * rng.standard_t(5, (6, 30))
    table = scored(score, system=system, context=context).assign(judge="metric")
    fit = voirdire.fit(table, levels=ENDS, seed=0)
    drawn = system_draws(fit.problem, fit.posterior)
    i, j = np.triu_indices(6, 1)
    low, high = np.quantile(drawn[:, i] - drawn[:, j], [0.05, 0.95], axis=0)
    apart = worth[i] - worth[j]
    return np.asarray((low <= apart) & (apart <= high), dtype=float)


def items_of_one_judge(rng: np.random.Generator) -> Floats:
    """Forty items with one score each."""
    truth = 0.5 + rng.normal(0, 0.12, 40)
    table = scored(truth + rng.normal(0, 0.08, 40), item=np.arange(40)).assign(judge="metric")
    return held(voirdire.fit(table, levels=ENDS, seed=0).ranking(), truth, level=True)


def new_contexts(rng: np.random.Generator) -> Floats:
    """Eight items in 20 contexts of heavy tails by four judges with tastes and unequal noise."""
    judge, item, context = np.indices((4, 8, 20))
    truth, noise = rng.normal(0, 0.12, 8), rng.uniform(0.05, 0.15, (4, 1, 1))
    more = 0.07 * rng.standard_t(4, (8, 20)) + rng.normal(0, 0.06, (4, 8, 1)) - rng.normal(0, 0.05, (4, 1, 1))
    score = 0.5 + truth[:, None] + more + noise * rng.normal(size=judge.shape)
    table = scored(score, judge=judge, item=item, context=context)
    return held(voirdire.fit(table, levels=ENDS, seed=0).ranking(), truth, level=False)


def repeated_scores(rng: np.random.Generator) -> Floats:
    """Thirty items by four judges, each item thrice."""
    judge, item, run = np.indices((4, 30, 3))
    truth, severity = rng.normal(0, 0.12, 30), rng.normal(0, 0.04, (4, 1, 1))
    own = rng.normal(0, 0.08, (4, 30, 1))
    score = 0.5 + truth[:, None] + own - severity + rng.normal(0, 0.06, judge.shape)
    table = scored(score, judge=judge, item=item, run=run)
    return held(voirdire.fit(table, levels=ENDS, seed=0).ranking(), truth, level=False)


def people_beside_tastes(rng: np.random.Generator) -> Floats:
    """Thirty items by four judges with halo under four criteria, and six scores of people."""
    judge, item, criterion = np.indices((4, 30, 4))
    worth = rng.normal(0, 0.1, 30)[:, None] + rng.normal(0, 0.06, (30, 4))
    score = 0.5 + worth + rng.normal(0, 0.08, (4, 30, 1)) + 0.08 * rng.normal(size=judge.shape)
    table = scored(score, judge=judge, item=item, criterion=criterion)
    asked, under = np.arange(6), rng.integers(0, 4, 6)
    people = scored(0.45 + worth[asked, under] + 0.1 * rng.normal(size=6), item=asked, criterion=under)
    fit = voirdire.fit(table, anchors=people, levels=ENDS, seed=0, about="panel")
    return held(fit.ranking(), worth.mean(axis=1), level=False)


CASES: dict[str, tuple[Callable[[np.random.Generator], Floats], int]] = {
    "differences of systems, one judge": (systems_of_one_judge, 30),
    "items, one judge": (items_of_one_judge, 40),
    "items over new contexts": (new_contexts, 40),
    "items, repeated scores": (repeated_scores, 30),
    "items, halo and six human scores": (people_beside_tastes, 60),
}

rows = []
for number, (name, (case, tables)) in enumerate(CASES.items()):
    count = 1 if small() else tables
    shares = [float(case(np.random.default_rng([number, table])).mean()) for table in range(count)]
    error = np.std(shares) / np.sqrt(max(count - 1, 1))
    rows.append(
        {
            "what": name,
            "tables": count,
            "held by 90% intervals": round(float(np.mean(shares)), 3),
            "standard error": None if count == 1 else round(float(error), 3),
        }
    )

show(
    "Scores between levels by default: what 90% intervals hold",
    rows,
    ["Scatter of contexts has heavy tails, and of one judge no prior says how much of it is noise."],
)
