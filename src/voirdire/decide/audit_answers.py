"""Answers of judges with a reference: the answers of people, or of the other judges, to the same units.

An answer is a number: for votes 1 where the item that is first by name wins, 1/2 for a tie, 0 where the other wins; for
labels 1 for the class that counts as a success and 0 for others; for scores the score. The reference is people's mean
answer where people answered `MIN_PEOPLE_UNITS` of the judge's units, otherwise the mean of the other reference judges.
Copies of other judges and judges with a bias in the tested measure leave the reference, because either would make
all other judges look biased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.decide.answer_rows import rows_of, unit_name
from voirdire.decide.unit_means import UnitMeans, mean_by_code
from voirdire.errors import InputError
from voirdire.typing import Bools, Floats, Ints

MIN_REFERENCE_JUDGES = 3  # smallest number of judges left in a reference after exclusions
MIN_PEOPLE_UNITS = 20  # smallest number of units answered by people for a comparison with people


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of all judges, one entry a row of the table.

    Attributes
    ----------
    judges : tuple of str
    judge, unit : int array, shape (rows,)
        A unit is a question that two judges can both answer, regardless of run and order shown.
    level : int array, shape (rows,)
        Level code of the answer; for votes by the items' names, not by the order shown.
    levels : int
        Number of levels.
    paired : bool
        True for votes.
    value : float array, shape (rows,)
        The answer as a number; NaN where answers are words without a known order.
    side : float array, shape (rows,), or None
        For votes 1 where the item first by name was shown first, else -1.
    people : float array, shape (units,)
        People's mean answer as a number, NaN without one.
    people_level : int array, shape (units,)
        Level code of people's most frequent answer; -1 without one.
    time : float array, shape (rows,), or None
    numbers : dict of str to float array
        Additional columns; for votes the value of the item first by name minus that of the other.
    own_family : float array, shape (rows,), or None
        1 where the item is of the judge's family; for votes 1 where only the item first by name is, -1 the other.
    reference : bool array, shape (judges,)
        True for judges in the reference that replaces people.
    """

    judges: tuple[str, ...]
    judge: Ints
    unit: Ints
    level: Ints
    levels: int
    paired: bool
    value: Floats
    side: Floats | None
    people: Floats
    people_level: Ints
    time: Floats | None
    numbers: Mapping[str, Floats]
    own_family: Floats | None
    reference: Bools

    def without_judges(self, judges: Bools) -> Answers:
        """Remove judges from the reference; unchanged where fewer than `MIN_REFERENCE_JUDGES` would remain.

        Parameters
        ----------
        judges : bool array, shape (judges,)
            True for judges to remove.
        """
        remaining = self.reference & ~judges
        return replace(self, reference=remaining) if remaining.sum() >= MIN_REFERENCE_JUDGES else self

    def reference_differences(self, judge: int) -> tuple[Ints, Floats, bool]:
        """Comparable rows of a judge, their differences from the reference, and True where the reference is people."""
        if judge not in self._difference_cache:
            rows = self.rows_of_judge[judge]
            unit = self.unit[rows]
            by_people = len(np.unique(unit[~np.isnan(self.people[unit])])) >= MIN_PEOPLE_UNITS
            reference = self.people[unit] if by_people else self._reference_means.mean_over_judges(unit, judge)
            difference = self.value[rows] - reference
            used = ~np.isnan(difference)
            self._difference_cache[judge] = rows[used], difference[used], by_people
        return self._difference_cache[judge]

    @cached_property
    def rows_of_judge(self) -> list[Ints]:
        """Rows of each judge, in table order."""
        order = np.argsort(self.judge, kind="stable")
        ends = np.cumsum(np.bincount(self.judge, minlength=len(self.judges)))
        return np.split(order, ends[:-1])

    @cached_property
    def level_counts(self) -> Ints:
        """Number of answers of each level in each unit, shape (units, levels)."""
        cell = self.unit * self.levels + self.level
        size = len(self.people) * self.levels
        return np.bincount(cell, minlength=size).reshape(-1, self.levels)

    @cached_property
    def _difference_cache(self) -> dict[int, tuple[Ints, Floats, bool]]:
        """Cache of :meth:`reference_differences`, which every measure of every judge calls."""
        return {}

    @cached_property
    def _reference_means(self) -> UnitMeans:
        """Mean answers of the judges in the reference."""
        known = self.reference[self.judge] & ~np.isnan(self.value)
        return UnitMeans.from_values(self.unit[known], self.judge[known], self.value[known], len(self.people))


def pair_with_reference(
    table: Any,
    persons: Any,
    positive: object,
    covariates: Sequence[str],
    judge_family: Mapping[str, str] | None,
    item_family: Mapping[str, str] | None,
) -> Answers:
    """Match two tables of one kind: the judges' and the people's (or None).

    Raises
    ------
    InputError
        A column is missing or not a number, or people answered nothing that judges did.
    """
    judge_rows, people_rows = rows_of(table), None if persons is None else rows_of(persons)
    about = [
        np.stack(list(rows.subject_columns().values()), axis=1)
        for rows in (judge_rows, people_rows)
        if rows is not None
    ]
    units, unit = np.unique(np.concatenate(about), axis=0, return_inverse=True)
    unit = unit.astype(np.int64)
    judge_unit, people_unit = unit[: table.rows], unit[table.rows :]
    if persons is not None and not np.isin(people_unit, judge_unit).any():
        raise InputError(
            f"people and judges have answered nothing in common: people {unit_name(units[people_unit[0]])!r}, judges "
            f"{unit_name(units[judge_unit[0]])!r}; name items as in the judges' table"
        )
    levels = judge_rows.levels(people_rows)
    level, value = judge_rows.level_codes(levels, positive)
    people, people_level = np.full(len(units), np.nan), np.full(len(units), -1, dtype=np.int64)
    if people_rows is not None:
        person_level, person_value = people_rows.level_codes(levels, positive)
        people = mean_by_code(people_unit, person_value, len(units))
        people_level = most_frequent_level(people_unit, person_level, len(units), len(levels))
    return Answers(
        table.judges,
        judge_rows.judge,
        judge_unit,
        level,
        len(levels),
        table.compares_items,
        value,
        judge_rows.side,
        people,
        people_level,
        judge_rows.time,
        {name: judge_rows.further(name) for name in covariates},
        None if judge_family is None or item_family is None else judge_rows.own_family(judge_family, item_family),
        np.ones(len(table.judges), dtype=bool),
    )


def most_frequent_level(unit: Ints, level: Ints, units: int, levels: int) -> Ints:
    """The most frequent level of each unit, shape (units,); -1 without answers or with a tie."""
    return unique_mode(np.bincount(unit * levels + level, minlength=units * levels).reshape(units, levels))


def unique_mode(counts: Ints) -> Ints:
    """The most frequent level in each row of counts (units, levels), shape (units,); -1 for no counts or a tie."""
    top = counts.max(axis=1)
    single = (counts == top[:, None]).sum(axis=1) == 1
    return np.where((top > 0) & single, counts.argmax(axis=1), -1).astype(np.int64)
