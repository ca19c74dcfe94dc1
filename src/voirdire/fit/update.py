"""Update of a fit with new answers, starting from the old fit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.fit.answer_weight import maximise_likelihood, weigh_answers, weigh_answers_at
from voirdire.infer.by_old_draws import REFIT_PREFIX, UPDATED_PREFIX, infer_from_old_draws
from voirdire.infer.infer import infer_posterior
from voirdire.infer.method import ADAM_NOTE, NO_LAPLACE_PREFIX, Inferred, Method
from voirdire.kinds.fit import Fit
from voirdire.model.problem import Problem
from voirdire.tables.encode import level_positions
from voirdire.tables.people import check_people_not_judges, split_people
from voirdire.typing import Floats

F = TypeVar("F", bound=Fit)


def update(fit: F, votes: object, criteria: object = None) -> F:
    """Fit the same model, by the same method, to the old answers of a fit and new ones.

    The result is that of a fit to all answers at once; only the start differs. A fit by chains starts from its old
    draws, moved by the new answers (:mod:`voirdire.infer.by_old_draws`): the result equals that of a
    new fit within Monte Carlo error, at the cost of the new answers. Other fits start the search from the old mode and
    end at the same mode as a new fit, up to the tolerance. So do fits whose draws would move too far, with a note. New
    judges, items and criteria start as in a new fit. A given scale of scores and given classes of labels do not change.

    Parameters
    ----------
    fit : Fit
        A fit without anchors; people's answers that estimate the gap between panel and people are kept.
    votes : path, dataframe, table or list of two
        New answers of judges, of the kind of the fit; for votes and scores either or both.
    criteria : path, dataframe or Votes, optional
        New votes on criteria, or for scores the weights of all criteria, as in :func:`voirdire.fit`, if the fit takes
        them.

    Raises
    ------
    InputError
        If the new table is not valid or of another kind, has answers of people, or the fit has anchors.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit as fit_votes
    >>> table = pd.DataFrame({"judge": ["a", "b", "b"], "first": "x", "second": "y", "winner": "first"})
    >>> old = fit_votes(table, model="crowd-bt", method="map")
    >>> int(update(old, table.assign(second="z")).judges()["votes"].sum())
    6
    """
    start = time.perf_counter()
    old, kind = fit.problem, fit.kind
    if fit.anchored is not None or kind.has_anchors(old):
        raise InputError("update() is for fits without anchors; fit all answers again with the anchors")
    if split_people(votes)[1]:
        raise InputError("update() takes answers of judges; fit all answers again with those of people")
    joined = kind.join(old, votes)
    if old.target_answers is not None:
        check_people_not_judges(old.target_answers.people, joined.judges)
    criteria_votes = None if criteria is None else kind.on_criteria(old, joined.criteria, criteria)
    encoded = kind.problem_with_table(old, table=joined, criteria=criteria_votes)
    method = Method(fit.asked or fit.method, fit.seed, fit.sampler or "numpyro", *_sampling_sizes(fit))
    problem, notes, inferred = _infer_update(fit, encoded, method)
    # notes on the old table
    prefixes = (NO_LAPLACE_PREFIX, ADAM_NOTE, UPDATED_PREFIX, REFIT_PREFIX)
    stale_notes = ("Duplicate judges:", "Families:", "Sampled with", *prefixes)
    old_notes = {*kind.outcome(old, fit.posterior), *inferred.notes}
    kept_notes = [note for note in fit.notes if note not in old_notes and not note.startswith(stale_notes)]
    posterior = kind.evened(problem, inferred.posterior)
    problem = replace(problem, about=old.about, target_answers=old.target_answers)
    return replace(
        fit,
        problem=problem,
        posterior=posterior,
        seconds=time.perf_counter() - start,
        method=inferred.method,
        sampler=method.sampler_of(inferred.method),
        method_checks=inferred.checks,
        notes=(*kept_notes, *notes, *kind.outcome(problem, inferred.posterior), *inferred.notes),
        sample_stats=inferred.sample_stats,
    )


def _infer_update(fit: Fit, encoded: Problem, method: Method) -> tuple[Problem, tuple[str, ...], Inferred]:
    """The problem with answer weights, notes on the weights, and its posterior."""
    if method.name == "adam":
        panel = maximise_likelihood(encoded, fit.seed)
        return panel.problem, panel.notes, infer_posterior(panel.problem, panel.mode, method)
    old, draws = fit.problem, fit.posterior.draws
    start = transfer_centre(fit.posterior.centre, old, encoded)
    reasons: tuple[str, ...] = ()
    if fit.method == "hmc" and draws is not None:
        problem, notes = weigh_answers_at(encoded, fit.families, start)
        inferred = infer_from_old_draws(old, draws, problem, method)
        if isinstance(inferred, Inferred):
            return problem, notes, inferred
        reasons = (inferred,)
    panel = weigh_answers(encoded, fit.families, start, chains=method.chain_seconds)
    inferred = infer_posterior(panel.problem, panel.mode, method)
    return panel.problem, panel.notes, replace(inferred, notes=(*inferred.notes, *reasons))


def transfer_centre(x: Floats, old: Problem, new: Problem) -> Floats:
    """Convert the centre of one problem's posterior to a point of another, by names; new names get starting values."""
    if old.density == new.density and old.coords == new.coords:
        return x
    density = new.density
    values = density.values(density.starts(new.data)[0], np)
    old_values = old.density.values(x, np)
    for parameter in density.parameters:
        if parameter.name not in old_values:
            continue
        places = [level_positions(old.coords[dim], new.coords[dim]) for dim in parameter.dims]
        matched = [place >= 0 for place in places]
        value = values[parameter.name].copy()
        target = np.ix_(*(place[keep] for place, keep in zip(places, matched, strict=True))) if places else ()
        value[target] = old_values[parameter.name][np.ix_(*matched) if matched else ()]
        values[parameter.name] = value - value.mean(axis=-1, keepdims=True) if parameter.zero_sum else value
    return np.asarray(density.flat(values, np), dtype=float)


def _sampling_sizes(fit: Fit) -> tuple[int, int, int]:
    """Chains, warm-up and draws of NUTS; the warm-up is always 500, as it is not stored."""
    if (fit.asked or fit.method) != "nuts" or fit.posterior.draws is None:
        return 4, 500, 1000
    chains, draws = fit.posterior.draws.shape[:2]
    return chains, 500, draws
