"""Strengths of items in each context, of models in which items are worth something of their own there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.kinds.columns import Columns
from voirdire.model.density import LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


def strengths_over_contexts(values: Values, over: str) -> Array:
    """Strengths over contexts like those of the table ("new"), or over these alone, shape (..., criteria, items).

    Examples
    --------
    >>> values = {"strength": np.array([[1.0, -1.0]]), "context_strength": np.array([[[0.5, 1.5], [0.0, 0.0]]])}
    >>> strengths_over_contexts(values, "new").tolist(), strengths_over_contexts(values, "these").tolist()
    ([[1.0, -1.0]], [[1.5, -1.5]])
    """
    if over == "new" or "context_strength" not in values:
        return values["strength"]
    these = values["strength"] + values["context_strength"].mean(axis=-1)
    return these - these.mean(axis=-1, keepdims=True)


def contexts_note(over: str, contexts: int) -> str:
    """Note on the scores of a fit with so many contexts."""
    here, there = "contexts like these", "these contexts alone"
    here, there, other = (here, there, "these") if over == "new" else (there, here, "new")
    return (
        f"Scores are over {here}, {contexts} of them: over='{other}' (--over {other}) says what holds over "
        f"{there}; contexts() (--contexts --json) has the strengths in each."
    )


def context_columns(problem: Problem, contexts: Sequence[str], posterior: Posterior, prob: float) -> Columns:
    """Strength of each item in each context (over criteria by their weights), with interval and P(best there).

    One row per context and item: context, item, strength (log-odds, sum zero in each context), low, high, p_best.
    """
    shown = posterior.shown(lambda values: {"strength": context_strengths(problem.density, values)}, prob)[
        "strength"
    ]
    best = np.full(shown.point.shape, np.nan)
    if posterior.values is not None:
        first = context_strengths(problem.density, posterior.values).argmax(axis=-1)
        best = (first[..., None] == np.arange(len(problem.items))).mean(axis=0)
    names = np.meshgrid(contexts, problem.items, indexing="ij")
    columns: Columns = {"context": names[0].ravel().astype(object), "item": names[1].ravel().astype(object)}
    parts = (shown.point, shown.low, shown.high, best)
    return columns | dict(zip(("strength", "low", "high", "p_best"), (p.ravel() for p in parts), strict=True))


def of_items(values: Values, items: Sequence[int]) -> Values:
    """Values of which those of strengths are of some items alone."""
    strength, context = values["strength"][..., items], values["context_strength"][..., items, :]
    return {**values, "strength": strength, "context_strength": context}


def context_strengths(density: LogDensity, values: Values) -> Floats:
    """Shape (..., contexts, items), each context's strengths with sum zero."""
    strength = values["strength"][..., None] + values["context_strength"]
    found = np.einsum("...c,...cix->...xi", normalised_weights(density, values), strength)
    return np.asarray(found - found.mean(axis=-1, keepdims=True))
