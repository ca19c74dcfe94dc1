"""Two columns of scores as cells, the distinct pairs of values that occur: a resample is a count per cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.statistic import FloatArray, IntArray
from voirdire.tables.encode import dense_codes


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct pairs (x, y) among units that have both, sorted by x, then y.

    Attributes
    ----------
    used : bool array, shape (units,)
        Units with both scores.
    x, y : int64 array, shape (cells,)
        Dense ranks 0, 1, ... of the cell's values.

    Examples
    --------
    >>> cells = Cells.of(np.array([2.0, 1.0, 2.0, np.nan]), np.array([5.0, 7.0, 5.0, 1.0]))
    >>> cells.x.tolist(), cells.y.tolist(), cells.counts(np.array([[1.0, 1.0, 2.0, 9.0]])).tolist()
    ([0, 1], [1, 0], [[1.0, 3.0]])
    """

    used: NDArray[np.bool_]
    x: IntArray
    y: IntArray
    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> Cells:
        """Build from two columns of shape (units,), NaN where a score is missing."""
        used: NDArray[np.bool_] = ~(np.isnan(x) | np.isnan(y))
        places = np.flatnonzero(used)
        order = places[np.lexsort((y[places], x[places]))]
        a, b = x[order], y[order]
        new = np.ones(len(order), bool)
        new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        starts = np.flatnonzero(new)
        return cls(used, _dense_ranks(a[starts]), _dense_ranks(b[starts]), order, starts)

    def counts(self, weights: FloatArray) -> FloatArray:
        """Total weight in each cell, shape (r, cells), of weights of shape (r, units)."""
        ordered = weights[:, self.order]
        if len(self.starts) == len(self.order):
            return ordered
        added: FloatArray = np.add.reduceat(ordered, self.starts, axis=1)
        return added


def _dense_ranks(values: FloatArray) -> IntArray:
    ranks: IntArray = dense_codes(values)
    return ranks


def sum_by_code(counts: FloatArray, codes: IntArray) -> FloatArray:
    """Add up cells that share a code; codes 0, 1, ... without gaps.

    Examples
    --------
    >>> sum_by_code(np.array([[1.0, 2.0, 4.0]]), np.array([1, 0, 1])).tolist()
    [[2.0, 5.0]]
    """
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 1))
    if len(starts) == 0:
        return np.zeros((len(counts), 0))
    added: FloatArray = np.add.reduceat(counts[:, order], starts, axis=1)
    return added
