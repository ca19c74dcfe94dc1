"""NUTS on LLMFAO: Laplace-whitened, on counts, against a plain PyMC program with one row per vote."""

from __future__ import annotations

from typing import Any

from against_pymc import race
from common import shared

from voirdire.tables.votes import read_votes

TABLE = "llmfao_votes.csv"


def density() -> Any:
    import pymc as pm
    import pytensor.tensor as pt

    votes = read_votes(shared(TABLE))
    cell = votes.row_cell
    judge, first, second = votes.judge[cell], votes.first[cell], votes.second[cell]
    judges, items = len(votes.judges), len(votes.items)
    with pm.Model() as model:
        theta = pm.ZeroSumNormal("strength", 4.0, shape=items)
        first_coin = pm.Beta("coin_first", 2, 1, shape=judges)[judge]
        second_coin = pm.Beta("coin_second", 2, 1, shape=judges)[judge]
        tie = pm.Normal("tie", 0, 2) + pm.Normal("tie_judge", 0, 1, shape=judges)[judge]
        d = theta[first] - theta[second]
        chance = pm.math.sigmoid(d)
        p_first = first_coin * chance + (1 - second_coin) * (1 - chance)
        p_tie = pm.math.exp(tie) / (pm.math.exp(tie) + 2 * pt.cosh(d / 2))
        p = pt.stack([p_first * (1 - p_tie), (1 - p_first) * (1 - p_tie), p_tie], axis=1)
        pm.Categorical("winner", p=p, observed=votes.row_outcome)
    return model


race(
    "NUTS (LLMFAO votes)",
    density,
    ("strength",),
    draws=100,
    rows="vote",
    note="crowd-bt-position, 437 parameters; ESS over strengths.",
    table=shared(TABLE),
    model="crowd-bt-position",
)
