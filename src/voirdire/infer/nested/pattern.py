"""Which latent values meet in an answer: what the matrix of second derivatives of their density has where.

Latent values of one block (all of one judge, all of one prompt) meet each other and those that all blocks share, and no
others: :mod:`.arrow` has what is done with such matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.typing import Floats, Ints

COMMON = -1  # the block of what all blocks share
CHUNK = 1 << 22  # products that are laid out at a time


class Span(NamedTuple):
    """Where one block stands.

    Attributes
    ----------
    own : int array, shape (own,)
        Latent values of the block.
    shared : int array, shape (shared,)
        Common values that it meets, in the numbering of the common ones.
    start, middle, stop : int
        A in ``start:middle`` of the numbers kept, B in ``middle:stop``.
    """

    own: Ints
    shared: Ints
    start: int
    middle: int
    stop: int


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which latent values meet in an answer, and where the products of their coefficients are added up.

    Parameters
    ----------
    block : int array, shape (size,)
        Block of each latent value, ``COMMON`` for those that all share.
    index : int array, shape (cells, width)
        Latent values that each cell of answers depends on; ``size`` stands for none. Apart from common values all
        are of one block.
    coefficients : array, shape (cells, width)
        With which they enter; 0 where there is none.
    predictor : int array, shape (width,)
        Which of a cell's linear predictors they enter.

    Examples
    --------
    >>> pattern = Pattern(np.array([0, 1, COMMON]), np.array([[0, 2], [1, 2]]), np.ones((2, 2)), np.array([0, 1]))
    >>> pattern.predictors(np.array([1.0, 2.0, 5.0])).tolist()
    [[1.0, 2.0], [5.0, 5.0]]
    """

    block: Ints
    index: Ints
    coefficients: Floats
    predictor: Ints

    @property
    def size(self) -> int:
        """Number of latent values."""
        return len(self.block)

    @cached_property
    def common(self) -> Ints:
        """Common values."""
        return np.flatnonzero(self.block == COMMON)

    @cached_property
    def of_cell(self) -> Ints:
        """Block of each cell, ``COMMON`` where it has common values alone."""
        block = np.append(self.block, COMMON)
        return np.asarray(block[self.index].max(axis=1))

    @cached_property
    def _place(self) -> Ints:
        """Number of each value within its block, or among the common ones."""
        place = np.zeros(self.size + 1, dtype=np.int64)
        order = np.argsort(self.block, kind="stable")
        starts = np.searchsorted(self.block[order], self.block[order])
        place[order] = np.arange(self.size) - starts
        return place

    @cached_property
    def _meetings(self) -> tuple[Ints, Ints]:
        """Keys block * common + shared of what meets in some cell, sorted, with where each block's begin."""
        blocks = int(self.block.max(initial=-1)) + 1
        shared = np.append(self.block == COMMON, False)[self.index] & (self.of_cell >= 0)[:, None]
        keys = np.unique(
            np.broadcast_to(self.of_cell[:, None], self.index.shape)[shared] * len(self.common)
            + self._place[self.index[shared]]
        )
        return keys, np.searchsorted(keys, np.arange(blocks + 1) * len(self.common))

    @cached_property
    def spans(self) -> list[Span]:
        """Where each block stands."""
        keys, starts = self._meetings
        order = np.argsort(self.block, kind="stable")
        edges = np.searchsorted(self.block[order], np.arange(len(starts)))
        found, at = [], 0
        for b in range(len(starts) - 1):
            own = order[edges[b] : edges[b + 1]]
            shared = keys[starts[b] : starts[b + 1]] - b * len(self.common)
            middle = at + len(own) ** 2
            found.append(Span(own, shared, at, middle, middle + len(own) * len(shared)))
            at = found[-1].stop
        return found

    @property
    def work(self) -> float:
        """Multiplications that a factor takes, about."""
        blocks = sum(len(s.own) * (len(s.own) + len(s.shared)) ** 2 for s in self.spans)
        return float(blocks + len(self.common) ** 3 / 3)

    @property
    def numbers(self) -> int:
        """Numbers that a factor takes."""
        return (self.spans[-1].stop if self.spans else 0) + 2 * len(self.common) ** 2

    def _targets(self, cells: slice) -> tuple[Ints, Ints]:
        """Where products of two coefficients of a cell are added up (lower triangles), and which products."""
        index, of_cell = self.index[cells], self.of_cell[cells]
        one, other = np.tril_indices(index.shape[1])
        left, right = index[:, one], index[:, other]
        block = np.append(self.block, COMMON)
        is_left, is_right = block[left] >= 0, block[right] >= 0
        swap = (is_right & ~is_left) | ((is_left == is_right) & (self._place[left] < self._place[right]))
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        is_left, is_right = block[left] >= 0, block[right] >= 0
        spans = self.spans
        starts = np.array([s.start for s in spans] + [0])
        middles = np.array([s.middle for s in spans] + [0])
        sizes = np.array([len(s.own) for s in spans] + [0])
        widths = np.array([len(s.shared) for s in spans] + [0])
        keys, edges = self._meetings
        b = np.broadcast_to(of_cell[:, None], left.shape)
        common = len(self.common)
        end = spans[-1].stop if spans else 0
        target = end + self._place[left] * common + self._place[right]
        both = is_left & is_right
        target[both] = (starts[b] + self._place[left] * sizes[b] + self._place[right])[both]
        mixed = is_left & ~is_right
        if mixed.any():
            column = np.searchsorted(keys, b[mixed] * common + self._place[right[mixed]]) - edges[b[mixed]]
            target[mixed] = middles[b[mixed]] + self._place[left[mixed]] * widths[b[mixed]] + column
        used = (left < self.size) & (right < self.size)  # a coefficient of none has no target
        flat = np.arange(used.size).reshape(used.shape)
        return target[used], flat[used]

    @cached_property
    def layout(self) -> list[tuple[slice, Ints, Ints]]:
        """Chunks of cells, with where their :meth:`products` are added up, and which of them."""
        step = max(CHUNK // max(self.index.shape[1] ** 2, 1), 1)
        chunks = [slice(at, at + step) for at in range(0, len(self.index), step)]
        found = []
        for cells in chunks:
            found.append((cells, *self._targets(cells)))
        return found

    @cached_property
    def rows(self) -> Any:
        """Sparse matrix that makes all predictors of latent values, shape (predictors * cells, size)."""
        from scipy.sparse import csr_matrix

        cells = len(self.index)
        used = (self.coefficients != 0) & (self.index < self.size)
        row = self.predictor * cells + np.arange(cells)[:, None]
        shape = (self.kinds * cells, self.size)
        return csr_matrix((self.coefficients[used], (row[used], self.index[used])), shape)

    @cached_property
    def columns(self) -> Any:
        """:attr:`rows`, transposed."""
        return self.rows.T.tocsr()

    @property
    def kinds(self) -> int:
        """Number of predictors of a cell."""
        return int(self.predictor.max(initial=-1)) + 1

    def predictors(self, x: Floats) -> Floats:
        """Linear predictors of all cells, shape (..., predictors, cells), of latent values, shape (..., size)."""
        return np.asarray((self.rows @ x.T).T.reshape(*x.shape[:-1], self.kinds, -1))

    def gathered(self, slopes: Floats) -> Floats:
        """Gradient by the latent values, shape (..., size), of one by the predictors, (..., predictors, cells)."""
        return np.asarray((self.columns @ slopes.reshape(*slopes.shape[:-2], -1).T).T)

    def products(self, cells: slice, curvature: Floats) -> Floats:
        """Second derivatives by two values of each cell, shape (cells, width * (width + 1) / 2)."""
        one, other = np.tril_indices(len(self.predictor))
        scale = self.coefficients[cells]
        by_value = curvature[cells][:, self.predictor[one], self.predictor[other]]
        return np.asarray(by_value * scale[:, one] * scale[:, other])
