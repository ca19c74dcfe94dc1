"""Pattern of the second derivatives of a latent density: the latent values that occur together in an answer.

Latent values of one block (all of one judge, all of one prompt) occur together with each other and with the values
that all blocks share, and with no others; :mod:`.arrow` computes with such matrices.

Most tables have thousands of blocks (prompts) of some dozens of values. Blocks of the same shape are stacked in one
array, and are factored and multiplied together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.model.design import COMMON
from voirdire.typing import Floats, Ints

MAX_STACK_NUMBERS = 1 << 21  # numbers of a stack's matrices, at most; a single block may have more
MAX_UNSPLIT_SIZE = 24  # values of a block up to which it is factored by columns
MAX_CODE_RATIO = 16  # range of codes over their number, up to which the whole range is scanned
CHUNK_PRODUCTS = 1 << 22  # products that are indexed at a time


@dataclass(frozen=True, eq=False)
class Stack:
    """Blocks of one shape.

    Attributes
    ----------
    own_values : int array, shape (blocks, own)
        Latent values of each block that answers depend on.
    shared : int array, shape (blocks, shared)
        Common values linked to each block, as positions among the common values.
    cells : int array, shape (cells,)
        Cells of these blocks.
    block_of_cell : int array, shape (cells,)
        Block of each cell, within the stack.
    value_places : int array, shape (cells, width)
        Position of each value of a cell: first the block's own values, then the shared ones; 0 for no value.
    target, flat : int array
        Positions of the sums of products of two coefficients (first the lower triangles of the blocks, then the blocks
        by common values), and indices of the products.
    """

    own_values: Ints
    shared: Ints
    cells: Ints
    block_of_cell: Ints
    value_places: Ints
    target: Ints
    flat: Ints

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of blocks, and of own and shared values of each."""
        return (*self.own_values.shape, self.shared.shape[1])


@dataclass(frozen=True, eq=False)
class MatrixPlan:
    """Index arrays for building the matrix of a pattern.

    Attributes
    ----------
    stacks : list of Stack
    bare : int array
        Cells that have common values alone.
    commons : list of (slice, int array, int array)
        Chunks of cells, positions of the sums of products of two common values, and indices of the products.
    """

    stacks: list[Stack]
    bare: Ints
    commons: list[tuple[slice, Ints, Ints]]


@dataclass(frozen=True, eq=False)
class BlockMembers:
    """Own values of each block, and the common values linked to it.

    Attributes
    ----------
    own_values, starts : int array
        Values of blocks that answers depend on, sorted by block, and the first index of each block.
    keys, edges : int array
        Sorted numbers block * (number of common values) + position of a linked common value, and the first index of
        each block.
    place : int array, shape (size + 1,)
        Position of each value within its block, or among the common values.
    unobserved : int array
        Values of blocks that no answer depends on.
    """

    own_values: Ints
    starts: Ints
    keys: Ints
    edges: Ints
    place: Ints
    unobserved: Ints

    @property
    def sizes(self) -> Ints:
        """Number of own and of shared values of each block, shape (blocks, 2)."""
        return np.stack([np.diff(self.starts), np.diff(self.edges)], axis=1)


def distinct_codes(codes: Ints, size: int) -> Ints:
    """Return the distinct codes among 0 to ``size`` - 1, in order, without sorting where most of them occur.

    Examples
    --------
    >>> distinct_codes(np.array([4, 1, 4]), 5).tolist()
    [1, 4]
    """
    if size > MAX_CODE_RATIO * len(codes):
        return np.unique(codes)
    is_present = np.zeros(size, dtype=bool)
    is_present[codes] = True
    return np.flatnonzero(is_present)


def block_members(pattern: Pattern) -> BlockMembers:
    """Find the own values of the blocks of a pattern, and the common values linked to each."""
    block, common = np.append(pattern.block, -1), pattern.common
    used = pattern.coefficients != 0
    is_used = np.zeros(pattern.size + 1, dtype=bool)
    is_used[pattern.index[used]] = True
    own_values = np.flatnonzero(is_used[:-1] & (pattern.block >= 0))
    own_values = own_values[np.argsort(pattern.block[own_values], kind="stable")]
    blocks = int(pattern.block.max(initial=-1)) + 1
    starts = np.searchsorted(pattern.block[own_values], np.arange(blocks + 1))
    position = np.zeros(pattern.size + 1, dtype=np.int64)
    position[own_values] = np.arange(len(own_values)) - starts[pattern.block[own_values]]
    position[common] = np.arange(len(common))
    cell_block = pattern.of_cell
    shared = used & (block[pattern.index] < 0) & (cell_block >= 0)[:, None]
    codes = np.broadcast_to(cell_block[:, None], shared.shape)[shared] * len(common)
    keys = distinct_codes(codes + position[pattern.index[shared]], blocks * len(common))
    edges = np.searchsorted(keys, np.arange(blocks + 1) * len(common))
    alone = np.flatnonzero(~is_used[:-1] & (pattern.block >= 0))
    return BlockMembers(own_values, starts, keys, edges, position, alone)


