"""Answers of judges as an audit sees them: numbers beside what people, or the other judges, say of the same thing.

An answer is a number: of votes 1 where the item that is first by name wins, 1/2 for a tie, 0 where the other wins; of
labels 1 for the class that counts as a success and 0 for others; of scores the score. What it is compared with is
people's mean answer where people answered `ENOUGH` of the judge's units, else the mean of the other judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.kinds.labels.success import success
from voirdire.tables.counts import Votes
from voirdire.tables.labels import Labels
from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.tables.rated import known_names
from voirdire.typing import Bools, Floats, Ints

CONFIDENCE = "confidence"  # a column: how sure a judge says it is
ENOUGH = 20  # units that people answered, for a judge to be measured by them


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of all judges, one entry a row of the table.

    Attributes
    ----------
    judges : tuple of str
    judge, unit : int array, shape (rows,)
        Units are what two judges can both answer: runs and the order shown do not matter.
    said : int array, shape (rows,)
        Which of the levels it is; of votes as the items are named, not as they are shown.
    levels : int
    paired : bool
        True of votes.
    value : float array, shape (rows,)
        As a number; NaN where answers are words of which none is known to be better.
    side : float array, shape (rows,), or None
        Of votes 1 where the item first by name was shown first, else -1.
    people : float array, shape (units,)
        People's mean answer as a number, NaN without one.
    people_said : int array, shape (units,)
        The answer of most people; -1 without one.
    time : float array, shape (rows,), or None
    numbers : dict of str to float array
        Further columns; of votes what the item first by name has beyond the other.
    own : float array, shape (rows,), or None
        1 where the item is of the judge's family; of votes where the item first by name alone is, -1 where the other.
    """

    judges: tuple[str, ...]
    judge: Ints
    unit: Ints
    said: Ints
    levels: int
    paired: bool
    value: Floats
    side: Floats | None
    people: Floats
    people_said: Ints
    time: Floats | None
    numbers: Mapping[str, Floats]
    own: Floats | None

    def beyond(self, judge: int) -> tuple[Bools, Floats, bool]:
        """Rows of a judge that can be compared, how far they are beyond the reference, and whether that is people."""
        rows = self.judge == judge
        by_people = len(np.unique(self.unit[rows & ~np.isnan(self.people[self.unit])])) >= ENOUGH
        reference = self.people if by_people else self._others(judge)
        apart = self.value - reference[self.unit]
        used = rows & ~np.isnan(apart)
        return used, apart[used], by_people

    def _others(self, judge: int) -> Floats:
        """Mean of the other judges' mean answers to each unit."""
        size, cells = len(self.people), self.unit * len(self.judges) + self.judge
        known = (self.judge != judge) & ~np.isnan(self.value)
        number = np.bincount(cells[known], minlength=size * len(self.judges))
        total = np.bincount(cells[known], self.value[known], minlength=size * len(self.judges))
        mean = np.where(number > 0, total / np.maximum(number, 1), 0.0).reshape(size, -1)
        there = (number > 0).reshape(size, -1).sum(axis=1)
        return np.where(there > 0, mean.sum(axis=1) / np.maximum(there, 1), np.nan)


def answers_of(
    table: Any,
    persons: Any,
    positive: object,
    covariates: Sequence[str],
    judge_family: Mapping[str, str] | None,
    item_family: Mapping[str, str] | None,
) -> Answers:
    """Put two tables of one kind, judges' and people's (or None), side by side.

    Raises
    ------
    InputError
        A column is missing or no number, or people answered nothing that judges did.
    """
    about = [
        np.stack([names[codes] for names, codes in _about(one)], axis=1)
        for one in (table, persons)
        if one is not None
    ]
    units, unit = np.unique(np.concatenate(about), axis=0, return_inverse=True)
    unit = unit.astype(np.int64)
    mine, theirs = unit[: table.rows], unit[table.rows :]
    if persons is not None and not np.isin(theirs, mine).any():
        raise InputError(
            f"people and judges have answered nothing in common: people {' / '.join(map(str, units[theirs[0]]))!r}, "
            f"judges {' / '.join(map(str, units[mine[0]]))!r}; name items as in the judges' table"
        )
    levels = _levels(table, persons)
    said, value = _said(table, levels, positive)
    people, people_said = np.full(len(units), np.nan), np.full(len(units), -1, dtype=np.int64)
    if persons is not None:
        theirs_said, theirs_value = _said(persons, levels, positive)
        number = np.bincount(theirs, minlength=len(units))
        people = np.where(
            number > 0,
            np.bincount(theirs, theirs_value, minlength=len(units)) / np.maximum(number, 1),
            np.nan,
        )
        people_said = most_said(theirs, theirs_said, len(units), len(levels))
    votes = isinstance(table, Votes)
    time = table.details.time if votes and table.details else getattr(table, "time", None)
    return Answers(
        table.judges,
        table.judge[table.row_cell] if votes else table.judge,
        mine,
        said,
        len(levels),
        votes,
        value,
        _side(table) if votes and not table.order_unknown else None,
        people,
        people_said,
        time,
        {name: _column(table, name) for name in covariates},
        _own(table, judge_family, item_family),
    )


