"""Ratings of one criterion as a matrix: units in rows, judges in columns, a code for each answer.

Mean scores are rounded, so that ties remain ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.errors import InputError, raise_problems
from voirdire.settings import read_list
from voirdire.tables.encode import dense_codes
from voirdire.tables.problems import names_by_similarity
from voirdire.tables.ratings import known_names

# The last of 16 digits of a sum depends on the order of the terms: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
_SIGNIFICANT_DIGITS = 13


def mean_scores(total: FloatArray, count: FloatArray) -> FloatArray:
    """Compute means from sums and numbers of scores, to 13 significant digits where the number is above 1.

    Parameters
    ----------
    total, count : float array, same shape
        Sums and numbers of scores.

    Returns
    -------
    float array
        Means, NaN where the count is 0.

    Examples
    --------
    >>> total = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.2, 0.0])
    >>> mean_scores(total, np.array([3.0, 3.0, 1.0, 0.0])).tolist()
    [0.2, 0.2, 0.2, nan]
    """
    mean: FloatArray = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    # larger means need no rounding; for smaller ones the power of ten would leave the range of floats
    added = (count > 1) & (np.abs(mean) < 10.0 ** (_SIGNIFICANT_DIGITS - 1)) & (np.abs(mean) > 1e-280)
    power = 10.0 ** (_SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(np.abs(mean[added]))))
    mean[added] = np.round(mean[added] * power) / power
    return mean


def mean_by_judge(
    unit: IntArray, judge: IntArray, score: FloatArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Mean score of each unit by each judge, NaN where there is none, and the number of scores; each of ``shape``."""
    number, total = np.zeros(shape), np.zeros(shape)
    np.add.at(number, (unit, judge), 1)
    np.add.at(total, (unit, judge), score)
    return mean_scores(total, number), number


