"""Votes as codes and counts of outcomes per judge, criterion and ordered pair of items.

The sufficient statistics of every model without covariates are the counts

    n[judge, criterion, first, second] = (votes for first, votes for second, ties),

where the order of a pair is the order in which its items were shown, because judges can prefer a position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.answer_table import AnswerTable, checked_mask
from voirdire.tables.encode import IntArray, level_positions
from voirdire.tables.further import NO_FURTHER_COLUMNS, Further
from voirdire.tables.vote_columns import Details

_CODES = ("judge", "criterion", "first", "second", "counts")
_KEPT = ("judges", "criteria", "items", *_CODES, "has_criteria", "order_unknown")


@dataclass(frozen=True, eq=False)
class Votes(AnswerTable):
    """A table of votes as codes and counts.

    Attributes
    ----------
    judges, criteria, items : tuple of str
        The names that the codes stand for, sorted; ``("overall",)`` is the criterion of a table without one.
    judge, criterion, first, second : int64 array, shape (cells,)
        The distinct combinations of codes (cells), with items in the order shown, sorted lexicographically.
    counts : int64 array, shape (cells, 3)
        Votes for the first item, for the second, and ties.
    row_cell : int64 array, shape (rows,)
        The cell of each vote, in the order of the table.
    row_outcome : int64 array, shape (rows,)
        0 where the first item won, 1 where the second did, 2 for a tie.
    contexts : tuple of str
        The names of the contexts, sorted; empty for a table without them.
    row_context : int64 array, shape (rows,), or None
        The context of each vote.
    has_criteria : bool
        Whether the table has a criterion column.
    order_unknown : bool
        Whether the order in which items were shown is unknown (a column ``order`` says ``unknown``).
    details : Details or None
        Further attributes of single votes.
    further : Further
        Further columns of the table; covariates have shape (rows, 2, covariates), for the two items.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": ["x", "y"], "second": ["y", "x"], "winner": ["x", "tie"]}
    >>> votes = read_votes(pd.DataFrame(table))
    >>> votes.items, votes.first.tolist(), votes.counts.tolist()
    (('x', 'y'), [0, 1], [[1, 0, 0], [0, 0, 1]])
    """

    data: ClassVar[str] = "votes"
    answer: ClassVar[str] = "winner"
    compares_items: ClassVar[bool] = True
    has_rows: ClassVar[bool] = True  # whether the order of the votes is known
    question: ClassVar[tuple[str, ...]] = ("pair",)  # all votes in such a unit answer one question

    judges: tuple[str, ...]
    criteria: tuple[str, ...]
    items: tuple[str, ...]
    judge: IntArray
    criterion: IntArray
    first: IntArray
    second: IntArray
    counts: IntArray
    row_cell: IntArray
    row_outcome: IntArray
    contexts: tuple[str, ...] = ()
    row_context: IntArray | None = None
    has_criteria: bool = False
    order_unknown: bool = False
    details: Details | None = None
    further: Further = NO_FURTHER_COLUMNS

    def unit_codes(self) -> dict[str, IntArray | None]:
        """Code the unit of each vote, shape (rows,), by the kind of unit; None without such a column."""
        cell = self.row_cell
        low, high = np.minimum(self.first, self.second)[cell], np.maximum(self.first, self.second)[cell]
        return {
            "vote": np.arange(self.rows),
            "pair": low * len(self.items) + high,
            "context": self.row_context,
            "criterion": self.criterion[cell],
            "judge": self.judge[cell],
        }

    @property
    def rows(self) -> int:
        """Number of votes."""
        return len(self.row_cell)

    @property
    def answers(self) -> NDArray[Any]:
        """Code of the item that won each vote; -1 for a tie."""
        first, second = self.first[self.row_cell], self.second[self.row_cell]
        return np.select([self.row_outcome == 0, self.row_outcome == 1], [first, second], -1)

    @property
    def question_codes(self) -> tuple[IntArray, ...]:
        """Columns of codes that identify the question: criterion, both items (smaller code first), context."""
        criterion, first, second = (codes[self.row_cell] for codes in (self.criterion, self.first, self.second))
        columns = (criterion, np.minimum(first, second), np.maximum(first, second))
        return columns if self.row_context is None else (*columns, self.row_context)

    @property
    def shown_codes(self) -> tuple[IntArray, ...]:
        """As `question_codes`, and the item that was shown first."""
        return (*self.question_codes, self.first[self.row_cell])

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """As in :class:`AnswerTable`."""
        return {name: getattr(self, name) for name in ("judges", "items", "criteria", "contexts")}

    @property
    def names_questions(self) -> bool:
        """As in :class:`AnswerTable`: true with contexts; without them the prompts of one pair may differ."""
        return bool(self.contexts)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of the vote and of its subject."""
        optional = ["criterion"] * self.has_criteria + ["context"] * bool(self.contexts)
        return ("judge", "first", "second", self.answer, *optional)

    @property
    def has_ties(self) -> bool:
        """True where any vote is a tie."""
        return bool(self.counts[:, 2].any())

    def with_codes(self, **changes: Any) -> Votes:
        """Replace names and codes of the cells; the cells keep their order.

        Examples
        --------
        >>> import pandas as pd
        >>> from voirdire.tables.votes import read_votes
        >>> votes = read_votes(pd.DataFrame({"judge": ["a"], "first": "x", "second": "y", "winner": "x"}))
        >>> votes.with_codes(judges=("a", "b"), judge=votes.judge).judges
        ('a', 'b')
        """
        return replace(self, **changes)

    def codes_among(
        self, judges: tuple[str, ...], criteria: tuple[str, ...], items: tuple[str, ...]
    ) -> dict[str, IntArray]:
        """Code the cells by longer lists of names, which include all names of the table."""
        item = level_positions(self.items, items)
        return {
            "judge": level_positions(self.judges, judges)[self.judge],
            "criterion": level_positions(self.criteria, criteria)[self.criterion],
            "first": item[self.first],
            "second": item[self.second],
        }

    def subset(self, rows: NDArray[np.bool_]) -> Votes:
        """Keep some votes, under the same names and codes.

        Parameters
        ----------
        rows : bool array, shape (rows,)
            True for the votes to keep.

        Returns
        -------
        Votes
            The cells and counts of these votes only; names without a vote stay.

        Raises
        ------
        ValueError
            `rows` is not a boolean mask with one entry per vote.

        Examples
        --------
        >>> import pandas as pd
        >>> from voirdire.tables.votes import read_votes
        >>> table = {"judge": "a", "first": ["x", "y"], "second": "z", "winner": "first"}
        >>> votes = read_votes(pd.DataFrame(table))
        >>> votes.subset(votes.first[votes.row_cell] == 0).counts.tolist()
        [[1, 0, 0]]
        """
        mask = checked_mask(rows, self.rows)
        cell = self.row_cell[mask]
        return count_votes(
            (self.judges, self.criteria, self.items),
            (self.judge[cell], self.criterion[cell], self.first[cell], self.second[cell]),
            self.row_outcome[mask],
            self.contexts,
            None if self.row_context is None else self.row_context[mask],
            self.has_criteria,
        ).with_codes(
            order_unknown=self.order_unknown,
            details=None if self.details is None else self.details.take(mask),
            further=self.further.take(np.flatnonzero(mask)),
        )


