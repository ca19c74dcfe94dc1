"""Quantities of a fit on natural scales, for any number of draws, and tables of effects.

The tables are for JSON: effects of covariates and of own families, learned spreads, and values of other further terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior, normalised_weights
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.further_terms import ResolvedTerms
from voirdire.kinds.panel_gap import shown_draws, target_and_panel_scores
from voirdire.kinds.results import context_strengths, summarise_quantity
from voirdire.model.design import Term
from voirdire.model.natural_scales import LOG_PARAMETERS, LOG_PREFIX, LOGIT_PARAMETERS, natural_name
from voirdire.model.panel_density import EFFECT_PREFIX, STEP, term_label
from voirdire.model.problem import PANEL, TARGET, Problem
from voirdire.model.term_rows import FACTOR_SEPARATOR
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.parameters import LogExponential
from voirdire.model.terms.raters import scaled_discrimination
from voirdire.model.terms.term import Values
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.typing import Floats


class Quantity(NamedTuple):
    """Draws of a quantity, shape (draws, ...), and the names of its dimensions."""

    draws: Floats
    dims: tuple[str, ...]


Quantities = dict[str, Quantity]

SHARE_PARAMETERS = frozenset({"class_share", "common_label", "tendency"})


def parameter_quantities(problem: Problem, values: Values) -> Quantities:
    """Convert every parameter to its natural scale, and weights of criteria to shares.

    Parameters
    ----------
    values : dict of array, shape (draws, ...)
    """
    density = problem.density
    quantities: Quantities = {}
    for parameter in density.parameters:
        name, value = parameter.name, values[parameter.name]
        if not value.size:
            continue
        draws = value
        if name == "reliability_deviation":
            by_criterion = np.asarray(logistic_sigmoid(values["reliability"][..., None] + value, np))
            quantities["reliability_by_criterion"] = Quantity(by_criterion, parameter.dims)
            continue
        if name in LOGIT_PARAMETERS:
            draws = np.asarray(logistic_sigmoid(value, np))
        elif name == "weight":
            draws = normalised_weights(density, values)
        elif name in SHARE_PARAMETERS:
            draws = np.exp(log_softmax(value, value.shape[-1], np))
        elif name == "raw_discrimination":
            draws = scaled_discrimination(value)
        elif name in LOG_PARAMETERS or name.startswith(LOG_PREFIX):
            draws = np.exp(value)
        quantities[natural_name(name)] = Quantity(draws, parameter.dims)
    return quantities


def item_score_quantities(problem: Problem, values: Values) -> Quantities:
    """Compute scores of items as the fit shows them, scores about the other subject, and scores in each context."""
    quantities = {"score": Quantity(shown_draws(problem, values), ("item",))}
    if problem.about is not None:
        target, panel = target_and_panel_scores(problem, values)
        subject, draws = (PANEL, panel) if problem.about == TARGET else (TARGET, target)
        quantities[f"score_{subject}"] = Quantity(draws, ("item",))
    if "context_strength" in values:
        quantities["score_in_context"] = Quantity(context_strengths(problem.density, values), ("context", "item"))
    return quantities


def judge_quantities(judge_values: dict[str, Floats], judges: int, guessing: float) -> Quantities:
    """Select the values of judges that the model estimates, and add their informedness.

    Parameters
    ----------
    judge_values : dict of array, shape (draws, judges), or (draws, 1) if all judges are alike
    judges : int
        Number of judges.
    guessing : float
        Probability of a right answer by guessing.
    """
    quantities = {
        name: Quantity(np.broadcast_to(value, (len(value), judges)), ("judge",))
        for name, value in judge_values.items()
        if not np.isnan(value).all() and not _is_constant(value)
    }
    if "reliability" in quantities:
        informedness = (quantities["reliability"].draws - guessing) / (1.0 - guessing)
        quantities["informedness"] = Quantity(informedness, ("judge",))
    return quantities


def rescale_draws(quantities: Quantities, rescale: Callable[[str, Floats], Floats]) -> Quantities:
    """Change the draws of each quantity by a function of its name and draws."""
    return {name: quantity._replace(draws=rescale(name, quantity.draws)) for name, quantity in quantities.items()}


def _is_constant(value: Floats) -> bool:
    """True if draws are equal up to rounding, such as the rate of first items in models without positions."""
    return len(value) > 1 and bool(np.ptp(value, axis=0).max() < 1e-9)


SPREAD_NAMES = {"log_spread": "item", "log_coin_mean": "coin_mean", "log_tie_spread": "tie_judge"}


def spread_table(problem: Problem, posterior: Posterior, prob: float) -> Columns:
    """Table of learned spreads (sd, in the unit of scores): name, value, low, high.

    ``item`` is the spread of strengths (``item:criterion`` for several criteria, ``general`` for strengths under all
    criteria alike), ``context`` of an item between contexts, ``taste`` of an item between judges, ``family`` of an item
    between families of judges, ``tie_...`` of tie habits, and ``slope`` of a covariate's effect between judges
    (``slope:covariate`` for several covariates). ``coin_mean`` is the log-odds of the typical coin. ``tie_scale`` is
    how fast ties become rare between items far apart: 1 in Davidson's model, near 0 if ties are given whatever the
    items are.
    """
    scales = ("log_tie_scale",)  # learned, and without a unit
    parameters = problem.density.parameters
    dims = {p.name: p.dims for p in parameters if isinstance(p.prior, LogExponential) or p.name in scales}
    learned = list(dims)
    if not learned:
        return {"name": np.array([], dtype=object)} | {key: np.zeros(0) for key in ("value", "low", "high")}
    unit = problem.unit[1]
    summaries = posterior.summarise_quantities(
        lambda values: {name: (1.0 if name in scales else unit) * np.exp(values[name]) for name in learned}, prob
    )
    names: list[str] = []
    for name in learned:
        short = SPREAD_NAMES.get(name, name.removeprefix("log_").removesuffix("_spread"))
        rows = np.size(summaries[name].point)
        names += [short] if rows == 1 else [f"{short}:{level}" for level in problem.coords[dims[name][0]]]
    columns: Columns = {"name": np.array(names, dtype=object)}
    for field, key in (("point", "value"), ("low", "low"), ("high", "high")):
        columns[key] = np.concatenate([np.ravel(getattr(summaries[name], field)) for name in learned])
    return columns


CLEAR_PROBABILITY = 0.99  # probability of the interval for clear effects of covariates


def effect_tables(problem: Any, posterior: Posterior, prob: float) -> dict[str, Any]:
    """Make the tables of effects of a problem with ``added`` terms, by name, without empty ones.

    - ``covariates``: name, effect (in the unit of scores, for one unit of the covariate), low, high, unit, clear (the
      simultaneous 99% interval excludes 0; never at the mode alone).
    - ``own_family``: judge (None: over all), effect, low, high.
    - ``terms``: term, level, value, low, high, for each level of every other term.
    """
    added: ResolvedTerms = problem.added
    names = {term.name: term for term in added.terms}
    covariate_of = {EFFECT_PREFIX + name: name for name in added.units}
    slopes = {name: covariate_of[name] for name in names if name in covariate_of}
    tables: dict[str, Any] = {}
    if slopes:
        tables["covariates"] = to_records(_slope_columns(problem, posterior, slopes, prob))
    judge_slopes = _judge_slopes_name(added, OWN_FAMILY)
    if EFFECT_PREFIX + OWN_FAMILY in names:
        tables["own_family"] = to_records(own_family_rows(problem, posterior, prob))
        slopes |= {judge_slopes: OWN_FAMILY} if judge_slopes else {}
    other_terms = [term for name, term in names.items() if name not in slopes]
    if other_terms:
        tables["terms"] = [row for term in other_terms for row in _term_rows(problem, added, posterior, term, prob)]
    return tables


def _slope_columns(problem: Any, posterior: Posterior, names: Mapping[str, str], prob: float) -> Columns:
    unit, units = problem.unit[1], problem.added.units

    def stack_slopes(values: Values) -> Floats:
        return np.asarray(unit * np.stack([values[name] for name in names], axis=-1))

    summary, wide = (
        summarise_quantity(posterior, stack_slopes, level)
        for level in (prob, 1.0 - (1.0 - CLEAR_PROBABILITY) / len(names))
    )
    columns: Columns = {"name": np.array(list(names.values()), dtype=object)}
    columns |= {"effect": summary.point, "low": summary.low, "high": summary.high}
    columns["unit"] = np.array([units[name] for name in names.values()])
    return columns | {"clear": (wide.low > 0) | (wide.high < 0)}


def own_family_rows(problem: Any, posterior: Posterior, prob: float) -> Columns:
    """Table of the preference for the own family: judge (None: over all), effect, low, high; only judges concerned."""
    judges = problem.added.concerned
    codes = [problem.judges.index(judge) for judge in judges]
    judge_slopes = _judge_slopes_name(problem.added, OWN_FAMILY)

    def family_effects(values: Values) -> Floats:
        overall = values[EFFECT_PREFIX + OWN_FAMILY][..., None]
        effect = np.zeros(len(codes)) if judge_slopes is None else values[judge_slopes][..., codes]
        return np.asarray(problem.unit[1] * np.concatenate([overall, overall + effect], axis=-1))

    summary = summarise_quantity(posterior, family_effects, prob)
    columns: Columns = {"judge": np.array([None, *judges], dtype=object)}
    return columns | {"effect": summary.point, "low": summary.low, "high": summary.high}


def _judge_slopes_name(added: ResolvedTerms, covariate: str) -> str | None:
    """Name of judges' slopes of a covariate; None without them."""
    names = (term.name for term in added.terms)
    return next((name for name in names if {*term_label(name).split(FACTOR_SEPARATOR)} == {"judge", covariate}), None)


def _term_rows(
    problem: Problem, added: ResolvedTerms, posterior: Posterior, term: Term, prob: float
) -> list[dict[str, Any]]:
    def term_values(values: Values) -> Floats:
        value: Floats = problem.unit[1] * values[term.name]
        return value @ added.walk.T if STEP in term.factors else value

    summary = summarise_quantity(posterior, term_values, prob)
    names = [_level_names(problem, added, factor) for factor in term.factors]
    levels: Any = np.array(np.meshgrid(*names, indexing="ij")).reshape(len(names), -1).T if names else [[]]
    labels = [", ".join(map(str, level)) for level in levels]
    parts = {"value": summary.point, "low": summary.low, "high": summary.high}
    columns: Columns = {
        "term": np.full(len(labels), term_label(term.name), dtype=object),
        "level": np.array(labels, dtype=object),
    }
    return to_records(columns | {name: np.ravel(part) for name, part in parts.items()})


def _level_names(problem: Problem, added: ResolvedTerms, factor: str) -> list[str]:
    return list(added.periods) if factor == STEP else problem.coords[factor]
