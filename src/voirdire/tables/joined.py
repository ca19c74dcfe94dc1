"""Rows of two tables of one kind as one table, under the names of both."""

from __future__ import annotations

from dataclasses import fields
from functools import singledispatch
from typing import Any, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.counts import Votes, count_votes
from voirdire.tables.encode import level_positions
from voirdire.tables.labels import Labels
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import Rated, report_repeats
from voirdire.tables.scores import Scores
from voirdire.tables.vote_attributes import Details

T = TypeVar("T", Votes, Scores, Labels)

_NAMES = {"judge": "judges", "criterion": "criteria", "item": "items"}
_MORE = {"context": "contexts", "system": "systems", "phase": "phases"}  # kept where both tables have them
_BOTH = {"run": "runs", "group": "groups"}  # columns of both tables or of neither


def joined_table(old: T, new: T) -> T:
    """The answers of two tables; votes are only counted where one of the tables is.

    Columns that say more about a row (context, system, phase) are kept where both tables have them.

    Raises
    ------
    InputError
        One table alone has criteria, runs or groups; a judge answers twice in one run.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": ["a"], "first": "x", "second": "y", "winner": "x"})
    >>> both = joined_table(read_votes(table), read_votes(table.assign(second="z", winner="tie")))
    >>> both.items, both.counts.tolist()
    (('x', 'y', 'z'), [[1, 0, 0], [0, 0, 1]])
    """
    if old.has_criteria != new.has_criteria:
        _refuse_different_columns(old.data, "criteria", old.has_criteria)
    both: T = _join_tables(old, new)
    return both


def _refuse_different_columns(kind: str, column: str, old_has: bool) -> None:
    have = ("have", "have no") if old_has else ("have no", "have")
    raise InputError(f"the old {kind} {have[0]} {column}, the new ones {have[1]}; give both the same columns")


@singledispatch
def _join_tables(old: Any, new: Any) -> Any:
    """Both tables as one, by what a table of their kind holds."""
    raise TypeError(f"{type(old).__name__} is no table")


@_join_tables.register
def _join_votes(old: Votes, new: Votes) -> Votes:
    names = tuple(_all_names(getattr(old, name), getattr(new, name)) for name in _NAMES.values())
    parts = [[*table.codes_among(*names).values()] for table in (old, new)]
    only_counts = not (old.has_rows and new.has_rows)
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
        contexts = _all_names(old.contexts, new.contexts)
        context = np.concatenate([level_positions(t.contexts, contexts)[t.row_context] for t in (old, new)])
    found = count_votes(names, tuple(rows), outcome, contexts, context, old.has_criteria)  # type: ignore[arg-type]
    before, after = (None if one.details is None else one.details.time for one in (old, new))
    if before is None or after is None:
        return found
    return found.with_codes(details=Details(time=np.concatenate([before, after])))


@_join_tables.register
def _join_rated(old: Rated, new: Rated) -> Rated:
    found: dict[str, Any] = {name: getattr(old, name) for name in ("has_criteria", "has_items")}
    for column, plural in {**_NAMES, **_MORE, **_BOTH}.items():
        if not hasattr(old, plural):
            continue
        codes = [getattr(table, column) for table in (old, new)]
        missing = [code is None for code in codes]
        if column in _BOTH and missing[0] != missing[1]:
            _refuse_different_columns(old.data, plural, missing[1])
        if any(missing):
            found |= {plural: (), column: None}
            continue
        names = _all_names(getattr(old, plural), getattr(new, plural))
        found[plural] = names
        found[column] = np.concatenate(
            [
                np.append(level_positions(getattr(table, plural), names), -1)[code]  # -1: of no group
                for table, code in zip((old, new), codes, strict=True)
            ]
        )
    found["time"] = None if old.time is None or new.time is None else np.concatenate([old.time, new.time])
    if found.get("run") is not None:
        problems = Problems(f"new {old.data}")
        present = {name: value for name, value in found.items() if value is not None}
        report_repeats(present, problems, before=old.rows)
        problems.raise_any()
    found |= old.joined_answers(new)
    return type(old)(**{field.name: found[field.name] for field in fields(old) if field.name in found})


def _all_names(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))