@dataclass(frozen=True, eq=False, init=False)
class CountedVotes(Votes):
    """Votes without their order and without contexts.

    ``row_cell`` and ``row_outcome`` are computed from the counts at first use: one entry per vote, cell by cell. Fits
    do not use them.

    Examples
    --------
    >>> one = np.zeros(1, dtype=np.int64)
    >>> votes = CountedVotes(("a",), ("overall",), ("x", "y"), one, one, one, one + 1, np.array([[2, 1, 0]]))
    >>> votes.rows, votes.row_outcome.tolist()
    (3, [0, 0, 1])
    """

    has_rows: ClassVar[bool] = False

    def __init__(
        self,
        judges: tuple[str, ...],
        criteria: tuple[str, ...],
        items: tuple[str, ...],
        judge: IntArray,
        criterion: IntArray,
        first: IntArray,
        second: IntArray,
        counts: IntArray,
        has_criteria: bool = False,
        order_unknown: bool = False,
    ) -> None:
        codes = {"judge": judge, "criterion": criterion, "first": first, "second": second, "counts": counts}
        names = {"judges": judges, "criteria": criteria, "items": items, "has_criteria": has_criteria}
        names["order_unknown"] = order_unknown
        nothing = {"contexts": (), "row_context": None, "details": None, "further": NO_FURTHER_COLUMNS}
        for name, value in {**codes, **names, **nothing}.items():
            object.__setattr__(self, name, value)  # the class is frozen

    @property
    def rows(self) -> int:
        """Number of votes."""
        return int(self.counts.sum())

    @cached_property  # type: ignore[misc]
    def row_cell(self) -> IntArray:
        """Cell of each vote, ordered by cell."""
        return np.repeat(np.arange(len(self.counts)), self.counts.sum(axis=1))

    @cached_property  # type: ignore[misc]
    def row_outcome(self) -> IntArray:
        """Outcome of each vote, ordered by cell."""
        return np.repeat(np.tile(np.arange(3), len(self.counts)), self.counts.ravel())

    def with_codes(self, **changes: Any) -> Votes:
        """As :meth:`.Votes.with_codes`."""
        if changes.get("details") is not None or changes.get("further", NO_FURTHER_COLUMNS) is not NO_FURTHER_COLUMNS:
            raise ValueError("votes that are only counted have no details and no further columns")
        return CountedVotes(**{name: changes.get(name, getattr(self, name)) for name in _KEPT})


