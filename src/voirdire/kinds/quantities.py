"""Quantities of a fit on their natural scales, of any number of draws; and effects of terms beside a model's own.

Effects are for JSON: of covariates, of own families, the spreads that were learned, and values of all other terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.further_terms import Resolved
from voirdire.kinds.panel_gap import shown_draws
from voirdire.kinds.panel_gap import target_and_panel_scores as about_both
from voirdire.kinds.results import context_strengths
from voirdire.model.design import Term
from voirdire.model.natural_scales import LOG_PARAMETERS, LOG_PREFIX, LOGIT_PARAMETERS, natural_name
from voirdire.model.panel_density import EFFECT_PREFIX, STEP, term_label
from voirdire.model.problem import PANEL, TARGET, Problem
from voirdire.model.term_rows import FACTOR_SEPARATOR
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.parameters import LogExponential
from voirdire.model.terms.raters import scaled_discrimination
from voirdire.model.terms.reliability import Values
from voirdire.tables.covariates import OWN_FAMILY
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
        if name in LOGIT_PARAMETERS:
            draws = np.asarray(logistic_sigmoid(value, np))
        elif name == "weight":
            draws = normalised_weights(density, values)
        elif name in SHARES:
            draws = _softmax_shares(value)
        elif name == "raw_discrimination":
            draws = scaled_discrimination(value)
        elif name in LOG_PARAMETERS or name.startswith(LOG_PREFIX):
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


NAMES = {"log_spread": "item", "log_coin_mean": "coin_mean", "log_tie_spread": "tie_judge"}


def spread_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Spreads (sd, in the unit of scores) that were learned: name, value, low, high; ``item:criterion`` of several.

    ``slope`` of a covariate's effect between judges, ``slope:covariate`` of several;

    ``item`` of strengths (``general`` of what they have in common under all criteria), ``context`` of an item between
    contexts, ``taste`` of an item between judges, ``family`` of an item between families of judges, ``tie_...`` of tie
    habits; ``coin_mean`` is the log-odds of the typical coin.
    """
    dims = {p.name: p.dims for p in problem.density.parameters if isinstance(p.prior, LogExponential)}
    learned = list(dims)
    if not learned:
        return {"name": np.array([], dtype=object)} | {key: np.zeros(0) for key in ("value", "low", "high")}
    one = problem.unit[1]
    shown = posterior.shown(lambda values: {name: one * np.exp(values[name]) for name in learned}, prob)
    names: list[str] = []
    for name in learned:
        short = NAMES.get(name, name.removeprefix("log_").removesuffix("_spread"))
        rows = np.size(shown[name].point)
        names += [short] if rows == 1 else [f"{short}:{level}" for level in problem.coords[dims[name][0]]]
    columns: Columns = {"name": np.array(names, dtype=object)}
    for at, key in (("point", "value"), ("low", "low"), ("high", "high")):
        columns[key] = np.concatenate([np.ravel(getattr(shown[name], at)) for name in learned])
    return columns


CLEAR = 0.99  # an interval clear of 0 says that a covariate counts


def effect_tables(problem: Any, posterior: Posterior, prob: float) -> dict[str, Any]:
    """Tables by name, those that there are, of a problem with ``added`` terms.

    ``covariates``: name, effect (in the unit of scores for each unit), low, high, unit, clear (the 99% interval is
    clear of 0, all together: at the mode alone, never). ``own_family``: judge (None: over
    all), effect, low, high. ``terms``: term, level, value, low, high, of each level of every other term.
    """
    added: Resolved = problem.added
    names = {term.name: term for term in added.terms}
    of = {EFFECT_PREFIX + name: name for name in added.units}
    slopes = {name: of[name] for name in names if name in of}
    found: dict[str, Any] = {}
    if slopes:
        found["covariates"] = to_records(_slope_columns(problem, posterior, slopes, prob))
    of_judges = _judge_slopes_name(added, OWN_FAMILY)
    if EFFECT_PREFIX + OWN_FAMILY in names:
        found["own_family"] = to_records(own_family_rows(problem, posterior, prob))
        slopes |= {of_judges: OWN_FAMILY} if of_judges else {}
    others = [term for name, term in names.items() if name not in slopes]
    if others:
        found["terms"] = [row for term in others for row in _term_rows(problem, added, posterior, term, prob)]
    return found


def _slope_columns(problem: Any, posterior: Posterior, names: Mapping[str, str], prob: float) -> Columns:
    one, units = problem.unit[1], problem.added.units

    def stack_slopes(values: Values) -> Values:
        return {"slope": one * np.stack([values[name] for name in names], axis=-1)}

    shown, wide = (
        posterior.shown(stack_slopes, level)["slope"] for level in (prob, 1.0 - (1.0 - CLEAR) / len(names))
    )
    columns: Columns = {"name": np.array(list(names.values()), dtype=object)}
    columns |= {"effect": shown.point, "low": shown.low, "high": shown.high}
    columns["unit"] = np.array([units[name] for name in names.values()])
    return columns | {"clear": (wide.low > 0) | (wide.high < 0)}


def own_family_rows(problem: Any, posterior: Posterior, prob: float) -> Columns:
    """Preference for the own family: judge (None: over all; those who were asked), effect, low, high."""
    judges = problem.added.concerned
    at = [problem.judges.index(judge) for judge in judges]
    of_judges = _judge_slopes_name(problem.added, OWN_FAMILY)

    def family_effects(values: Values) -> Values:
        whole = values[EFFECT_PREFIX + OWN_FAMILY][..., None]
        own = np.zeros(len(at)) if of_judges is None else values[of_judges][..., at]
        return {"effect": problem.unit[1] * np.concatenate([whole, whole + own], axis=-1)}

    shown = posterior.shown(family_effects, prob)["effect"]
    columns: Columns = {"judge": np.array([None, *judges], dtype=object)}
    return columns | {"effect": shown.point, "low": shown.low, "high": shown.high}


def _judge_slopes_name(added: Resolved, covariate: str) -> str | None:
    """Name of judges' slopes of a covariate; None without them."""
    names = (term.name for term in added.terms)
    return next(
        (name for name in names if {*term_label(name).split(FACTOR_SEPARATOR)} == {"judge", covariate}), None
    )


def _term_rows(
    problem: Problem, added: Resolved, posterior: Posterior, term: Term, prob: float
) -> list[dict[str, Any]]:
    def term_values(values: Values) -> Values:
        found: Floats = problem.unit[1] * values[term.name]
        return {"value": found @ added.walk.T if STEP in term.factors else found}

    shown = posterior.shown(term_values, prob)["value"]
    names = [_level_names(problem, added, factor) for factor in term.factors]
    levels: Any = np.array(np.meshgrid(*names, indexing="ij")).reshape(len(names), -1).T if names else [[]]
    said = [", ".join(map(str, level)) for level in levels]
    parts = {"value": shown.point, "low": shown.low, "high": shown.high}
    columns: Columns = {
        "term": np.full(len(said), term_label(term.name), dtype=object),
        "level": np.array(said, dtype=object),
    }
    return to_records(columns | {name: np.ravel(part) for name, part in parts.items()})


def _level_names(problem: Problem, added: Resolved, factor: str) -> list[str]:
    return list(added.periods) if factor == STEP else problem.coords[factor]
