"""Tables of a fit of rankings: items and criteria as of votes, judges, and items in each context."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns, with_intervals
from voirdire.kinds.in_contexts import context_columns
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def judge_table(problem: RankingsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: rankings given, and what the model says of them, each with interval.

    ``p_right`` is the probability that the judge ranks the better of two items above the worse, the mean over all pairs
    of items and over criteria. ``reliability`` is the same, and missing where the model takes all judges to be alike,
    having neither tastes nor an error of the panel.
    """
    columns: Columns = {"judge": np.array(problem.judges, dtype=object), "votes": problem.judge_votes}
    return columns | with_intervals(
        posterior, lambda values: judge_values(problem, values), prob, len(problem.judges)
    )


def judge_values(problem: RankingsProblem, values: Values) -> dict[str, Floats]:
    """Values that :func:`judge_table` shows, shape (..., judges)."""
    strength = values["strength"]
    taste, error = values.get("taste"), values.get("panel_error")
    worth = strength if error is None else strength + error[..., 0, :, :]
    right = np.zeros((*strength.shape[:-2], problem.density.judges))
    pairs = max(problem.density.items - 1, 1) * problem.density.criteria * problem.density.items / 2
    for one in range(1, problem.density.items):
        gap = strength[..., one, None] - strength[..., :one]  # (..., criteria, others)
        seen = (worth[..., one, None] - worth[..., :one])[..., None, :, :]
        if taste is not None:
            seen = seen + (taste[..., one, None] - taste[..., :one])[..., :, None, :]
        right = right + logistic_sigmoid(np.sign(gap)[..., None, :, :] * seen, np).sum(axis=(-1, -2)) / max(
            pairs, 1.0
        )
    if problem.density.items < 2:
        right = right + np.nan
    alike = taste is None and error is None
    return {"reliability": np.full_like(right, np.nan) if alike else right, "p_right": right}


def context_table(problem: RankingsProblem, posterior: Posterior, prob: float) -> Columns:
    """Strength of each item in each context (over criteria by their weights), with interval and P(best there).

    One row per context and item: context, item, strength (log-odds, sum zero in each context), low, high, p_best.

    Raises
    ------
    InputError
        The fit has no contexts.
    """
    if "context_strength" not in posterior.central_values:
        raise InputError(
            "contexts() needs a model with contexts, such as plackett-luce-contexts, and a table in which items are "
            f"ranked in several; this is a fit of {problem.model.name}"
        )
    return context_columns(problem, problem.table.contexts, posterior, prob)