def count_votes(
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    codes: tuple[IntArray, IntArray, IntArray, IntArray],
    outcome: IntArray,
    contexts: tuple[str, ...] = (),
    row_context: IntArray | None = None,
    has_criteria: bool = False,
    times: IntArray | None = None,
) -> Votes:
    """Count votes that are coded already, without checks.

    Parameters
    ----------
    names : tuple
        Sorted names of judges, criteria and items.
    codes : tuple of int64 array, shape (rows,)
        Judge, criterion, first and second of each vote.
    outcome : int64 array, shape (rows,)
        0 first, 1 second, 2 tie.
    times : int64 array, shape (rows,), optional
        Number of votes that each row stands for; the result then has counts only.

    Examples
    --------
    >>> one = np.zeros(2, dtype=np.int64)
    >>> count_votes((("ann",), ("overall",), ("x", "y")), (one, one, one, one + 1), np.array([0, 2])).counts.tolist()
    [[1, 0, 1]]
    """
    judge, criterion, first, second = codes
    # Keys of two columns at a time: a product of all four sizes could overflow int64.
    left, row_left = distinct_keys(judge * len(names[1]) + criterion, len(names[0]) * len(names[1]))
    right, row_right = distinct_keys(first * len(names[2]) + second, len(names[2]) ** 2)
    cell, row_cell = distinct_keys(row_left * len(right) + row_right, len(left) * len(right))
    left, right = left[cell // max(len(right), 1)], right[cell % max(len(right), 1)]
    counts = np.bincount(row_cell * 3 + outcome, times, 3 * len(cell)).reshape(-1, 3).astype(np.int64)
    cell_codes = (left // len(names[1]), left % len(names[1]), right // len(names[2]), right % len(names[2]))
    if times is not None:
        return CountedVotes(*names, *cell_codes, counts, has_criteria)
    return Votes(
        *names,
        *cell_codes,
        counts=counts,
        row_cell=row_cell,
        row_outcome=outcome,
        contexts=contexts,
        row_context=row_context,
        has_criteria=has_criteria,
    )


def distinct_keys(keys: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Find the distinct keys (all below ``size``), sorted, and the index of each key among them.

    Examples
    --------
    >>> [found.tolist() for found in distinct_keys(np.array([7, 3, 7]), 10)]
    [[3, 7], [1, 0, 1]]
    """
    if size > 4 * len(keys) + 1000:
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    seen = np.bincount(keys, minlength=size) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]
