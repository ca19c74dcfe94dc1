"""Symmetric matrices of blocks that share only a border: factors, solutions, covariances and draws.

Latent values may fall into blocks (all of one judge, all of one prompt) that answers link through common values only.
Then the matrix of second derivatives has the shape of an arrow:

    [ A_1         B_1 ]
    [      A_2    B_2 ]        A_b: block b, B_b: block b by the common values linked to it,
    [           . ... ]        G: the common values
    [ B_1' B_2'    G  ]

With A_b = L_b L_b' and Y_b = L_b^-1 B_b, the matrix of the common values becomes S = G - sum_b Y_b' Y_b (the Schur
complement). The cost grows with the number of blocks, not with its cube (George and Liu 1981, Computer Solution of
Large Sparse Positive Definite Systems).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from voirdire.infer.latent_gaussian.hessian_pattern import Pattern, Stack, inverse_roots
from voirdire.infer.threads import map_in_two_threads
from voirdire.typing import Floats

MIN_THREADED_WORK = 4e8  # multiplications from which stacks are factored by two threads
MAX_THREADED_COMMON = 600  # common values up to which threads are used: each stack has a matrix of them

BATCH_ROWS = 2000  # rows of blocks that are multiplied at once
COVARIANCE_BATCH_SIZE = 1 << 17  # numbers of covariances that are computed at a time: a megabyte

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Factor:
    """Factor of a matrix of a :class:`Pattern`.

    Parameters
    ----------
    pattern : Pattern
    parts : list of (array, array)
        L_b^-1, shape (blocks, own, own), and Y_b, shape (blocks, own, shared), of each stack of the pattern's plan.
    common_root : array, shape (common, common)
        Lower triangular factor of S.
    unobserved_sd : array
        Standard deviations of the values that no answer depends on.
        Log determinant of the matrix.
    """

    pattern: Pattern
    parts: list[tuple[Floats, Floats]]
    common_root: Floats
    unobserved_sd: Floats
    log_determinant: float

    def _stack_parts(self) -> Iterator[tuple[Stack, Floats, Floats]]:
        for stack, (inverse, border) in zip(self.pattern.plan.stacks, self.parts, strict=True):
            yield stack, inverse, border

    def solve_system(self, right: Floats) -> Floats:
        """Multiply ``right``, shape (size,) or (size, columns), by the inverse of the matrix."""
        return self.to_draws(self.whiten_gradients(right))

    def to_draws(self, normal: Floats) -> Floats:
        """Turn standard normal vectors, shape (size, draws), into vectors whose covariance is the matrix's inverse."""
        columns = normal.reshape(len(normal), -1)
        out = np.empty_like(columns)
        alone, common = self.pattern.members.unobserved, self.pattern.common
        out[common] = common_values = _solve_triangular(self.common_root, columns[common], 1)
        out[alone] = self.unobserved_sd[:, None] * columns[alone]
        for stack, inverse, border in self._stack_parts():
            remainder = columns[stack.own_values] - border @ common_values[stack.shared]
            out[stack.own_values] = inverse.transpose(0, 2, 1) @ remainder
        return out.reshape(normal.shape)

    def from_draws(self, drawn: Floats) -> Floats:
        """Invert :meth:`to_draws`: return the standard normal vectors, shape (size, draws)."""
        out = np.empty_like(drawn)
        alone, common = self.pattern.members.unobserved, self.pattern.common
        common_values = drawn[common]
        out[common] = self.common_root.T @ common_values
        out[alone] = drawn[alone] / self.unobserved_sd[:, None]
        for stack, inverse, border in self._stack_parts():
            own_values = np.linalg.solve(inverse.transpose(0, 2, 1), drawn[stack.own_values])
            out[stack.own_values] = own_values + border @ common_values[stack.shared]
        return out

    def whiten_gradients(self, slopes: Floats) -> Floats:
        """Turn gradients by the vectors of :meth:`to_draws` into those by the normal ones, shape (size, draws)."""
        columns = np.asarray(slopes, dtype=float).reshape(len(slopes), -1)
        out = np.empty_like(columns)
        alone, common = self.pattern.members.unobserved, self.pattern.common
        common_values = columns[common]
        out[alone] = self.unobserved_sd[:, None] * columns[alone]
        for stack, inverse, border in self._stack_parts():
            part = inverse @ columns[stack.own_values]
            out[stack.own_values] = part
            reduction = border.transpose(0, 2, 1) @ part
            if len(reduction) == 1:  # within a block each common value occurs once
                common_values[stack.shared[0]] -= reduction[0]
            elif reduction.shape[2] == 1:
                common_values[:, 0] -= np.bincount(stack.shared.ravel(), reduction.ravel(), len(common_values))
            else:
                np.subtract.at(common_values, stack.shared, reduction)
        out[common] = _solve_triangular(self.common_root, common_values, 0)
        return out.reshape(slopes.shape)

    @cached_property
    def _common_covariance(self) -> Floats:
        return _inverse_matrix(self.common_root)

    def marginal_variances(self) -> Floats:
        """Compute the variances of all values, shape (size,)."""
        variances = self._common_variances()

        def stack_variances(number: int) -> Floats:
            stack, (inverse, border) = self.pattern.plan.stacks[number], self.parts[number]
            projected = inverse.transpose(0, 2, 1) @ border
            shared = self._common_covariance[stack.shared[:, :, None], stack.shared[:, None, :]]
            return np.asarray((inverse**2).sum(axis=1) + ((projected @ shared) * projected).sum(axis=2))

        for stack, variance in zip(self.pattern.plan.stacks, self._each_stack(stack_variances), strict=True):
            variances[stack.own_values] = variance
        return variances

    def marginal_covariances(self) -> tuple[Floats, Floats]:
        """Compute variances, shape (size,), and covariances of predictors, (cells, predictors, predictors)."""
        pattern, plan = self.pattern, self.pattern.plan
        kinds = np.arange(pattern.kinds)
        by_kind = (pattern.predictor == kinds[:, None]).astype(float)
        variances = self._common_variances()
        out = np.empty((len(pattern.index), pattern.kinds, pattern.kinds))
        positions = np.where(pattern.coefficients[plan.bare] != 0, pattern.members.place[pattern.index[plan.bare]], 0)
        gathered = self._common_covariance[positions[:, :, None], positions[:, None, :]]
        out[plan.bare] = _predictor_covariances(gathered, pattern.coefficients[plan.bare], by_kind)

        def stack_marginals(number: int) -> tuple[Floats, Floats]:
            stack = plan.stacks[number]
            own_variances: Floats = np.empty(stack.own_values.shape)
            cell_covariances: Floats = np.empty((len(stack.cells), *out.shape[1:]))
            for blocks, joint in self._joint_covariances(stack, *self.parts[number]):
                own_variances[blocks] = np.diagonal(joint, axis1=1, axis2=2)[:, : own_variances.shape[1]]
                first, end = np.searchsorted(stack.block_of_cell, (blocks.start, blocks.stop))
                cells = slice(int(first), int(end))
                b, positions = stack.block_of_cell[cells] - blocks.start, stack.value_places[cells]
                gathered = joint[b[:, None, None], positions[:, :, None], positions[:, None, :]]
                coefficients = pattern.coefficients[stack.cells[cells]]
                cell_covariances[cells] = _predictor_covariances(gathered, coefficients, by_kind)
            return own_variances, cell_covariances

        for stack, (own_variances, covariances) in zip(plan.stacks, self._each_stack(stack_marginals), strict=True):
            variances[stack.own_values], out[stack.cells] = own_variances, covariances
        return variances, out

    def _common_variances(self) -> Floats:
        """Compute the variances of common and of unobserved values; the other entries are not set."""
        variances = np.empty(self.pattern.size)
        variances[self.pattern.common] = self._common_covariance.diagonal()
        variances[self.pattern.members.unobserved] = self.unobserved_sd**2
        return variances

    def _joint_covariances(self, stack: Stack, inverse: Floats, border: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield covariances of each block's own values and the common ones linked to it, own ones first.

        Batches of blocks reuse the same arrays, which are small enough for the processor's cache.
        """
        blocks, size, width = stack.shape
        batch_size = min(max(1, COVARIANCE_BATCH_SIZE // (size + width) ** 2), blocks)
        joint, projected, weighted, own_part = (
            np.empty((batch_size, *shape))
            for shape in ((size + width,) * 2, (size, width), (size, width), (size, size))
        )
        for start in range(0, blocks, batch_size):
            batch = slice(start, min(start + batch_size, blocks))
            n = batch.stop - start
            transposed, positions = inverse[batch].transpose(0, 2, 1), stack.shared[batch]
            shared = self._common_covariance[positions[:, :, None], positions[:, None, :]]
            np.matmul(transposed, border[batch], out=projected[:n])
            np.matmul(projected[:n], shared, out=weighted[:n])
            np.matmul(weighted[:n], projected[:n].transpose(0, 2, 1), out=own_part[:n])
            np.add(transposed @ inverse[batch], own_part[:n], out=joint[:n, :size, :size])
            np.negative(weighted[:n], out=joint[:n, :size, size:])
            joint[:n, size:, :size] = joint[:n, :size, size:].transpose(0, 2, 1)
            joint[:n, size:, size:] = shared
            yield batch, joint[:n]

    def _each_stack(self, function: Callable[[int], T]) -> Iterator[T]:
        assert self._common_covariance is not None  # computed here, before threads need it
        return _map_stacks(function, self.pattern)


def sparse_factor(pattern: Pattern, diagonal: Floats, curvature: Floats) -> Factor:
    """Factor diag(``diagonal``) + the sum of the second derivatives of all cells.

    Parameters
    ----------
    pattern : Pattern
    diagonal : array, shape (size,)
    curvature : array, shape (cells, predictors, predictors)
        Second derivatives of each cell by its predictors, symmetric.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is not positive definite.

    Examples
    --------
    >>> from voirdire.model.design import COMMON
    >>> block, index = np.array([0, 1, COMMON]), np.array([[0, 2], [1, 2]])
    >>> pattern = Pattern(block, index, np.ones((2, 2)), np.array([0, 1]))
    >>> weights = np.array([[[1.0, 2.0], [2.0, 5.0]], [[3.0, 1.0], [1.0, 4.0]]])
    >>> factor = sparse_factor(pattern, np.ones(3), weights)
    >>> full = np.array([[2.0, 0.0, 2.0], [0.0, 4.0, 1.0], [2.0, 1.0, 10.0]])
    >>> bool(np.isclose(factor.log_determinant, np.linalg.slogdet(full)[1]))
    True
    >>> np.allclose(factor.solve_system(np.arange(3.0)), np.linalg.solve(full, np.arange(3.0)))
    True
    """
    plan, common = pattern.plan, len(pattern.common)
    added = np.zeros(common * common)
    for cells, target, flat in plan.commons:
        added += np.bincount(target, pattern.second_derivatives(cells, curvature).ravel()[flat], common * common)
    common_matrix: Floats = added.reshape(common, common)
    common_matrix[np.arange(common), np.arange(common)] += diagonal[pattern.common]

    def factor_stack(number: int) -> tuple[Floats, Floats, float, _SharedProducts]:
        stack = plan.stacks[number]
        blocks, size, width = stack.shape
        products = pattern.second_derivatives(stack.cells, curvature).ravel()[stack.flat]
        total: Floats = np.bincount(stack.target, products, blocks * size * (size + width)).astype(float)
        own_matrix = total[: blocks * size**2].reshape(blocks, size, size)
        own_matrix[:, np.arange(size), np.arange(size)] += diagonal[stack.own_values]
        inverse, log = inverse_roots(own_matrix)
        border = inverse @ total[blocks * size**2 :].reshape(blocks, size, width)
        return inverse, border, float(log.sum()), _shared_products(stack, border, common)

    parts, total, pending_rows = [], 0.0, list[Floats]()
    for inverse, border, log, shared_product in _map_stacks(factor_stack, pattern):
        parts.append((inverse, border))
        total += log
        if shared_product.whole is not None:
            common_matrix -= shared_product.whole
        elif shared_product.rows is not None:
            pending_rows.append(shared_product.rows)
            if sum(len(rows) for rows in pending_rows) > BATCH_ROWS:
                _subtract_products(common_matrix, pending_rows)
        else:
            for positions, block_border in zip(plan.stacks[len(parts) - 1].shared, border, strict=True):
                common_matrix[np.ix_(positions, positions)] -= block_border.T @ block_border
    _subtract_products(common_matrix, pending_rows)
    common_factor = _cholesky_factor(common_matrix)
    alone = diagonal[pattern.members.unobserved]
    if alone.size and not alone.min() > 0:
        raise np.linalg.LinAlgError("not positive definite")
    total += 2.0 * float(np.log(common_factor.diagonal()).sum()) + float(np.log(alone).sum())
    return Factor(pattern, parts, common_factor, 1.0 / np.sqrt(alone), total)


class _SharedProducts(NamedTuple):
    """Products of a stack for the common values: Y' Y of all its blocks, or rows of Y still to multiply, or neither."""

    whole: Floats | None
    rows: Floats | None


def _shared_products(stack: Stack, border: Floats, common: int) -> _SharedProducts:
    """Compute Y' Y, or collect rows of Y for a later product, for blocks linked to most common values; else neither."""
    blocks, size, width = border.shape
    if 4 * width < common:
        return _SharedProducts(None, None)
    rows = np.zeros((blocks, common, size))
    rows[np.arange(blocks)[:, None], stack.shared] = border.transpose(0, 2, 1)
    flat = rows.transpose(0, 2, 1).reshape(-1, common)
    return _SharedProducts(flat.T @ flat, None) if len(flat) > common else _SharedProducts(None, flat)


def _subtract_products(common_matrix: Floats, rows_to_subtract: list[Floats]) -> None:
    """Subtract the products of the waiting rows from the matrix of the common values, and clear the rows."""
    if rows_to_subtract:
        rows = np.concatenate(rows_to_subtract)
        common_matrix -= rows.T @ rows
        rows_to_subtract.clear()


def _map_stacks(function: Callable[[int], T], pattern: Pattern) -> Iterator[T]:
    """Yield the results of a function of the stack's number for each stack, in order; large patterns use threads."""
    numbers = range(len(pattern.plan.stacks))
    if pattern.work < MIN_THREADED_WORK or len(pattern.common) > MAX_THREADED_COMMON:
        yield from map(function, numbers)
        return
    yield from map_in_two_threads(function, numbers)


def _predictor_covariances(gathered: Floats, coefficients: Floats, by_kind: Floats) -> Floats:
    """Compute covariances of predictors, shape (cells, kinds, kinds), from those of values, (cells, width, width)."""
    gathered *= coefficients[:, :, None]
    gathered *= coefficients[:, None, :]
    return np.asarray(by_kind @ gathered @ by_kind.T)


def _inverse_matrix(lower: Floats) -> Floats:
    """Invert a matrix by its lower triangular factor."""
    from scipy.linalg.lapack import dpotri

    if not lower.size:
        return lower
    inverse = dpotri(lower, lower=1)[0]
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _cholesky_factor(matrix: Floats) -> Floats:
    """Compute the lower triangular factor; raise ``LinAlgError`` where the matrix is not positive definite."""
    if not matrix.size:
        return matrix
    from scipy.linalg.lapack import dpotrf

    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed or not np.isfinite(lower[-1, -1]):
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(lower)


def _solve_triangular(lower: Floats, right: Floats, transposed: int) -> Floats:
    if not right.size:
        return np.asarray(right)
    from scipy.linalg.lapack import dtrtrs

    return np.asarray(dtrtrs(lower, right, lower=1, trans=transposed)[0])
