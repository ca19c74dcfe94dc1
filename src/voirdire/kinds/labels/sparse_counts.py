"""Sums over the labels of items, of tables in which most judges labelled few of the items."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from voirdire.typing import Floats, Ints

SPARSE = 16  # as many numbers for each that is not 0: more, and only those are summed


class Counts(Protocol):
    """Counts of the labels that each judge gave to each item."""

    def by_item(self, rates: Floats) -> Floats:
        """Sums over the labels of each item, shape (classes, items), of numbers of shape (classes, judges x labels)."""
        ...

    def by_label(self, belief: Floats) -> Floats:
        """Sums over the items of each label, shape (classes, judges x labels), of numbers of shape (classes, items)."""
        ...

    def rows(self, here: slice) -> Floats:
        """The counts of some items, shape (some, judges x labels)."""
        ...


def counted(counts: Floats) -> Counts:
    """Counts in the form in which sums take less time.

    Parameters
    ----------
    counts : array, shape (items, judges x labels)

    Examples
    --------
    >>> counts = np.zeros((3, 60))
    >>> counts[0, 7] = counts[2, 9] = 2.0
    >>> rates = np.arange(60.0)[None]
    >>> counted(counts).by_item(rates).tolist(), (rates @ counts.T).tolist()
    ([[14.0, 0.0, 18.0]], [[14.0, 0.0, 18.0]])
    """
    if counts.size > SPARSE * np.count_nonzero(counts) > 0:
        return SparseCounts(counts)
    return DenseCounts(counts)


class DenseCounts:
    """As products of matrices."""

    def __init__(self, counts: Floats) -> None:
        self._counts, self._transposed = counts, np.ascontiguousarray(counts.T)

    def by_item(self, rates: Floats) -> Floats:
        """See :class:`Counts`."""
        return np.asarray(rates @ self._transposed)

    def by_label(self, belief: Floats) -> Floats:
        """See :class:`Counts`."""
        return np.asarray(belief @ self._counts)

    def rows(self, here: slice) -> Floats:
        """See :class:`Counts`."""
        return self._counts[here]


class SparseCounts:
    """As sums over the counts that are not 0."""

    def __init__(self, counts: Floats) -> None:
        self._counts = counts
        item, label = np.nonzero(counts)
        order = np.argsort(label, kind="stable")
        times = counts[item, label]
        self._of_item = _Sums(label, times, item, len(counts))
        self._of_label = _Sums(item[order], times[order], label[order], counts.shape[1])

    def by_item(self, rates: Floats) -> Floats:
        """See :class:`Counts`."""
        return self._of_item.of(rates)

    def by_label(self, belief: Floats) -> Floats:
        """See :class:`Counts`."""
        return self._of_label.of(belief)

    def rows(self, here: slice) -> Floats:
        """See :class:`Counts`."""
        return self._counts[here]


class _Sums:
    """Weighted sums over groups of columns.

    Parameters
    ----------
    column, weight, group : array, shape (terms,)
        Which column each term takes, what it is multiplied by, and the sum that it belongs to, in order.
    groups : int
    """

    def __init__(self, column: Ints, weight: Floats, group: Ints, groups: int) -> None:
        self._column, self._weight, self._groups = column, weight[:, None], groups
        self._alike = bool((weight == 1.0).all())
        self._there, self._start = np.unique(group, return_index=True)

    def of(self, numbers: Floats) -> Floats:
        """The sums, shape (rows, groups), of numbers of shape (rows, columns)."""
        # few numbers beside each other, as rows, are taken in a tenth of the time
        terms = np.take(np.ascontiguousarray(numbers.T), self._column, axis=0)
        if not self._alike:
            terms *= self._weight
        sums = np.add.reduceat(terms, self._start, axis=0)
        if len(self._there) == self._groups:
            return np.ascontiguousarray(sums.T)
        out = np.zeros((len(numbers), self._groups))  # a sum without a term is 0
        out[:, self._there] = sums.T
        return out