def most_said(unit: Ints, said: Ints, units: int, levels: int) -> Ints:
    """The level that is said most often of each unit, shape (units,); -1 for none, or for several."""
    counts = np.zeros((units, levels))
    np.add.at(counts, (unit, said), 1)
    top = counts.max(axis=1)
    single = (counts == top[:, None]).sum(axis=1) == 1
    return np.where((top > 0) & single, counts.argmax(axis=1), -1).astype(np.int64)


def _about(table: Any) -> list[tuple[Any, Ints]]:
    """What each row is about: names and codes."""
    if isinstance(table, Votes):
        low, high = (f(table.first, table.second)[table.row_cell] for f in (np.minimum, np.maximum))
        found = [(table.criteria, table.criterion[table.row_cell]), (table.items, low), (table.items, high)]
        found += [] if table.row_context is None else [(table.contexts, table.row_context)]
    else:
        names = {"criterion": "criteria", "phase": "phases", "context": "contexts", "item": "items"}
        found = [
            (getattr(table, of), getattr(table, one))
            for one, of in names.items()
            if getattr(table, one) is not None
        ]
    return [(np.array(of, dtype=str), codes) for of, codes in found]


def _levels(table: Any, persons: Any) -> tuple[Any, ...]:
    """Answers that there are; of votes the item first by name, a tie, the other."""
    both = [one for one in (table, persons) if one is not None]
    if isinstance(table, Votes):
        return ("first", "tie", "second")
    if isinstance(table, Labels):
        return tuple(dict.fromkeys(name for one in both for name in one.labels))
    return tuple(np.unique(np.concatenate([one.score for one in both])))


def _said(table: Any, levels: tuple[Any, ...], positive: object) -> tuple[Ints, Floats]:
    """Which answer each row is, and its number."""
    if isinstance(table, Votes):
        swapped = (table.first > table.second)[table.row_cell]
        outcome = np.select([table.row_outcome == 2, (table.row_outcome == 0) != swapped], [1, 0], 2)
        return outcome.astype(np.int64), 1 - outcome / 2
    if isinstance(table, Labels):
        said = np.array([levels.index(one) for one in table.labels])[table.label]
        good = success(levels, positive)
        if good is not None:
            return said, (said == levels.index(good)).astype(float)
        return said, said.astype(float) if table.declared else np.full(table.rows, np.nan)
    return np.searchsorted(np.array(levels), table.score).astype(np.int64), table.score


def _side(table: Votes) -> Floats:
    return np.where(table.first < table.second, 1.0, -1.0)[table.row_cell]


def _column(table: Any, name: str) -> Floats:
    """Numbers of a further column; of votes the difference of both items."""
    cells = table.further.columns
    sided = isinstance(table, Votes) and name != CONFIDENCE
    needed = [f"{name}_first", f"{name}_second"] if sided else [name]
    if missing := [repr(one) for one in needed if one not in cells]:
        has = known_names(table.further.present)
        raise InputError(
            f"covariates: the table has no column {' and no column '.join(missing)}; it has {has}"
        )
    numbers = [_numbers(cells[one], one) for one in needed]
    return (numbers[0] - numbers[1]) * _side(table) if sided else numbers[0]


def _numbers(cells: Sequence[object], name: str) -> Floats:
    problems, found = Problems("table"), np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        try:
            found[row] = read_number(str(cell))
        except ValueError:
            problems.rows([row + 1], f"{name} {cell!r} is no number")
    problems.raise_any()
    return found


def _own(
    table: Any, judge_family: Mapping[str, str] | None, item_family: Mapping[str, str] | None
) -> Floats | None:
    if judge_family is None or item_family is None:
        return None
    votes = isinstance(table, Votes)
    named = np.array(
        [item_family.get(one, "") for one in (table.systems if not votes and table.systems else table.items)]
    )
    of_judge = np.array([judge_family.get(one, "") for one in table.judges], dtype=object)
    if votes:
        judge = of_judge[table.judge[table.row_cell]]
        low, high = (f(table.first, table.second)[table.row_cell] for f in (np.minimum, np.maximum))
        return np.asarray((named[low] == judge).astype(float) - (named[high] == judge))
    item = table.system if table.systems else table.item
    return np.asarray((named[item] == of_judge[table.judge]).astype(float))
