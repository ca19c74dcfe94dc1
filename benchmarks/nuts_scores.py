"""NUTS on Newsroom's scores: Laplace-whitened, against a plain PyMC program with one row per rating."""

from __future__ import annotations

from typing import Any

from against_pymc import race
from common import shared

from voirdire.tables.scores import read_scores

TABLE, LEVELS = "newsroom_scores.csv", 5


def density() -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    table = read_scores(shared(TABLE))
    judges, criteria, items = len(table.judges), len(table.criteria), len(table.items)
    with pm.Model() as model:
        theta = pm.ZeroSumNormal("strength", 2.0, shape=(criteria, items))
        severity = pm.ZeroSumNormal("severity", 1.0, shape=judges)
        location = pm.Normal("cut_location", 0, 3, shape=criteria)
        gap = pm.math.exp(pm.Normal("log_gap", 0.4, 0.7, shape=(criteria, LEVELS - 2)))
        zero = pt.zeros((criteria, 1))
        cuts = pt.concatenate([zero, pt.cumsum(gap, axis=1)], axis=1) + (location - 0.5 * gap.sum(axis=1))[:, None]
        eta = theta[table.criterion, table.item] - severity[table.judge]
        observed = table.score.astype(int) - 1
        pm.OrderedLogistic("score", eta=eta, cutpoints=cuts[table.criterion], observed=observed)
    return model


race(
    "NUTS (Newsroom scores)",
    density,
    ("strength", "severity", "cut_location"),
    draws=150,
    rows="rating",
    note="rating-severity, 1,694 parameters; ESS over strengths, severities and locations of the cutpoints.",
    table=shared(TABLE),
    model="rating-severity",
)
