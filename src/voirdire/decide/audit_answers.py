"""Answers of judges as an audit sees them: numbers beside what people, or the other judges, say of the same thing.

An answer is a number: of votes 1 where the item that is first by name wins, 1/2 for a tie, 0 where the other wins; of
labels 1 for the class that counts as a success and 0 for others; of scores the score. What it is compared with is
people's mean answer where people answered `ENOUGH` of the judge's units, else the mean of the other judges: those that
are the reference. A copy is not in it, nor a judge with a bias in the comparison that is made: either would look like a
bias of all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import rows_of
from voirdire.errors import InputError
from voirdire.typing import Bools, Floats, Ints

FEWEST_JUDGES = 3  # in a reference from which some are left out
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
    reference : bool array, shape (judges,)
        Judges with whom the others are compared where people are not.
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
    reference: Bools

    def without(self, judges: Bools) -> Answers:
        """The same with some judges out of the reference; unchanged where fewer than `FEWEST_JUDGES` would be left.

        Parameters
        ----------
        judges : bool array, shape (judges,)
        """
        left = self.reference & ~judges
        return replace(self, reference=left) if left.sum() >= FEWEST_JUDGES else self

    def beyond(self, judge: int) -> tuple[Bools, Floats, bool]:
        """Rows of a judge that can be compared, how far they are beyond the reference, and whether that is people."""
        rows = self.judge == judge
        by_people = len(np.unique(self.unit[rows & ~np.isnan(self.people[self.unit])])) >= ENOUGH
        reference = self.people if by_people else self._mean_of_others(judge)
        apart = self.value - reference[self.unit]
        used = rows & ~np.isnan(apart)
        return used, apart[used], by_people

    def _mean_of_others(self, judge: int) -> Floats:
        """Mean of the mean answers to each unit of the other judges in the reference."""
        size, cells = len(self.people), self.unit * len(self.judges) + self.judge
        known = (self.judge != judge) & self.reference[self.judge] & ~np.isnan(self.value)
        number = np.bincount(cells[known], minlength=size * len(self.judges))
        total = np.bincount(cells[known], self.value[known], minlength=size * len(self.judges))
        mean = np.where(number > 0, total / np.maximum(number, 1), 0.0).reshape(size, -1)
        there = (number > 0).reshape(size, -1).sum(axis=1)
        return np.where(there > 0, mean.sum(axis=1) / np.maximum(there, 1), np.nan)


def pair_with_reference(
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
    mine_rows, their_rows = rows_of(table), None if persons is None else rows_of(persons)
    about = [
        np.stack(list(one.about().values()), axis=1) for one in (mine_rows, their_rows) if one is not None
    ]
    units, unit = np.unique(np.concatenate(about), axis=0, return_inverse=True)
    unit = unit.astype(np.int64)
    mine, theirs = unit[: table.rows], unit[table.rows :]
    if persons is not None and not np.isin(theirs, mine).any():
        raise InputError(
            f"people and judges have answered nothing in common: people {' / '.join(map(str, units[theirs[0]]))!r}, "
            f"judges {' / '.join(map(str, units[mine[0]]))!r}; name items as in the judges' table"
        )
    levels = mine_rows.levels(their_rows)
    said, value = mine_rows.said(levels, positive)
    people, people_said = np.full(len(units), np.nan), np.full(len(units), -1, dtype=np.int64)
    if their_rows is not None:
        theirs_said, theirs_value = their_rows.said(levels, positive)
        number = np.bincount(theirs, minlength=len(units))
        people = np.where(
            number > 0,
            np.bincount(theirs, theirs_value, minlength=len(units)) / np.maximum(number, 1),
            np.nan,
        )
        people_said = most_frequent_level(theirs, theirs_said, len(units), len(levels))
    return Answers(
        table.judges,
        mine_rows.judge,
        mine,
        said,
        len(levels),
        mine_rows.paired,
        value,
        mine_rows.side,
        people,
        people_said,
        mine_rows.time,
        {name: mine_rows.further(name) for name in covariates},
        None if judge_family is None or item_family is None else mine_rows.own(judge_family, item_family),
        np.ones(len(table.judges), dtype=bool),
    )


def most_frequent_level(unit: Ints, said: Ints, units: int, levels: int) -> Ints:
    """The level that is said most often of each unit, shape (units,); -1 for none, or for several."""
    counts = np.zeros((units, levels))
    np.add.at(counts, (unit, said), 1)
    top = counts.max(axis=1)
    single = (counts == top[:, None]).sum(axis=1) == 1
    return np.where((top > 0) & single, counts.argmax(axis=1), -1).astype(np.int64)