@dataclass(frozen=True, eq=False)
class Ratings:
    """Answers of each judge about each unit (an item, or a pair of items), for one criterion.

    Attributes
    ----------
    judges : tuple of str
        Names of the columns.
    codes : int64 array, shape (units, judges)
        Index into `levels`; -1 where the judge did not rate the unit.
    levels : tuple of str
        The answers; in their order, if they have one.
    values : float array, shape (levels,), or None
        Numeric values of the levels; None for words.
    ordered : bool
        True if the order of the levels is meaningful.
    contexts : int64 array, shape (units,), or None
        The context (cluster) of each unit, coded 0, 1, ... without gaps.
    units : tuple of str
        Names of the rows, for tables of cases.
    criterion, phase : str or None
        The criterion and the phase, None for a table without.
    tie : str or None
        The level of ties, for votes on pairs.
    pairs : int64 array, shape (units, 2), or None
        The two items of each unit, as indices into `items`; the first level is a vote for the first item.
    items : tuple of str
        Names of the items.
    mirrored : bool
        True if the order of the items of a pair is arbitrary, so that coefficients average over both orders.
    notes : dict of str to str
        Note on changed answers by judge, such as combined repeats.
    ranks : tuple of float array, shape (items, judges) each, or None
        For rankings, the ranks of each unit (a list of items) by each judge; NaN for items left out.
    members : tuple of tuple of str, or None
        For sets of labels, the labels of each level.

    Examples
    --------
    >>> ratings = ratings_from_matrix([["a", "a"], ["b", None]], levels=["a", "b", "c"])
    >>> ratings.codes.tolist(), ratings.levels
    ([[0, 0], [1, -1]], ('a', 'b', 'c'))
    """

    judges: tuple[str, ...]
    codes: IntArray
    levels: tuple[str, ...]
    values: FloatArray | None = None
    ordered: bool = False
    contexts: IntArray | None = None
    units: tuple[str, ...] = ()
    criterion: str | None = None
    phase: str | None = None
    tie: str | None = None
    pairs: IntArray | None = None
    items: tuple[str, ...] = ()
    mirrored: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    ranks: tuple[FloatArray, ...] | None = None
    members: tuple[tuple[str, ...], ...] | None = None

    @property
    def is_rated(self) -> NDArray[np.bool_]:
        """True where a judge rated a unit; shape (units, judges)."""
        return self.codes >= 0

    @property
    def is_fully_rated(self) -> NDArray[np.bool_]:
        """True where every judge rated a unit; shape (units,)."""
        return np.asarray(np.all(self.is_rated, axis=1))

    def select_judges(self, judges: Sequence[str]) -> Ratings:
        """Keep some judges, in the given order; levels and units do not change.

        Raises
        ------
        InputError
            For all judges that are not in the ratings.
        """
        raise_problems(unknown_names("judge", judges, self.judges))
        columns = [self.judges.index(judge) for judge in judges]
        ranks = None if self.ranks is None else tuple(matrix[:, columns] for matrix in self.ranks)
        return replace(self, judges=tuple(judges), codes=self.codes[:, columns], ranks=ranks)

    def keep_units(self, units: NDArray[np.bool_]) -> Ratings:
        """Keep some units."""
        contexts = None if self.contexts is None else dense_codes(self.contexts[units])
        return replace(
            self,
            codes=self.codes[units],
            contexts=None if contexts is None else contexts.astype(np.int64),
            units=tuple(name for name, kept in zip(self.units, units, strict=True) if kept),
            pairs=None if self.pairs is None else self.pairs[units],
            ranks=None if self.ranks is None else tuple(self.ranks[u] for u in np.flatnonzero(units)),
        )

    def item_sides(self) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Name of each item, and masks of the units in which it is first and second, shape (units,)."""
        assert self.pairs is not None
        for place, item in enumerate(self.items):
            first, second = (self.pairs == place).T
            if (first | second).any():
                yield item, first, second

    def with_reversed_levels(self) -> Ratings:
        """The same answers with the levels reversed: votes on pairs with items swapped."""
        last = len(self.levels) - 1
        return replace(self, codes=np.where(self.codes >= 0, last - self.codes, -1), levels=self.levels[::-1])

    def with_column(self, name: str, codes: IntArray) -> Ratings:
        """Add a column, such as the majority of a panel."""
        return replace(self, judges=(*self.judges, name), codes=np.column_stack([self.codes, codes]))

    def numeric_answers(self) -> FloatArray:
        """The answers as numbers, NaN where there is none; shape (units, judges).

        Raises
        ------
        InputError
            If the levels are words.
        """
        if self.values is None:
            raise InputError(
                f"the answers {known_names(self.levels)} are not numbers; this measure needs numeric scores"
            )
        return np.where(self.codes >= 0, self.values[self.codes], np.nan)


def unknown_names(role: str, names: Iterable[str], known_list: Sequence[str], plural: str = "") -> list[str]:
    """List a problem for each name that is not in the table; it gives the known names, the nearest first.

    Examples
    --------
    >>> unknown_names("judge", ["a", "anna"], ["a", "ben", "ann"])
    ["judge 'anna' is not in the table; its judges are 'ann', 'a', 'ben'"]
    """
    return [
        f"{role} {name!r} is not in the table; its {plural or role.split()[0] + 's'} are "
        + known_names(names_by_similarity(name, known_list))
        for name in dict.fromkeys(names)
        if name not in known_list
    ]


def other_judges(
    table_judges: Sequence[str], excluded: Sequence[str], role: str, judges: Sequence[str] | None, least: int = 0
) -> list[str]:
    """Choose the judges to compare with judges that have a role: by default all others.

    Parameters
    ----------
    table_judges, excluded : sequence of str
        The judges of the table, and those that have a role already.
    role : str
        Name of the role, for messages.
    judges : sequence of str, optional
        The requested judges.
    least : int
        Minimum number of judges.

    Raises
    ------
    InputError
        For names that are not in the table, judges with two roles, and too few judges.

    Examples
    --------
    >>> other_judges(["e1", "e2", "gpt"], ["e1", "e2"], "an expert", None)
    ['gpt']
    """
    chosen = (
        [name for name in table_judges if name not in excluded] if judges is None else list(read_list("judges", judges))
    )
    problems = unknown_names("judge", [*excluded, *chosen], table_judges)
    problems += [f"{name!r} is given as {role} and as a judge" for name in chosen if name in excluded]
    if len(set(chosen)) < least:
        problems.append(f"{role} is compared with {least} judges or more; there are {len(set(chosen))}")
    raise_problems(problems)
    return chosen


def ratings_from_matrix(
    rows: Sequence[Sequence[object]],
    *,
    judges: Sequence[str] | None = None,
    levels: Sequence[object] | None = None,
    ordered: bool | None = None,
    contexts: Sequence[int] | None = None,
    criterion: str | None = None,
) -> Ratings:
    """Build ratings from a matrix with one row per unit and one column per judge; None or NaN is missing.

    Parameters
    ----------
    rows : sequence of sequences
        The answers: numbers or words.
    judges : sequence of str, optional
        Names of the columns; "1", "2", ... if not given.
    levels : sequence, optional
        All possible answers, in order; by default those that occur, sorted.
    ordered : bool, optional
        True if the levels are in a meaningful order; by default True for numbers and for declared levels.
    contexts : sequence of int, optional
        The context of each unit, coded 0, 1, ...
    criterion : str, optional
        The criterion's name.

    Returns
    -------
    Ratings
        Codes of shape (units, judges).

    Raises
    ------
    InputError
        If an answer is not among the declared levels.

    Examples
    --------
    >>> ratings_from_matrix([[1, 2], [5, None]]).values.tolist()
    [1.0, 2.0, 5.0]
    """
    import pandas as pd

    cells = [[None if pd.isna(cell) else cell for cell in row] for row in rows]  # type: ignore[call-overload]
    answers = {cell for row in cells for cell in row if cell is not None}
    ordered_levels = sorted(answers, key=lambda cell: (isinstance(cell, str), cell)) if levels is None else list(levels)
    has_text = any(isinstance(level, str) for level in ordered_levels)
    names = tuple(map(str, ordered_levels))
    raise_problems(
        [
            f"answer {answer!r} is not among the levels {known_names(names)}; add it or correct it"
            for answer in answers
            if answer not in ordered_levels
        ]
    )
    codes = [[-1 if cell is None else ordered_levels.index(cell) for cell in row] for row in cells]
    width = len(rows[0]) if len(rows) else 0
    return Ratings(
        judges=tuple(judges) if judges is not None else tuple(str(j + 1) for j in range(width)),
        codes=np.array(codes, np.int64).reshape(len(rows), width),
        levels=names,
        values=np.array(ordered_levels, float) if ordered_levels and not has_text else None,
        ordered=(levels is not None or not has_text) if ordered is None else ordered,
        contexts=None if contexts is None else np.asarray(contexts, np.int64),
        units=tuple(str(u + 1) for u in range(len(rows))),
        criterion=criterion,
    )
