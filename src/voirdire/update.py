"""A fit brought up to date with new votes, starting from where it was."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire import kinds
from voirdire.errors import InputError
from voirdire.problem import Problem, pose
from voirdire.tables.counted import CountedVotes
from voirdire.tables.votes import Votes, count_votes, read_votes

if TYPE_CHECKING:
    from voirdire.result import Fit

Floats = npt.NDArray[np.float64]


def update(fit: Fit, votes: object, criteria: object = None) -> Fit:
    """Fit the same model, by the same method, to the votes of a fit and new ones.

    Everything is as in a fit to all votes at once, up to the tolerance of the search, except that the search begins at
    the mode that is known: judges, items and criteria that are new begin where a fit begins.

    Parameters
    ----------
    fit : Fit
        Of votes, without anchors.
    votes, criteria : path, dataframe or Votes
        New votes on items and, where the fit has some, on criteria; as :func:`voirdire.fit` takes them.

    Raises
    ------
    InputError
        The new table is wrong, or the fit is not one of votes or has anchors.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.fit import fit as fit_votes
    >>> table = pd.DataFrame({"judge": ["a", "b", "b"], "first": "x", "second": "y", "winner": "first"})
    >>> old = fit_votes(table, model="crowd-bt", method="map")
    >>> int(update(old, table.assign(second="z")).judges()["votes"].sum())
    6
    """
    from voirdire.infer.method import Method, infer
    from voirdire.trust.alike import discounted

    start = time.perf_counter()
    known = kinds.votes_problem(fit.problem, "update")
    if fit.anchored is not None:
        raise InputError("update() is for fits without anchors; fit all votes again with the anchors")
    everything = joined(known.votes, read_votes(votes, rows=False))
    on_criteria = known.criteria_votes
    if criteria is not None:
        more = read_votes(criteria, name="votes on criteria")
        on_criteria = more if on_criteria is None else joined(on_criteria, more)
    posed = pose(fit.model, everything, on_criteria)
    panel = discounted(posed, fit.families, carried(fit.posterior.centre, known, posed))
    how = Method(fit.method, fit.seed, fit.sampler or "numpyro", *_sizes(fit))
    found = infer(panel.problem, panel.mode, how)
    kept = [note for note in fit.notes if not note.startswith(("Near-copies:", "Families:"))]
    return replace(
        fit,
        problem=panel.problem,
        posterior=found.posterior,
        seconds=time.perf_counter() - start,
        method_checks=found.checks,
        notes=(*kept, *panel.notes),
        sample_stats=found.sample_stats,
    )


def joined(old: Votes, new: Votes) -> Votes:
    """The votes of two tables; only counted where one of them is.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["a"], "first": "x", "second": "y", "winner": "x"})
    >>> both = joined(read_votes(table), read_votes(table.assign(second="z", winner="tie")))
    >>> both.items, both.counts.tolist()
    (('x', 'y', 'z'), [[1, 0, 0], [0, 0, 1]])
    """
    if old.has_criteria != new.has_criteria:
        have = ("have", "have no") if old.has_criteria else ("have no", "have")
        raise InputError(
            f"the old votes {have[0]} criteria, the new ones {have[1]}; give both the same columns"
        )
    names = tuple(
        tuple(sorted({*getattr(old, name), *getattr(new, name)})) for name in ("judges", "criteria", "items")
    )
    parts = [_placed(table, names) for table in (old, new)]
    only_counts = any(isinstance(table, CountedVotes) for table in (old, new))
    if only_counts:
        codes = [np.concatenate([np.repeat(part[axis], 3) for part in parts]) for axis in range(4)]
        outcome = np.tile(np.arange(3), len(codes[0]) // 3)
        times = np.concatenate([table.counts.ravel() for table in (old, new)])
        some = times > 0
        here = (codes[0][some], codes[1][some], codes[2][some], codes[3][some])
        return count_votes(names, here, outcome[some], has_criteria=old.has_criteria, times=times[some])  # type: ignore[arg-type]
    rows = [
        np.concatenate([part[axis][table.row_cell] for part, table in zip(parts, (old, new), strict=True)])
        for axis in range(4)
    ]
    outcome = np.concatenate([old.row_outcome, new.row_outcome])
    contexts: tuple[str, ...] = ()
    context = None
    if old.row_context is not None and new.row_context is not None:
        contexts = tuple(sorted({*old.contexts, *new.contexts}))
        context = np.concatenate([_places(t.contexts, contexts)[t.row_context] for t in (old, new)])
    return count_votes(names, tuple(rows), outcome, contexts, context, old.has_criteria)  # type: ignore[arg-type]


def carried(x: Floats, old: Problem, new: Problem) -> Floats:
    """The centre of one problem's posterior as a point of another's: by names, the rest as a search begins."""
    from voirdire.infer.starts import starting_point

    if old.program == new.program and old.coords == new.coords:
        return x
    program = new.program
    values = program.values(starting_point(program, new.data, np.ones(program.judges)), np)
    known = old.program.values(x, np)
    levels = {"judge": (old.judges, new.judges), "criterion": (old.criteria, new.criteria)}
    levels["item"] = (old.items, new.items)
    for parameter in program.parameters:
        if parameter.name not in known:
            continue
        places = [_places(*levels[dim]) for dim in parameter.dims]
        value = values[parameter.name].copy()
        value[np.ix_(*places) if places else ()] = known[parameter.name]
        values[parameter.name] = value - value.mean(axis=-1, keepdims=True) if parameter.zero_sum else value
    return np.asarray(program.flat(values, np), dtype=float)


def _sizes(fit: Fit) -> tuple[int, int, int]:
    """Chains, warm-up and draws of NUTS; of its warm-up nothing is kept."""
    if fit.method != "nuts" or fit.posterior.draws is None:
        return 4, 500, 1000
    chains, draws = fit.posterior.draws.shape[:2]
    return chains, 500, draws


def _placed(table: Votes, names: tuple[tuple[str, ...], ...]) -> list[npt.NDArray[np.int64]]:
    judges, criteria, items = names
    item = _places(table.items, items)
    return [
        _places(table.judges, judges)[table.judge],
        _places(table.criteria, criteria)[table.criterion],
        item[table.first],
        item[table.second],
    ]


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> npt.NDArray[np.int64]:
    place = {name: index for index, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.int64)
