"""Quantities of a fit on their natural scales, with their dimensions, of any number of draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.infer.posterior import normalised_weights
from voirdire.kinds.in_contexts import context_strengths
from voirdire.kinds.panel_gap import shown_draws
from voirdire.kinds.panel_gap import target_and_panel_scores as about_both
from voirdire.model.natural_scales import LOG, LOGITS, LOGS, natural_name
from voirdire.model.problem import PANEL, TARGET, Problem
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.raters import scaled_discrimination
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats


class Quantity(NamedTuple):
    """Draws of a quantity, shape (draws, ...), and the names of its dimensions."""

    draws: Floats
    dims: tuple[str, ...]


Quantities = dict[str, Quantity]

SHARES = frozenset({"class_share", "common_label", "tendency"})


def parameter_quantities(problem: Problem, values: Values) -> Quantities:
    """Every parameter by itself on its natural scale; of criteria their weights.

    Parameters
    ----------
    values : dict of array, shape (draws, ...)
    """
    density = problem.density
    found: Quantities = {}
    for parameter in density.parameters:
        name, value = parameter.name, values[parameter.name]
        if not value.size:
            continue
        draws = value
        if name == "reliability_deviation":
            by_criterion = np.asarray(logistic_sigmoid(values["reliability"][..., None] + value, np))
            found["reliability_by_criterion"] = Quantity(by_criterion, parameter.dims)
            continue
        if name in LOGITS:
            draws = np.asarray(logistic_sigmoid(value, np))
        elif name == "weight":
            draws = normalised_weights(density, values)
        elif name in SHARES:
            draws = _softmax_shares(value)
        elif name == "raw_discrimination":
            draws = scaled_discrimination(value)
        elif name in LOGS or name.startswith(LOG):
            draws = np.exp(value)
        found[natural_name(name)] = Quantity(draws, parameter.dims)
    return found


def item_score_quantities(problem: Problem, values: Values) -> Quantities:
    """Scores of items as a fit shows them, over all contexts and in each; beside them those about the other subject."""
    found = {"score": Quantity(shown_draws(problem, values), ("item",))}
    if problem.about is not None:
        target, panel = about_both(problem, values)
        other, draws = (PANEL, panel) if problem.about == TARGET else (TARGET, target)
        found[f"score_{other}"] = Quantity(draws, ("item",))
    if "context_strength" in values:
        found["score_in_context"] = Quantity(context_strengths(problem.density, values), ("context", "item"))
    return found


def judge_quantities(each: dict[str, Floats], judges: int, guess: float) -> Quantities:
    """Values of judges, those that the model has and does not fix, and their informedness.

    Parameters
    ----------
    each : dict of array, shape (draws, judges), or (draws, 1) where judges are all alike
    judges : int
        How many there are.
    guess : float
        Probability of a right answer by guessing.
    """
    found = {
        name: Quantity(np.broadcast_to(value, (len(value), judges)), ("judge",))
        for name, value in each.items()
        if not np.isnan(value).all() and not _is_constant(value)
    }
    if "reliability" in found:
        above = (found["reliability"].draws - guess) / (1.0 - guess)
        found["informedness"] = Quantity(above, ("judge",))
    return found


def rescale_draws(quantities: Quantities, change: Callable[[str, Floats], Floats]) -> Quantities:
    """The same with the draws changed by name."""
    return {name: of._replace(draws=change(name, of.draws)) for name, of in quantities.items()}


def _is_constant(value: Floats) -> bool:
    """True if draws are equal but for rounding, as the rate of first items where the model knows no positions."""
    return len(value) > 1 and bool(np.ptp(value, axis=0).max() < 1e-9)


def _softmax_shares(log: Floats) -> Floats:
    raw = np.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))
