"""A fit brought up to date with new answers, starting from where it was."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.fit.answer_weight import weigh_answers, weigh_answers_at
from voirdire.fit.likelihood import maximise_likelihood
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
    """Fit the same model, by the same method, to the answers of a fit and new ones.

    Everything is as in a fit to all answers at once, except where it begins. A fit by chains hands on its draws, which
    new answers move (:mod:`voirdire.infer.latent_gaussian.draw_transport`): the result is that of a new fit within
    Monte Carlo error, for what the new answers cost. Other fits hand on their mode: the search begins there, and ends
    where a new one does, up to its tolerance; so do fits whose draws the new answers move too far, which a note says.
    Judges, items and criteria that are new begin where a fit begins. The scale of scores and classes of labels that
    were named stay.

    Parameters
    ----------
    fit : Fit
        Without anchors; those that say how far the panel is from people stay as they are.
    votes : path, dataframe, table or list of two
        New votes, labels or scores of judges, whichever the fit is of; of votes and scores either or both.
    criteria : path, dataframe or Votes, optional
        Where the fit takes some: new votes on criteria, or of scores the weights of all criteria; as
        :func:`voirdire.fit` takes them.

    Raises
    ------
    InputError
        The new table is wrong or of another kind, has answers of people, or the fit has anchors.

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
    known, kind = fit.problem, fit.kind
    if fit.anchored is not None or kind.has_anchors(known):
        raise InputError("update() is for fits without anchors; fit all answers again with the anchors")
    if split_people(votes)[1]:
        raise InputError("update() takes answers of judges; fit all answers again with those of people")
    everything = kind.join(known, votes)
    if known.target_answers is not None:
        check_people_not_judges(known.target_answers.people, everything.judges)
    weighed = None if criteria is None else kind.on_criteria(known, everything.criteria, criteria)
    posed = kind.problem_with_table(known, table=everything, criteria=weighed)
    how = Method(fit.asked or fit.method, fit.seed, fit.sampler or "numpyro", *_sampling_sizes(fit))
    problem, notes, found = _infer_update(fit, posed, how)
    # notes on the table as it was
    anew = (
        "Duplicate judges:",
        "Families:",
        "Sampled with",
        NO_LAPLACE_PREFIX,
        ADAM_NOTE,
        UPDATED_PREFIX,
        REFIT_PREFIX,
    )
    said = {*kind.outcome(known, fit.posterior), *found.notes}
    kept = [note for note in fit.notes if note not in said and not note.startswith(anew)]
    posterior = kind.evened(problem, found.posterior)
    problem = replace(problem, about=known.about, target_answers=known.target_answers)
    return replace(
        fit,
        problem=problem,
        posterior=posterior,
        seconds=time.perf_counter() - start,
        method=found.method,
        sampler=how.sampler_of(found.method),
        method_checks=found.checks,
        notes=(*kept, *notes, *kind.outcome(problem, found.posterior), *found.notes),
        sample_stats=found.sample_stats,
    )


def _infer_update(fit: Fit, posed: Problem, how: Method) -> tuple[Problem, tuple[str, ...], Inferred]:
    """The problem with its answers weighed, notes on that, and its posterior."""
    if how.name == "adam":
        panel = maximise_likelihood(posed, fit.seed)
        return panel.problem, panel.notes, infer_posterior(panel.problem, panel.mode, how)
    known, draws = fit.problem, fit.posterior.draws
    near = carry_centre(fit.posterior.centre, known, posed)
    why: tuple[str, ...] = ()
    if fit.method == "hmc" and draws is not None:
        problem, notes = weigh_answers_at(posed, fit.families, near)
        found = infer_from_old_draws(known, draws, problem, how)
        if isinstance(found, Inferred):
            return problem, notes, found
        why = (found,)
    panel = weigh_answers(posed, fit.families, near, chains=how.chain_seconds)
    found = infer_posterior(panel.problem, panel.mode, how)
    return panel.problem, panel.notes, replace(found, notes=(*found.notes, *why))


def carry_centre(x: Floats, old: Problem, new: Problem) -> Floats:
    """The centre of one problem's posterior as a point of another's: by names, the rest as a search begins."""
    if old.density == new.density and old.coords == new.coords:
        return x
    density = new.density
    values = density.values(density.starts(new.data)[0], np)
    known = old.density.values(x, np)
    for parameter in density.parameters:
        if parameter.name not in known:
            continue
        places = [level_positions(old.coords[dim], new.coords[dim]) for dim in parameter.dims]
        kept = [place >= 0 for place in places]
        value = values[parameter.name].copy()
        here = np.ix_(*(place[keep] for place, keep in zip(places, kept, strict=True))) if places else ()
        value[here] = known[parameter.name][np.ix_(*kept) if kept else ()]
        values[parameter.name] = value - value.mean(axis=-1, keepdims=True) if parameter.zero_sum else value
    return np.asarray(density.flat(values, np), dtype=float)


def _sampling_sizes(fit: Fit) -> tuple[int, int, int]:
    """Chains, warm-up and draws of NUTS; of its warm-up nothing is kept."""
    if (fit.asked or fit.method) != "nuts" or fit.posterior.draws is None:
        return 4, 500, 1000
    chains, draws = fit.posterior.draws.shape[:2]
    return chains, 500, draws
