"""Votes of which only the counts are known, such as those of a table that was counted where it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from voirdire.tables.encode import IntArray
from voirdire.tables.votes import Votes

_KEPT = ("judges", "criteria", "items", "judge", "criterion", "first", "second", "counts", "has_criteria")


@dataclass(frozen=True, eq=False, init=False)
class CountedVotes(Votes):
    """Votes without their order and without contexts.

    ``row_cell`` and ``row_outcome`` are made up from the counts when they are asked for: one entry per vote, cell by
    cell. Nothing that a fit needs asks for them.

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
    ) -> None:
        codes = {"judge": judge, "criterion": criterion, "first": first, "second": second, "counts": counts}
        names = {"judges": judges, "criteria": criteria, "items": items, "has_criteria": has_criteria}
        for name, value in {**codes, **names, "contexts": (), "row_context": None}.items():
            object.__setattr__(self, name, value)  # the class is frozen

    @property
    def rows(self) -> int:
        """The number of votes."""
        return int(self.counts.sum())

    @cached_property  # type: ignore[misc]
    def row_cell(self) -> IntArray:
        """The cell of each vote, cell by cell."""
        return np.repeat(np.arange(len(self.counts)), self.counts.sum(axis=1))

    @cached_property  # type: ignore[misc]
    def row_outcome(self) -> IntArray:
        """The outcome of each vote, cell by cell."""
        return np.repeat(np.tile(np.arange(3), len(self.counts)), self.counts.ravel())

    def recoded(self, **changes: Any) -> Votes:
        """As :meth:`.Votes.recoded`."""
        return CountedVotes(**{name: getattr(self, name) for name in _KEPT} | changes)


def counted(votes: Votes) -> CountedVotes:
    """Forget the order and the contexts of votes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "x"], "second": "y", "winner": ["second", "first"]})
    >>> counted(read_votes(table)).counts.tolist()
    [[1, 1, 0]]
    """
    return CountedVotes(**{name: getattr(votes, name) for name in _KEPT})
