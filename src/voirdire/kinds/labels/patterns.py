"""The different answers that a few judges gave to items, and which items have each: items far outnumber them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from voirdire.typing import Floats, Ints


class _Rows(NamedTuple):
    counts: Floats
    of_item: Ints


class Patterns(_Rows):
    """Different rows of a table of counts.

    Attributes
    ----------
    counts : array, shape (patterns, columns)
        The rows, each once.
    of_item : int array, shape (items,)
        Which of them each item has.

    Examples
    --------
    >>> found = Patterns.of(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> found.counts[found.of_item].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> found.total(np.array([[1.0], [5.0], [2.0]])).sum(axis=1).tolist()
    [5.0, 3.0]
    """

    @classmethod
    def of(cls, counts: Floats) -> Patterns:
        """The patterns of a table, shape (items, columns)."""
        rows, of_item = np.unique(counts, axis=0, return_inverse=True)
        return cls(rows, of_item.ravel())

    @cached_property
    def _sorted_items(self) -> tuple[Ints, Ints]:
        """Items in the order of their patterns, and where each pattern begins."""
        order = np.argsort(self.of_item, kind="stable")
        return order, np.searchsorted(self.of_item[order], np.arange(len(self.counts)))

    def total(self, of_item: Floats) -> Floats:
        """Sums over the items of each pattern, shape (patterns, columns), of numbers of shape (items, columns)."""
        order, start = self._sorted_items
        return np.asarray(np.add.reduceat(of_item[order], start, axis=0))