def matrix_plan(pattern: Pattern) -> MatrixPlan:
    """Compute the index arrays of the matrix of a pattern."""
    members, block = pattern.members, np.append(pattern.block, -1)
    sizes, cell_block = members.sizes, pattern.of_cell
    order = np.argsort(cell_block, kind="stable")
    bounds = np.searchsorted(cell_block[order], np.arange(len(sizes) + 1))
    stacks = []
    for shape in np.unique(sizes[sizes[:, 0] > 0], axis=0):
        same_shape = np.flatnonzero((sizes == shape).all(axis=1))
        stack_size = max(1, MAX_STACK_NUMBERS // int(shape.sum()) ** 2)
        for first in range(0, len(same_shape), stack_size):
            stacks.append(_stack_blocks(pattern, same_shape[first : first + stack_size], order, bounds))
    return MatrixPlan(stacks, order[: bounds[0]], _shared_value_positions(pattern, block, members.place))


def _stack_blocks(pattern: Pattern, block_numbers: Ints, order: Ints, bounds: Ints) -> Stack:
    """Stack blocks; ``order`` sorts cells by block, and ``bounds`` are the first index of each block in that order."""
    common, members = len(pattern.common), pattern.members
    position = members.place
    own_values = np.stack([members.own_values[members.starts[b] : members.starts[b + 1]] for b in block_numbers])
    keys = np.stack([members.keys[members.edges[b] : members.edges[b + 1]] for b in block_numbers])
    shared = keys - block_numbers[:, None] * common
    cells = np.concatenate([order[bounds[b] : bounds[b + 1]] for b in block_numbers])
    cell_block = np.repeat(np.arange(len(block_numbers)), bounds[block_numbers + 1] - bounds[block_numbers])
    index, used = pattern.index[cells], pattern.coefficients[cells] != 0
    size, width = own_values.shape[1], shared.shape[1]
    is_own = np.append(pattern.block >= 0, False)[index] & used
    is_shared = used & ~is_own
    positions = np.where(is_own, position[index], 0)
    codes = block_numbers[cell_block][:, None] * common + position[index]
    column = np.searchsorted(keys.ravel(), codes[is_shared])
    positions[is_shared] = size + column - np.broadcast_to((cell_block * width)[:, None], positions.shape)[is_shared]
    left_index, right_index = np.tril_indices(index.shape[1])
    left, right = positions[:, left_index], positions[:, right_index]
    left, right = np.maximum(left, right), np.minimum(left, right)
    # own values: lower triangles; an own and a shared value: row of the own one
    b = cell_block[:, None]
    target = np.where(
        left < size,
        (b * size + left) * size + right,
        len(block_numbers) * size**2 + (b * size + right) * width + left - size,
    )
    is_used = used[:, left_index] & used[:, right_index] & (right < size)
    flat = np.arange(is_used.size).reshape(is_used.shape)
    return Stack(own_values, shared, cells, cell_block, positions, target[is_used], flat[is_used])


def _shared_value_positions(pattern: Pattern, block: Ints, place: Ints) -> list[tuple[slice, Ints, Ints]]:
    left_index, right_index = np.tril_indices(pattern.index.shape[1])
    step = max(CHUNK_PRODUCTS // max(len(left_index), 1), 1)
    chunks = []
    for start in range(0, len(pattern.index), step):
        cells = slice(start, start + step)
        index = pattern.index[cells]
        shared = (pattern.coefficients[cells] != 0) & (block[index] < 0)
        is_used = shared[:, left_index] & shared[:, right_index]
        left, right = place[index[:, left_index]], place[index[:, right_index]]
        target = np.maximum(left, right) * len(pattern.common) + np.minimum(left, right)
        flat = np.arange(is_used.size).reshape(is_used.shape)
        chunks.append((cells, target[is_used], flat[is_used]))
    return chunks


def inverse_roots(matrices: Floats) -> tuple[Floats, Floats]:
    """Compute inverse lower triangular factors, shape (blocks, size, size), and log determinants, shape (blocks,).

    Large matrices are split into halves, which is faster than factors by columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        A matrix is not positive definite.

    Examples
    --------
    >>> inverse, log = inverse_roots(np.array([[[4.0, 0.0], [2.0, 2.0]]]))
    >>> inverse.tolist(), round(float(np.exp(log[0])), 10)
    ([[[0.5, 0.0], [-0.5, 1.0]]], 4.0)
    """
    size = matrices.shape[-1]
    if size <= MAX_UNSPLIT_SIZE:
        lower = np.linalg.cholesky(matrices)
        log = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        if not np.isfinite(log).all():
            raise np.linalg.LinAlgError("not positive definite")
        return np.tril(np.linalg.inv(lower)), log
    half = size // 2
    upper_root, log = inverse_roots(matrices[:, :half, :half])
    lower_left = matrices[:, half:, :half] @ upper_root.transpose(0, 2, 1)
    lower_root, lower_log = inverse_roots(matrices[:, half:, half:] - lower_left @ lower_left.transpose(0, 2, 1))
    out = np.zeros_like(matrices)
    out[:, :half, :half], out[:, half:, half:] = upper_root, lower_root
    out[:, half:, :half] = -(lower_root @ lower_left) @ upper_root
    return out, log + lower_log


@dataclass(frozen=True, eq=False)
class Pattern:
    """Latent values of each cell of answers, and the blocks that they form.

    Parameters
    ----------
    block : int array, shape (size,)
        Block of each latent value, ``COMMON`` for those that all blocks share.
    index : int array, shape (cells, width)
        Latent values that each cell of answers depends on; ``size`` stands for none. Apart from common values, all
        values of a cell are of one block.
    coefficients : array, shape (cells, width)
        Coefficient of each value in its predictor; 0 for no value.
    predictor : int array, shape (width,)
        Linear predictor of the cell to which each column belongs.
    least : int
        Least number of predictors, for the case that the last ones have no values.

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
        """Positions of the common values."""
        return np.flatnonzero(self.block == COMMON)

    @cached_property
    def of_cell(self) -> Ints:
        """Block of each cell, ``COMMON`` for cells with common values alone, shape (cells,)."""
        block = np.append(self.block, COMMON)
        return np.asarray(np.where(self.coefficients != 0, block[self.index], COMMON).max(axis=1, initial=COMMON))

    @cached_property
    def plan(self) -> MatrixPlan:
        """Index arrays for building the matrix."""
        return matrix_plan(self)

    @cached_property
    def members(self) -> BlockMembers:
        """Own values of each block, and the common values linked to it."""
        return block_members(self)

    @cached_property
    def work(self) -> float:
        """Approximate number of multiplications for a factor."""
        own, shared = self.members.sizes.T.astype(float)
        return float((own * (own + shared) ** 2).sum() + len(self.common) ** 3 / 3)

    @property
    def numbers(self) -> int:
        """Count of the numbers in a factor."""
        own, shared = self.members.sizes.T
        return int((own * (own + shared)).sum()) + 2 * len(self.common) ** 2

    @cached_property
    def rows(self) -> Any:
        """Sparse matrix from latent values to all predictors, shape (predictors * cells, size)."""
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
        """Compute linear predictors, shape (..., predictors, cells), from latent values, shape (..., size)."""
        return np.asarray((self.rows @ x.T).T.reshape(*x.shape[:-1], self.kinds, -1))

    def gather_gradient(self, slopes: Floats) -> Floats:
        """Turn a gradient by predictors, (..., predictors, cells), into one by latent values, shape (..., size)."""
        return np.asarray((self.columns @ slopes.reshape(*slopes.shape[:-2], -1).T).T)

    def second_derivatives(self, cells: slice | Ints, curvature: Floats) -> Floats:
        """Compute second derivatives by pairs of values of each cell, shape (cells, width * (width + 1) / 2).

        A value that occurs in two predictors has a pair with itself, which counts in both orders.
        """
        left, right = np.tril_indices(len(self.predictor))
        scale = self.coefficients[cells]
        by_value = curvature[cells][:, self.predictor[left], self.predictor[right]]
        derivatives = np.asarray(by_value * scale[:, left] * scale[:, right])
        if len(self._repeated_pairs):
            index = self.index[cells]
            same = index[:, left[self._repeated_pairs]] == index[:, right[self._repeated_pairs]]
            derivatives[:, self._repeated_pairs] *= 1.0 + same
        return derivatives

    @cached_property
    def _repeated_pairs(self) -> Ints:
        """Pairs of columns of a cell that may hold the same value."""
        left, right = np.tril_indices(len(self.predictor))
        used = np.where(self.coefficients != 0, self.index, self.size + 1 + np.arange(len(self.predictor)))
        same = [a != b and bool((used[:, a] == used[:, b]).any()) for a, b in zip(left, right, strict=True)]
        return np.flatnonzero(same)
