"""Joining of the rows of two tables of one kind, with the names of both."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.counts import Votes, count_votes
from voirdire.tables.encode import level_positions
from voirdire.tables.labels import Labels
from voirdire.tables.problems import Problems
from voirdire.tables.ratings import Rated, report_repeats
from voirdire.tables.scores import Scores
from voirdire.tables.vote_columns import Details

T = TypeVar("T", Votes, Scores, Labels)

_NAME_FIELDS = {"judge": "judges", "criterion": "criteria", "item": "items"}
#: Columns that are kept if both tables have them.
_OPTIONAL_FIELDS = {"context": "contexts", "system": "systems", "phase": "phases"}
#: Columns that both tables must have, or neither.
_SHARED_FIELDS = {"run": "runs", "group": "groups"}


def joined_table(old: T, new: T) -> T:
    """Join the answers of two tables; votes keep only counts where one of the tables has only counts.

    The columns context, system and phase are kept if both tables have them.

    Raises
    ------
    InputError
        Only one table has criteria, runs or groups; or a judge answers a question twice in one run.

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
    join: Any = _join_votes if old.compares_items else _join_rated
    joined: T = join(old, new)
    return joined


def _refuse_different_columns(kind: str, column: str, old_has: bool) -> None:
    verbs = ("have", "have no") if old_has else ("have no", "have")
    raise InputError(f"the old {kind} {verbs[0]} {column}, the new ones {verbs[1]}; give both the same columns")


def _join_votes(old: Votes, new: Votes) -> Votes:
    names = tuple(_all_names(getattr(old, name), getattr(new, name)) for name in _NAME_FIELDS.values())
    parts = [[*table.codes_among(*names).values()] for table in (old, new)]
    only_counts = not (old.has_rows and new.has_rows)
    if only_counts:
        codes = [np.concatenate([np.repeat(part[axis], 3) for part in parts]) for axis in range(4)]
        outcome = np.tile(np.arange(3), len(codes[0]) // 3)
        times = np.concatenate([table.counts.ravel() for table in (old, new)])
        occurring = times > 0
        kept_codes = (codes[0][occurring], codes[1][occurring], codes[2][occurring], codes[3][occurring])
        outcome, times = outcome[occurring], times[occurring]
        return count_votes(names, kept_codes, outcome, has_criteria=old.has_criteria, times=times)  # type: ignore[arg-type]
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
    votes = count_votes(names, tuple(rows), outcome, contexts, context, old.has_criteria)  # type: ignore[arg-type]
    old_time, new_time = (None if source.details is None else source.details.time for source in (old, new))
    if old_time is None or new_time is None:
        return votes
    return votes.with_codes(details=Details(time=np.concatenate([old_time, new_time])))


def _join_rated(old: Rated, new: Rated) -> Rated:
    joined: dict[str, Any] = {name: getattr(old, name) for name in ("has_criteria", "has_items")}
    for column, plural in {**_NAME_FIELDS, **_OPTIONAL_FIELDS, **_SHARED_FIELDS}.items():
        if not hasattr(old, plural):
            continue
        codes = [getattr(table, column) for table in (old, new)]
        missing = [code is None for code in codes]
        if column in _SHARED_FIELDS and missing[0] != missing[1]:
            _refuse_different_columns(old.data, plural, missing[1])
        if any(missing):
            joined |= {plural: (), column: None}
            continue
        names = _all_names(getattr(old, plural), getattr(new, plural))
        joined[plural] = names
        joined[column] = np.concatenate(
            [
                np.append(level_positions(getattr(table, plural), names), -1)[code]  # -1: no group
                for table, code in zip((old, new), codes, strict=True)
            ]
        )
    joined["time"] = None if old.time is None or new.time is None else np.concatenate([old.time, new.time])
    if joined.get("run") is not None:
        problems = Problems(f"new {old.data}")
        present = {name: value for name, value in joined.items() if value is not None}
        report_repeats(present, problems, old_rows=old.rows)
        problems.raise_any()
    joined |= old.joined_answers(new)
    return type(old)(**{field.name: joined[field.name] for field in fields(old) if field.name in joined})


def _all_names(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*left, *right}))
