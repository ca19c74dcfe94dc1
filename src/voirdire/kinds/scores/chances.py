"""Probability of every score that a judge may give an item."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.density import form_of
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.cumulative import log_every_level, normal_rule
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def chances(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probability of every level of each score under one set of values, shape (rows, levels).

    On a continuous scale, that a score stands at its low and its high end.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row, in the problem's coding.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    density, form, (judge, criterion, item) = problem.density, form_of(problem.model), rows
    if form is continuous:
        return points.ends(problem, values, judge, criterion, item)[:, :2]
    if form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores; leave it out")
    eta = ordinal.perceived(density, values, problem.judge_group, judge, criterion, item)
    cuts = ordinal.cutpoints(density, values, np)
    own: Any = cuts[judge if len(cuts) > 1 else judge * 0, criterion]
    if "log_judge_item" not in values:
        plain: Floats = np.exp(np.stack(log_every_level(eta, own, density.levels, np), axis=-1))
        return plain
    z, log_weight = normal_rule()
    spread = eta[:, None] + np.exp(values["log_judge_item"])[judge][:, None] * z
    logs = log_every_level(spread, own[:, None, :], density.levels, np)
    chance: Floats = np.stack([np.exp(log) @ np.exp(log_weight) for log in logs], axis=-1)
    return chance


def check_single(problem: ScoresProblem) -> None:
    """Refuse models that take scores as numbers.

    Raises
    ------
    InputError
    """
    if form_of(problem.model) is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")
