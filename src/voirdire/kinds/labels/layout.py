"""The sizes of a table of labels, which its density is searched by, and sums over the labels of items.

Counts of labels are a matrix, shape (items, judges x labels): of small tables an array, of those in which nearly all
would be 0 a compressed one (:class:`scipy.sparse.csr_array`) that has the others alone.

Patterns are the different answers that a few judges gave to items, which far outnumber them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats, Ints


@dataclass(frozen=True)
class LabelsLayout(LogDensity):
    """Sizes and structure of its table that a density of labels knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    units : int
        Pairs of an item and a criterion that have a label.
    classes, labels : int
        The first ``classes`` of the labels are the classes.
    anchored : tuple of int
        Classes to which some item is known to belong.
    blocks : tuple of tuple of int
        Judges whose labels of an item hang together given its class: families, and judges who label items repeatedly.
        Of models with shared errors only.
    """

    units: int
    classes: int
    labels: int
    anchored: tuple[int, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {
            "judge": self.judges,
            "criterion": self.criteria,
            "item": self.items,
            "unit": self.units,
            "class": self.classes,
            "label": self.labels,
            "gap": self.labels - 2,
            "family": len(self.blocks),
        }

    @cached_property
    def unblocked_judges(self) -> Ints:
        """Judges that are in no block."""
        in_block = {k for block in self.blocks for k in block}
        return np.array([k for k in range(self.judges) if k not in in_block], dtype=np.int64)

    def columns(self, judges: Ints) -> Ints:
        """Columns of the labels of some judges among the counts."""
        return (judges[:, None] * self.labels + np.arange(self.labels)).ravel()


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
    >>> found = Patterns.from_counts(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> found.counts[found.of_item].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> found.total(np.array([[1.0], [5.0], [2.0]])).sum(axis=1).tolist()
    [5.0, 3.0]
    """

    @classmethod
    def from_counts(cls, counts: Floats) -> Patterns:
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


SPARSE_RATIO = 16  # as many numbers for each that is not 0: more, and only those are summed
MAX_DENSE_NUMBERS = 4_000_000  # numbers beyond which those that are 0 are not even held
BATCH_SIZE = 250_000  # numbers of items and columns that are held at once: as many as are near the processor

CountMatrix: TypeAlias = Any  # an array, or a compressed one


def should_compress(items: int, columns: int, labels: int) -> bool:
    """True if counts are compressed: of a large table of which most are 0.

    Parameters
    ----------
    labels : int
        How many were given.

    Examples
    --------
    >>> should_compress(1_000, 4_000, 10_000), should_compress(10_000, 4_000, 100_000)
    (False, True)
    """
    return items * columns > max(MAX_DENSE_NUMBERS, SPARSE_RATIO * labels)


def compress_counts(row: Ints, column: Ints, shape: tuple[int, int]) -> CountMatrix:
    """Counts of labels, of which each is given by its row and column, as a compressed matrix.

    Examples
    --------
    >>> compress_counts(np.array([1, 0, 1]), np.array([2, 0, 2]), (2, 3)).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    """
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(row)), (row.astype(np.int32), column.astype(np.int32))), shape).tocsr()


def is_compressed(counts: CountMatrix) -> bool:
    """True if only counts that are not 0 are held."""
    return hasattr(counts, "indptr")


def multiply_counts(counts: CountMatrix, rates: Array, xp: Any) -> Array:
    """Product of counts with numbers of shape (judges x labels, columns)."""
    return counts @ rates if is_compressed(counts) else xp.dot(counts, rates)


def sum_by_item(counts: CountMatrix, labels: int) -> Floats:
    """Counts of each label on each item, by all judges, shape (items, labels).

    Examples
    --------
    >>> sum_by_item(np.array([[1.0, 0.0, 0.0, 2.0]]), 2).tolist()
    [[1.0, 2.0]]
    """
    if not is_compressed(counts):
        return np.asarray(counts.reshape(len(counts), counts.shape[1] // labels, labels).sum(axis=1))
    return np.asarray(counts @ np.tile(np.eye(labels), (counts.shape[1] // labels, 1)))


def choose_count_storage(counts: CountMatrix) -> DenseCounts | SparseCounts:
    """Counts in the form in which sums take less time.

    Examples
    --------
    >>> counts = np.zeros((3, 60))
    >>> counts[0, 7] = counts[2, 9] = 2.0
    >>> rates = np.arange(60.0)[None]
    >>> choose_count_storage(counts).by_item(rates).tolist(), (rates @ counts.T).tolist()
    ([[14.0, 0.0, 18.0]], [[14.0, 0.0, 18.0]])
    """
    if is_compressed(counts):
        return SparseCounts(counts)
    if counts.size > SPARSE_RATIO * np.count_nonzero(counts) > 0:
        from scipy.sparse import csr_array

        return SparseCounts(csr_array(counts))
    return DenseCounts(counts)


class DenseCounts:
    """As products of matrices."""

    def __init__(self, counts: Floats) -> None:
        self._counts, self._transposed = counts, np.ascontiguousarray(counts.T)

    def by_item(self, rates: Floats) -> Floats:
        """Sums over the labels of each item, shape (classes, items), of numbers of shape (classes, judges x labels)."""
        return np.asarray(rates @ self._transposed)

    def by_label(self, belief: Floats) -> Floats:
        """Sums over the items of each label, shape (classes, judges x labels), of numbers of shape (classes, items)."""
        return np.asarray(belief @ self._counts)

    def rows(self, here: slice) -> Floats:
        """The counts of some items, shape (some, judges x labels)."""
        return self._counts[here]


class SparseCounts:
    """As sums over the counts that are not 0."""

    def __init__(self, counts: CountMatrix) -> None:
        self._counts = counts

    @property
    def labels(self) -> int:
        """Number of labels that were given, those of one judge and item alike once."""
        return int(self._counts.nnz)

    @property
    def columns(self) -> int:
        """Number of judges times labels."""
        return int(self._counts.shape[1])

    def by_item(self, rates: Floats) -> Floats:
        """See :class:`DenseCounts`."""
        # few numbers beside each other, as rows, are taken in a tenth of the time
        return np.ascontiguousarray((self._counts @ np.ascontiguousarray(rates.T)).T)

    def by_label(self, belief: Floats) -> Floats:
        """See :class:`DenseCounts`."""
        return np.ascontiguousarray((self._counts.T @ np.ascontiguousarray(belief.T)).T)

    def rows(self, here: slice) -> Floats:
        """See :class:`DenseCounts`."""
        return np.asarray(self._counts[here].toarray())

    def parts(self, columns: int) -> Iterator[tuple[slice, CountMatrix]]:
        """Items in parts with their counts, so many that a table of theirs with so many columns is small."""
        items = self._counts.shape[0]
        size = max(1, BATCH_SIZE // max(columns, 1))
        for start in range(0, items, size):
            batch = slice(start, min(start + size, items))
            yield batch, self._counts if size >= items else self._counts[batch]
