"""Scores drawn from a model: what each judge feels of an item with noise, on the scale.

Where judges score an item repeatedly, what a judge makes of it is drawn anew for every judge, criterion and item.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.perceived import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.censored import HALF
from voirdire.model.terms.raters import log_noise
from voirdire.model.terms.reliability import Values
from voirdire.tables.scores import Scores


def draw_scores(problem: ScoresProblem, values: Values, rng: np.random.Generator) -> Scores:
    """The scores of a problem, drawn anew under one set of values.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    density, table, scale = problem.density, problem.table, problem.scale
    form = form_of(problem.model)
    if form not in (ordinal, continuous):
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")
    judge, criterion, item = table.judge, table.criterion, table.item
    felt = perceived_strengths(density, values, problem.data["panel"], problem.codes(table))
    if "log_judge_item" in values:
        unit = (judge * len(table.criteria) + criterion) * len(table.items) + item
        units, place = np.unique(unit, return_inverse=True)
        felt = felt + np.exp(values["log_judge_item"])[judge] * rng.standard_normal(len(units))[place]
    if form is continuous:
        noise = np.broadcast_to(log_noise(values), (density.judges, density.criteria))
        noisy = felt + np.exp(noise[judge, criterion]) * rng.normal(size=len(judge))
        middle = 0.5 * (scale.low + scale.high)
        return replace(table, score=np.asarray(middle + scale.range * np.clip(noisy, -HALF, HALF)))
    cuts = ordinal.judge_cutpoints(density, values, np)
    own = cuts[judge if len(cuts) > 1 else judge * 0, criterion]
    level = ((felt + rng.logistic(size=len(judge)))[:, None] > own).sum(axis=1)
    return replace(table, score=np.array(scale.levels)[level])
