"""Probability of every score that a judge may give an item."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.scores import continuous, ordinal, points
from voirdire.kinds.scores.density import score_form_module
from voirdire.kinds.scores.perceived import perceived_strengths
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.model.terms.cumulative import level_log_probabilities, normal_quadrature
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def score_probabilities(problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
    """Probability of every level of each score under one set of values, shape (rows, levels).

    On a continuous scale, that a score stands at its low and its high end.

    Parameters
    ----------
    rows : tuple of int array
        Judge, criterion and item of each row (and the others of :attr:`.ScoresLayout.about`: -1, or none, for any
        context or level, and for numbers as they are on average), in the problem's coding.

    Raises
    ------
    InputError
        The model gives no probability of single scores.
    """
    form = score_form_module(problem.model)
    if form is continuous:
        return points.ends_and_mean(problem, values, rows)[:, :2]
    if form is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores; leave it out")
    felt, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    chance = np.exp(np.stack(level_log_probabilities(felt, cuts, problem.density.levels, np), axis=-1))
    found: Floats = np.einsum("rel,e->rl", chance, weight)
    return found


def exceedance_probabilities(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats]:
    """Probability to be above every level but the highest, by what a judge makes of an item in all its runs.

    And by what it is worth in another context, where rows are of none.

    Returns
    -------
    above : array, shape (rows, effects, levels - 1)
    weight : array, shape (effects,)
        Of each effect of a rule of points; one effect where judges score an item once.
    """
    felt, cuts, weight = _perceptions_and_cutpoints(problem, values, rows)
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(cuts - felt[..., None])), weight


def _perceptions_and_cutpoints(
    problem: ScoresProblem, values: Values, rows: tuple[Ints, ...]
) -> tuple[Floats, Floats, Floats]:
    """Perceptions of judges, shape (rows, effects), cutpoints, (rows, 1, levels - 1), and effects' weights."""
    density, (judge, criterion, *_) = problem.density, rows
    about = density.about_rows(rows)
    felt = perceived_strengths(density, values, problem.data["panel"], about)[:, None]
    cuts: Any = ordinal.judge_cutpoints(density, values, np)
    variance, weight = np.zeros(len(judge)), np.ones(1)
    if "log_judge_item" in values:
        variance = variance + np.exp(2.0 * values["log_judge_item"])[judge]
    if "log_context_spread" in values:
        variance = variance + np.where(about["context"] < 0, np.exp(2.0 * values["log_context_spread"]), 0.0)
    if variance.any():
        z, log_weight = normal_quadrature()
        weight = np.exp(log_weight)
        felt = felt + np.sqrt(variance)[:, None] * z
    return felt, cuts[judge if len(cuts) > 1 else judge * 0, criterion][:, None, :], weight


def check_answer_probabilities(problem: ScoresProblem) -> None:
    """Refuse models that take scores as numbers.

    Raises
    ------
    InputError
    """
    if score_form_module(problem.model) is not ordinal:
        raise InputError(f"model {problem.model.name} gives no probability of single scores: nothing to draw")
