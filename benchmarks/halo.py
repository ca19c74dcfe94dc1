"""Scores under several criteria: halves of the judges and coverage, and Newsroom's scores left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import shared, show

import voirdire
from voirdire.infer.posterior import normalised_weights
from voirdire.kinds.scores.systems import shrinkage_removal

MODELS = ("rating-halo", "rating-severity")
TABLES = 12
JUDGES, ITEMS, CRITERIA, LEVELS = 12, 20, 6, 5
TASTES = (0.0, 0.9, 1.8, 2.8)  # sd of a judge's taste: residual correlation 0, .2, .5 and .7


def scores(rng: np.random.Generator, taste: float) -> tuple[pd.DataFrame, pd.Series]:
    """A table of scores and what each item is worth, less the mean."""
    strength = np.sqrt(0.5) * (rng.standard_normal(ITEMS) + rng.standard_normal((CRITERIA, ITEMS)))
    own, severity = taste * rng.standard_normal((JUDGES, ITEMS)), 0.7 * rng.standard_normal(JUDGES)
    k, c, i = (part.ravel() for part in np.indices((JUDGES, CRITERIA, ITEMS)))
    seen = strength[c, i] + own[k, i] - severity[k] + rng.logistic(size=len(k))
    level = (seen[:, None] > np.linspace(-2, 2, LEVELS - 1)).sum(axis=1) + 1
    columns = {"judge": [f"j{x:02d}" for x in k], "criterion": [f"c{x}" for x in c], "score": level}
    table = pd.DataFrame({**columns, "item": [f"i{x:02d}" for x in i]})
    truth = pd.Series(strength.mean(axis=0), [f"i{x:02d}" for x in range(ITEMS)])
    return table, truth - truth.mean()


def fitted(table: pd.DataFrame, model: str) -> voirdire.Fit:
    """A fit by laplace."""
    return voirdire.fit(table, model=model, method="laplace")


def by_answers(fit: voirdire.Fit) -> tuple[np.ndarray, np.ndarray]:
    """What answers alone say of each item, by name, and its standard deviation: freed of the prior."""
    values = fit.posterior.values
    strength = values["strength"]
    drawn = shrinkage_removal(fit.problem, values).remove_shrinkage(
        strength, normalised_weights(fit.problem.density, values)
    )
    order = np.argsort(fit.problem.items)
    return drawn.mean(axis=0)[order], drawn.std(axis=0, ddof=1)[order]


def apart(table: pd.DataFrame, here: pd.Series, model: str) -> dict[str, np.ndarray]:
    """Difference of the scores of two panels in standard deviations, as ranked and freed of the prior."""
    one, other = (fitted(table[part], model) for part in (here, ~here))
    a, b = (fit.ranking().set_index("item").sort_index() for fit in (one, other))
    (y, error), (z, more) = by_answers(one), by_answers(other)
    return {
        "of scores": ((a["score"] - b["score"]) / np.hypot(a["sd"], b["sd"])).to_numpy(),
        "sd of z": (y - z) / np.hypot(error, more),
    }


def simulated(taste: float, model: str) -> dict[str, object]:
    """Coverage of the truth, and how far halves of the judges are apart."""
    held, z = [], []
    for seed in range(TABLES):
        table, truth = scores(np.random.default_rng(100 + seed), taste)
        found = fitted(table, model).ranking().set_index("item").sort_index()
        held.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
        z.append(apart(table, table["judge"] < f"j{JUDGES // 2:02d}", model))
    spread = {name: float(np.mean([part[name].std() for part in z])) for name in z[0]}
    inside = [(np.abs(part["sd of z"]) < 1.645).mean() for part in z]
    return {
        "what": f"simulated, sd of tastes {taste:g}",
        "model": model,
        "coverage": round(float(np.mean(held)), 3),
        "within 90%": round(float(np.mean(inside)), 3),
        "sd of z": round(spread["sd of z"], 2),
        "of scores": round(spread["of scores"], 2),
    }


def held_out(table: pd.DataFrame) -> list[dict[str, object]]:
    """Log loss of Newsroom's scores, all of a rater's scores of a summary left out together."""
    found = voirdire.cross_validate(table, list(MODELS), by=("judge", "item"), folds=5)
    what = "Newsroom, a rater's summaries left out"
    return [{"what": what, "model": row.model, "log loss": round(row.log_loss, 4)} for row in found.itertuples()]


table = pd.read_csv(shared("newsroom_scores.csv"))[["item", "criterion", "judge", "score"]]
rows = held_out(table)
rows += [simulated(taste, model) for taste in TASTES for model in MODELS]
columns = ("what", "model", "log loss", "coverage", "within 90%", "sd of z", "of scores")
notes = [
    "Newsroom: three raters, 420 summaries, four criteria. Simulated: "
    f"{TABLES} tables of {JUDGES} judges, {ITEMS} items and {CRITERIA} criteria on {LEVELS} levels, strengths with "
    "sd 1, half of their variance the same under all criteria; halves of the judges. Fits by laplace, "
    "intervals of 90%, scores over criteria. Between halves scores are what answers alone say: of scores that a prior "
    "draws to zero by a share 1 - b, whose posterior knows it, z has the standard deviation sqrt(b): the last column."
]
show("Halo: scores under several criteria", [{name: row.get(name) for name in columns} for row in rows], notes)
