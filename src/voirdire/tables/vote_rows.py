"""Votes row by row, as further columns and terms are read: who was asked about which two items, and where."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from voirdire.tables.counts import Votes
from voirdire.tables.further import Further
from voirdire.typing import Bools, Floats, Ints


class VoteRows:
    """A table of votes by its rows, with the names that columns have in tables of scores.

    Parameters
    ----------
    votes : Votes

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> votes = read_votes(pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": "z", "winner": "first"}))
    >>> VoteRows(votes).item.tolist()
    [[0, 2], [1, 2]]
    """

    data: ClassVar[str] = "votes"

    def __init__(self, votes: Votes) -> None:
        self.votes, self.further, self.context = votes, votes.further, votes.row_context
        self.judges, self.criteria, self.items = votes.judges, votes.criteria, votes.items
        self.contexts = votes.contexts
        self.time: Floats | None = None if votes.details is None else votes.details.time

    @property
    def rows(self) -> int:
        """Number of votes."""
        return self.votes.rows

    @cached_property
    def judge(self) -> Ints:
        """Judge of each vote."""
        return np.asarray(self.votes.judge[self.votes.row_cell])

    @cached_property
    def criterion(self) -> Ints:
        """Criterion of each vote."""
        return np.asarray(self.votes.criterion[self.votes.row_cell])

    @cached_property
    def item(self) -> Ints:
        """First and second item of each vote, shape (rows, 2)."""
        return np.stack([self.votes.first, self.votes.second], axis=1)[self.votes.row_cell]

    def with_further(self, further: Further) -> VoteRows:
        """The same votes with other further columns."""
        return VoteRows(self.votes.with_codes(further=further))

    def subset(self, rows: Bools) -> VoteRows:
        """Some of the votes."""
        return VoteRows(self.votes.subset(rows))
