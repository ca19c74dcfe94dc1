"""Latent values that meet in an answer: the pattern of the matrix of second derivatives of their density.

Latent values of one block (all of one judge, all of one prompt) meet each other and those that all blocks share, and no
others: :mod:`.arrow` has what is done with such matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.nested.stacks import Members, Plan, block_members, matrix_plan
from voirdire.model.design import COMMON
from voirdire.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pattern:
    """Latent values that meet in an answer, and places where the products of their coefficients are added up.

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
    least : int
        Number of predictors, where the last of them have no values.

    Examples
    --------
    >>> pattern = Pattern(np.array([0, 1, COMMON]), np.array([[0, 2], [1, 2]]), np.ones((2, 2)), np.array([0, 1]))
    >>> pattern.linear_predictors(np.array([1.0, 2.0, 5.0])).tolist()
    [[1.0, 2.0], [5.0, 5.0]]
    """

    block: Ints
    index: Ints
    coefficients: Floats
    predictor: Ints
    least: int = 0

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
        return np.asarray(
            np.where(self.coefficients != 0, block[self.index], COMMON).max(axis=1, initial=COMMON)
        )

    @cached_property
    def plan(self) -> Plan:
        """Layout of the matrix."""
        return matrix_plan(self)

    @cached_property
    def members(self) -> Members:
        """Values that each block has, and meets."""
        return block_members(self)

    @cached_property
    def work(self) -> float:
        """Multiplications that a factor takes, about."""
        own, shared = self.members.sizes.T.astype(float)
        return float((own * (own + shared) ** 2).sum() + len(self.common) ** 3 / 3)

    @property
    def numbers(self) -> int:
        """Numbers that a factor takes."""
        own, shared = self.members.sizes.T
        return int((own * (own + shared)).sum()) + 2 * len(self.common) ** 2

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
        return max(int(self.predictor.max(initial=-1)) + 1, self.least)

    def linear_predictors(self, x: Floats) -> Floats:
        """Linear predictors of all cells, shape (..., predictors, cells), of latent values, shape (..., size)."""
        return np.asarray((self.rows @ x.T).T.reshape(*x.shape[:-1], self.kinds, -1))

    def gather_gradient(self, slopes: Floats) -> Floats:
        """Gradient by the latent values, shape (..., size), of one by the predictors, (..., predictors, cells)."""
        return np.asarray((self.columns @ slopes.reshape(*slopes.shape[:-2], -1).T).T)

    def second_derivatives(self, cells: slice | Ints, curvature: Floats) -> Floats:
        """Second derivatives by two values of each cell, shape (cells, width * (width + 1) / 2).

        Of a value that is part of two predictors, what it has with itself in both orders.
        """
        one, other = np.tril_indices(len(self.predictor))
        scale = self.coefficients[cells]
        by_value = curvature[cells][:, self.predictor[one], self.predictor[other]]
        found = np.asarray(by_value * scale[:, one] * scale[:, other])
        if len(self._repeated_pairs):
            index = self.index[cells]
            same = index[:, one[self._repeated_pairs]] == index[:, other[self._repeated_pairs]]
            found[:, self._repeated_pairs] *= 1.0 + same
        return found

    @cached_property
    def _repeated_pairs(self) -> Ints:
        """Pairs of places in a cell that may hold the same value twice."""
        one, other = np.tril_indices(len(self.predictor))
        used = np.where(self.coefficients != 0, self.index, self.size + 1 + np.arange(len(self.predictor)))
        same = [a != b and bool((used[:, a] == used[:, b]).any()) for a, b in zip(one, other, strict=True)]
        return np.flatnonzero(same)
