"""Tables of a fit of rankings: items and criteria as of votes, judges, and items in each context."""

from __future__ import annotations

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, weights
from voirdire.kinds.columns import Columns, with_intervals
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.terms.arrays import sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def judges(problem: RankingsProblem, posterior: Posterior, prob: float) -> Columns:
    """Judges: rankings given, and what the model says of them, each with interval.

    ``p_right`` is the probability that the judge ranks the better of two items above the worse, the mean over all pairs
    of items and over criteria. ``reliability`` is the same, and missing where the model takes all judges to be alike,
    having no tastes.
    """
    columns: Columns = {"judge": np.array(problem.judges, dtype=object), "votes": problem.judge_votes}
    return columns | with_intervals(
        posterior, lambda values: judge_values(problem, values), prob, len(problem.judges)
    )


def judge_values(problem: RankingsProblem, values: Values) -> dict[str, Floats]:
    """What :func:`judges` shows, shape (..., judges)."""
    strength = values["strength"]
    taste = values.get("taste")
    right = np.zeros((*strength.shape[:-2], problem.density.judges))
    pairs = max(problem.density.items - 1, 1) * problem.density.criteria * problem.density.items / 2
    for one in range(1, problem.density.items):
        gap = strength[..., one, None] - strength[..., :one]  # (..., criteria, others)
        seen = gap[..., None, :, :]
        if taste is not None:
            seen = seen + (taste[..., one, None] - taste[..., :one])[..., :, None, :]
        right = right + sigmoid(np.sign(gap)[..., None, :, :] * seen, np).sum(axis=(-1, -2)) / max(pairs, 1.0)
    if problem.density.items < 2:
        right = right + np.nan
    return {"reliability": right if taste is not None else np.full_like(right, np.nan), "p_right": right}


def contexts(problem: RankingsProblem, posterior: Posterior, prob: float) -> Columns:
    """Strength of each item in each context (the mean over criteria), with interval and P(best there).

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
    shown = posterior.shown(lambda values: {"strength": in_contexts(problem, values)}, prob)["strength"]
    best = np.full(shown.point.shape, np.nan)
    if posterior.values is not None:
        first = in_contexts(problem, posterior.values).argmax(axis=-1)
        best = (first[..., None] == np.arange(len(problem.items))).mean(axis=0)
    names = np.meshgrid(problem.table.contexts, problem.items, indexing="ij")
    columns: Columns = {"context": names[0].ravel().astype(object), "item": names[1].ravel().astype(object)}
    parts = (shown.point, shown.low, shown.high, best)
    return columns | dict(zip(("strength", "low", "high", "p_best"), (p.ravel() for p in parts), strict=True))


def in_contexts(problem: RankingsProblem, values: Values) -> Floats:
    """What items are worth in each context, shape (..., contexts, items), each context's with sum zero."""
    worth = values["strength"][..., None] + values["context_strength"]
    found = np.einsum("...c,...cix->...xi", weights(problem.density, values), worth)
    return np.asarray(found - found.mean(axis=-1, keepdims=True))
