"""Effects of terms beside a model's own, for JSON: of covariates, of own families, and values of all others.

The spreads that a model with structure learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.further_terms import Resolved
from voirdire.model.design import Term
from voirdire.model.panel_density import ALONE, STEP, term_label
from voirdire.model.problem import Problem
from voirdire.model.term_rows import TIMES
from voirdire.model.terms.parameters import LogExponential
from voirdire.model.terms.reliability import Values
from voirdire.tables.covariates import OWN_FAMILY
from voirdire.typing import Floats

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
    of = {ALONE + name: name for name in added.units}
    slopes = {name: of[name] for name in names if name in of}
    found: dict[str, Any] = {}
    if slopes:
        found["covariates"] = to_records(_slope_columns(problem, posterior, slopes, prob))
    of_judges = _judge_slopes_name(added, OWN_FAMILY)
    if ALONE + OWN_FAMILY in names:
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
        whole = values[ALONE + OWN_FAMILY][..., None]
        own = np.zeros(len(at)) if of_judges is None else values[of_judges][..., at]
        return {"effect": problem.unit[1] * np.concatenate([whole, whole + own], axis=-1)}

    shown = posterior.shown(family_effects, prob)["effect"]
    columns: Columns = {"judge": np.array([None, *judges], dtype=object)}
    return columns | {"effect": shown.point, "low": shown.low, "high": shown.high}


def _judge_slopes_name(added: Resolved, covariate: str) -> str | None:
    """Name of judges' slopes of a covariate; None without them."""
    names = (term.name for term in added.terms)
    return next((name for name in names if {*term_label(name).split(TIMES)} == {"judge", covariate}), None)


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
