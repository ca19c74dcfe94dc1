"""Votes counted by context: cells that no two contexts share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from voirdire.tables.counts import Votes
from voirdire.typing import Ints

MOST = 2_000_000  # items times contexts of a model with strengths by context
SHARED = 0.5  # share of the items above which must meet in several contexts


@dataclass(frozen=True, eq=False)
class ContextVotes(Votes):
    """Votes whose cells are of one context each.

    Attributes
    ----------
    context : int array, shape (cells,)
        Context of each cell.
    """

    context: Ints | None = None

    def with_counts(self, counts: Ints) -> ContextVotes:
        """The same cells with other counts; the order of the votes is made up, cell by cell."""
        row_cell = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
        row_outcome = np.repeat(np.tile(np.arange(3), len(counts)), counts.ravel())
        assert self.context is not None  # by_context gives it
        return self.recoded(  # type: ignore[return-value]
            counts=counts, row_cell=row_cell, row_outcome=row_outcome, row_context=self.context[row_cell]
        )


def by_context(votes: Votes) -> ContextVotes:
    """Count votes by context, too, where the table has contexts.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "a", "first": "x", "second": "y", "winner": "x", "context": ["p", "q", "p"]}
    >>> by_context(read_votes(pd.DataFrame(table))).counts.tolist()
    [[2, 0, 0], [1, 0, 0]]
    """
    if isinstance(votes, ContextVotes):
        return votes
    assert votes.row_context is not None
    size = max(len(votes.contexts), 1)
    keys, row_cell = np.unique(votes.row_cell * size + votes.row_context, return_inverse=True)
    cell = keys // size
    counts = np.bincount(row_cell * 3 + votes.row_outcome, minlength=3 * len(keys)).reshape(-1, 3)
    kept: dict[str, Any] = {field.name: getattr(votes, field.name) for field in fields(votes)}
    for name in ("judge", "criterion", "first", "second"):
        kept[name] = kept[name][cell]
    return ContextVotes(**{**kept, "counts": counts, "row_cell": row_cell, "context": keys % size})


def context_of(votes: Votes) -> Ints | None:
    """Context of each cell; None where cells have none."""
    return votes.context if isinstance(votes, ContextVotes) else None


def links(votes: Votes) -> bool:
    """Whether contexts can say something of items: several contexts, several votes in each on average, shared items.

    A context for each vote, or contexts no two of which have an item in common, would only widen everything.
    """
    if votes.row_context is None or len(votes.contexts) < 2 or votes.rows < 2 * len(votes.contexts):
        return False
    if len(votes.contexts) * len(votes.items) > MOST:
        return False
    split = by_context(votes)
    assert split.context is not None
    both = np.concatenate([split.first, split.second]) * len(votes.contexts) + np.tile(split.context, 2)
    met = np.bincount(np.unique(both) // len(votes.contexts), minlength=len(votes.items))
    return bool((met > 1).mean() > SHARED)
