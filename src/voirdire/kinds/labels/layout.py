"""Sizes of a table of labels, and sums over the labels of items.

Counts of labels are a matrix, shape (items, judges x labels): an array for small tables, a compressed matrix
(:class:`scipy.sparse.csr_array`) of the nonzero counts for large tables of mostly zeros.

Patterns are the distinct rows of counts of a few judges; there are far fewer patterns than items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats, Ints


@dataclass(frozen=True)
class LabelsLayout(LogDensity):
    """Sizes and structure of the table of a density of labels.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    units : int
        Pairs of an item and a criterion with a label.
    classes, labels : int
        The first ``classes`` of the labels are the classes.
    anchored : tuple of int
        Classes of the items of known class.
    blocks : tuple of tuple of int
        Judges with dependent labels of an item given its class: families, and judges who label items repeatedly. Empty
        in models without shared errors.
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
        """Judges outside all blocks, shape (judges,)."""
        in_block = {k for block in self.blocks for k in block}
        return np.array([k for k in range(self.judges) if k not in in_block], dtype=np.int64)

    def judge_columns(self, judges: Ints) -> Ints:
        """Columns of the counts that belong to some judges."""
        return (judges[:, None] * self.labels + np.arange(self.labels)).ravel()


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct rows of a table of counts.

    Attributes
    ----------
    counts : array, shape (patterns, columns)
        The distinct rows.
    of_item : int array, shape (items,)
        Pattern of each item.

    Examples
    --------
    >>> found = Patterns.from_counts(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> found.counts[found.of_item].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> found.sum_by_pattern(np.array([[1.0], [5.0], [2.0]])).sum(axis=1).tolist()
    [5.0, 3.0]
    """

    counts: Floats
    of_item: Ints

    @classmethod
    def from_counts(cls, counts: Floats) -> Patterns:
        """Find the patterns of a table, shape (items, columns)."""
        rows, of_item = np.unique(counts, axis=0, return_inverse=True)
        return cls(rows, of_item.ravel())

    @cached_property
    def _sorted_items(self) -> tuple[Ints, Ints]:
        """Items sorted by pattern, and the first position of each pattern."""
        order = np.argsort(self.of_item, kind="stable")
        return order, np.searchsorted(self.of_item[order], np.arange(len(self.counts)))

    def sum_by_pattern(self, of_item: Floats) -> Floats:
        """Sum values of items, shape (items, columns), over the items of each pattern, shape (patterns, columns)."""
        order, start = self._sorted_items
        return np.asarray(np.add.reduceat(of_item[order], start, axis=0))


SPARSE_RATIO = 16  # ratio of all to nonzero counts above which only nonzero counts are summed
MAX_DENSE_NUMBERS = 4_000_000  # largest number of counts that are stored with their zeros
BATCH_SIZE = 250_000  # items x columns computed together, to fit the processor's cache

CountMatrix: TypeAlias = Any  # an array, or a compressed matrix


def labels_data(counts: CountMatrix, known: Floats, criterion: Ints, weight: Floats) -> Data:
    """Make the data of a density from distinct items: counts, log P(class) if known, criterion, and their number."""
    return {"labels": {"counts": counts, "known": known, "criterion": criterion, "weight": weight}}


def should_compress(items: int, columns: int, labels: int) -> bool:
    """True if counts are to be compressed: for a large table with mostly zeros.

    Parameters
    ----------
    labels : int
        Number of labels given.

    Examples
    --------
    >>> should_compress(1_000, 4_000, 10_000), should_compress(10_000, 4_000, 100_000)
    (False, True)
    """
    return items * columns > max(MAX_DENSE_NUMBERS, SPARSE_RATIO * labels)


def compress_counts(row: Ints, column: Ints, shape: tuple[int, int]) -> CountMatrix:
    """Count labels, given by row and column, in a compressed matrix.

    Examples
    --------
    >>> compress_counts(np.array([1, 0, 1]), np.array([2, 0, 2]), (2, 3)).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    """
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(row)), (row.astype(np.int32), column.astype(np.int32))), shape).tocsr()


def is_compressed(counts: CountMatrix) -> bool:
    """True if only nonzero counts are stored."""
    return hasattr(counts, "indptr")


def multiply_counts(counts: CountMatrix, rates: Array, xp: Any) -> Array:
    """Multiply counts by ``rates``, shape (judges x labels, columns)."""
    return counts @ rates if is_compressed(counts) else xp.dot(counts, rates)


def sum_by_item(counts: CountMatrix, labels: int) -> Floats:
    """Sum counts of labels of each item over judges, shape (items, labels).

    Examples
    --------
    >>> sum_by_item(np.array([[1.0, 0.0, 0.0, 2.0]]), 2).tolist()
    [[1.0, 2.0]]
    """
    if not is_compressed(counts):
        return np.asarray(counts.reshape(len(counts), counts.shape[1] // labels, labels).sum(axis=1))
    return np.asarray(counts @ np.tile(np.eye(labels), (counts.shape[1] // labels, 1)))


class LabelCounts:
    """Counts of labels, with sums over the nonzero counts if these are few.

    Parameters
    ----------
    counts : array or compressed matrix, shape (items, judges x labels)

    Examples
    --------
    >>> counts = np.zeros((3, 60))
    >>> counts[0, 7] = counts[2, 9] = 2.0
    >>> rates = np.arange(60.0)[None]
    >>> LabelCounts(counts).by_item(rates).tolist(), (rates @ counts.T).tolist()
    ([[14.0, 0.0, 18.0]], [[14.0, 0.0, 18.0]])
    """

    def __init__(self, counts: CountMatrix) -> None:
        self.matrix = counts
        if not is_compressed(counts) and counts.size > SPARSE_RATIO * np.count_nonzero(counts) > 0:
            from scipy.sparse import csr_array

            self.matrix = csr_array(counts)

    def by_item(self, rates: Floats) -> Floats:
        """Sum values of labels, shape (classes, judges x labels), over the labels of each item, (classes, items)."""
        # products with contiguous rows take a tenth of the time
        return np.ascontiguousarray((self.matrix @ np.ascontiguousarray(rates.T)).T)

    def by_label(self, belief: Floats) -> Floats:
        """Sum values of items, shape (classes, items), over the items of each label, (classes, judges x labels)."""
        return np.ascontiguousarray((self.matrix.T @ np.ascontiguousarray(belief.T)).T)

    def parts(self, columns: int) -> Iterator[tuple[slice, CountMatrix]]:
        """Yield slices of items with their counts, small enough for tables with ``columns`` columns."""
        items = self.matrix.shape[0]
        size = max(1, BATCH_SIZE // max(columns, 1))
        for start in range(0, items, size):
            batch = slice(start, min(start + size, items))
            yield batch, self.matrix if size >= items else self.matrix[batch]
