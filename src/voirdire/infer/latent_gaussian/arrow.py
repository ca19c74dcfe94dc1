"""Symmetric matrices of blocks that only share a border: factors, solutions, the covariances one needs, draws.

Where latent values fall into blocks (all of one judge, all of one prompt) that no answer links but through common ones,
the matrix of second derivatives has the shape of an arrow:

    [ A_1         B_1 ]
    [      A_2    B_2 ]        A_b: block b by itself, B_b: block b by the common values that it meets,
    [           . ... ]        G: the common values
    [ B_1' B_2'    G  ]

With A_b = L_b L_b' and Y_b = L_b^-1 B_b, what is left of the common values is S = G - sum_b Y_b' Y_b (the Schur
complement), and the cost grows with the blocks, not with the cube of their number (George and Liu 1981, Computer
Solution of Large Sparse Positive Definite Systems).
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

THREADED = 4e8  # multiplications from which stacks are factored side by side
MOST_COMMON = 600  # common values up to which they are: each stack has a matrix of them

TOGETHER = 2000  # rows of blocks whose products are taken at once
NEAR = 1 << 17  # numbers of covariances that are made at a time: a megabyte

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Factor:
    """The factor of a matrix of a :class:`Pattern`.

    Parameters
    ----------
    pattern : Pattern
    parts : list of (array, array)
        Of each stack of the pattern's plan L_b^-1, shape (blocks, own, own), and Y_b, shape (blocks, own, shared).
    rest : array, shape (common, common)
        Lower triangular factor of what is left of the common values.
    alone : array
        Standard deviations of the values that no answer depends on.
    log_determinant : float
        Log determinant of the matrix.
    """

    pattern: Pattern
    parts: list[tuple[Floats, Floats]]
    rest: Floats
    alone: Floats
    log_determinant: float

    def _stack_parts(self) -> Iterator[tuple[Stack, Floats, Floats]]:
        for stack, (inverse, beside) in zip(self.pattern.plan.stacks, self.parts, strict=True):
            yield stack, inverse, beside

    def solve_system(self, right: Floats) -> Floats:
        """The matrix's inverse times ``right``, shape (size,) or (size, columns)."""
        return self.to_draws(self.whiten_gradients(right))

    def to_draws(self, normal: Floats) -> Floats:
        """Vectors whose covariance is the matrix's inverse, of standard normal ones, shape (size, draws)."""
        columns = normal.reshape(len(normal), -1)
        out = np.empty_like(columns)
        plan, common = self.pattern.plan, self.pattern.common
        out[common] = rest = _solve_triangular(self.rest, columns[common], 1)
        out[plan.alone] = self.alone[:, None] * columns[plan.alone]
        for stack, inverse, beside in self._stack_parts():
            left = columns[stack.own] - beside @ rest[stack.shared]
            out[stack.own] = inverse.transpose(0, 2, 1) @ left
        return out.reshape(normal.shape)

    def from_draws(self, drawn: Floats) -> Floats:
        """The standard normal vectors of which :meth:`to_draws` made others, shape (size, draws)."""
        out = np.empty_like(drawn)
        plan, common = self.pattern.plan, self.pattern.common
        rest = drawn[common]
        out[common] = self.rest.T @ rest
        out[plan.alone] = drawn[plan.alone] / self.alone[:, None]
        for stack, inverse, beside in self._stack_parts():
            own = np.linalg.solve(inverse.transpose(0, 2, 1), drawn[stack.own])
            out[stack.own] = own + beside @ rest[stack.shared]
        return out

    def whiten_gradients(self, slopes: Floats) -> Floats:
        """Gradients by the standard normal vectors of :meth:`to_draws`, of those by what they make, (size, draws)."""
        columns = np.asarray(slopes, dtype=float).reshape(len(slopes), -1)
        out = np.empty_like(columns)
        plan, common = self.pattern.plan, self.pattern.common
        rest = columns[common]
        out[plan.alone] = self.alone[:, None] * columns[plan.alone]
        for stack, inverse, beside in self._stack_parts():
            part = inverse @ columns[stack.own]
            out[stack.own] = part
            less = beside.transpose(0, 2, 1) @ part
            if len(less) == 1:  # a block meets a value once
                rest[stack.shared[0]] -= less[0]
            elif less.shape[2] == 1:
                rest[:, 0] -= np.bincount(stack.shared.ravel(), less.ravel(), len(rest))
            else:
                np.subtract.at(rest, stack.shared, less)
        out[common] = _solve_triangular(self.rest, rest, 0)
        return out.reshape(slopes.shape)

    @cached_property
    def _common_covariance(self) -> Floats:
        return _inverse_matrix(self.rest)

    def marginal_variances(self) -> Floats:
        """Variances of all values, shape (size,)."""
        variances = self._common_variances()

        def stack_variances(at: int) -> Floats:
            stack, (inverse, beside) = self.pattern.plan.stacks[at], self.parts[at]
            across = inverse.transpose(0, 2, 1) @ beside
            shared = self._common_covariance[stack.shared[:, :, None], stack.shared[:, None, :]]
            return np.asarray((inverse**2).sum(axis=1) + ((across @ shared) * across).sum(axis=2))

        for stack, found in zip(self.pattern.plan.stacks, self._each_stack(stack_variances), strict=True):
            variances[stack.own] = found
        return variances

    def marginal_covariances(self) -> tuple[Floats, Floats]:
        """Variances of all values, shape (size,), and covariances of predictors, (cells, predictors, predictors)."""
        pattern, plan = self.pattern, self.pattern.plan
        kinds = np.arange(pattern.kinds)
        by_kind = (pattern.predictor == kinds[:, None]).astype(float)
        variances = self._common_variances()
        out = np.empty((len(pattern.index), pattern.kinds, pattern.kinds))
        at = np.where(pattern.coefficients[plan.bare] != 0, plan.place[pattern.index[plan.bare]], 0)
        gathered = self._common_covariance[at[:, :, None], at[:, None, :]]
        out[plan.bare] = _predictor_covariances(gathered, pattern.coefficients[plan.bare], by_kind)

        def stack_marginals(number: int) -> tuple[Floats, Floats]:
            stack = plan.stacks[number]
            own: Floats = np.empty(stack.own.shape)
            of_cells: Floats = np.empty((len(stack.cells), *out.shape[1:]))
            for blocks, joint in self._joint_covariances(stack, *self.parts[number]):
                own[blocks] = np.diagonal(joint, axis1=1, axis2=2)[:, : own.shape[1]]
                first, end = np.searchsorted(stack.of, (blocks.start, blocks.stop))
                cells = slice(int(first), int(end))
                b, at = stack.of[cells] - blocks.start, stack.at[cells]
                gathered = joint[b[:, None, None], at[:, :, None], at[:, None, :]]
                coefficients = pattern.coefficients[stack.cells[cells]]
                of_cells[cells] = _predictor_covariances(gathered, coefficients, by_kind)
            return own, of_cells

        for stack, (own, found) in zip(plan.stacks, self._each_stack(stack_marginals), strict=True):
            variances[stack.own], out[stack.cells] = own, found
        return variances, out

    def _common_variances(self) -> Floats:
        """Variances of common values, and of those that no answer depends on; others are left open."""
        variances = np.empty(self.pattern.size)
        variances[self.pattern.common] = self._common_covariance.diagonal()
        variances[self.pattern.plan.alone] = self.alone**2
        return variances

    def _joint_covariances(
        self, stack: Stack, inverse: Floats, beside: Floats
    ) -> Iterator[tuple[slice, Floats]]:
        """Covariances of each block's own values and the common ones it meets, own ones first.

        Of some blocks after the others, in the same place, which is short enough to stay near the processor.
        """
        blocks, size, width = stack.shape
        each = min(max(1, NEAR // (size + width) ** 2), blocks)
        joint, across, towards, own = (
            np.empty((each, *shape))
            for shape in ((size + width,) * 2, (size, width), (size, width), (size, size))
        )
        for start in range(0, blocks, each):
            some = slice(start, min(start + each, blocks))
            n = some.stop - start
            turned, at = inverse[some].transpose(0, 2, 1), stack.shared[some]
            shared = self._common_covariance[at[:, :, None], at[:, None, :]]
            np.matmul(turned, beside[some], out=across[:n])
            np.matmul(across[:n], shared, out=towards[:n])
            np.matmul(towards[:n], across[:n].transpose(0, 2, 1), out=own[:n])
            np.add(turned @ inverse[some], own[:n], out=joint[:n, :size, :size])
            np.negative(towards[:n], out=joint[:n, :size, size:])
            joint[:n, size:, :size] = joint[:n, :size, size:].transpose(0, 2, 1)
            joint[:n, size:, size:] = shared
            yield some, joint[:n]

    def _each_stack(self, of: Callable[[int], T]) -> Iterator[T]:
        assert self._common_covariance is not None  # is made before threads ask for it
        return _map_stacks(of, self.pattern)


def sparse_factor(pattern: Pattern, diagonal: Floats, curvature: Floats) -> Factor:
    """Factor of diag(``diagonal``) + the sum of all cells' second derivatives.

    Parameters
    ----------
    pattern : Pattern
    diagonal : array, shape (size,)
    curvature : array, shape (cells, predictors, predictors)
        Symmetric, for each cell the second derivatives by its predictors.

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
        added += np.bincount(
            target, pattern.second_derivatives(cells, curvature).ravel()[flat], common * common
        )
    whole: Floats = added.reshape(common, common)
    whole[np.arange(common), np.arange(common)] += diagonal[pattern.common]

    def factor_stack(number: int) -> tuple[Floats, Floats, float, _Left]:
        stack = plan.stacks[number]
        blocks, size, width = stack.shape
        products = pattern.second_derivatives(stack.cells, curvature).ravel()[stack.flat]
        total: Floats = np.bincount(stack.target, products, blocks * size * (size + width)).astype(float)
        own = total[: blocks * size**2].reshape(blocks, size, size)
        own[:, np.arange(size), np.arange(size)] += diagonal[stack.own]
        inverse, log = inverse_roots(own)
        beside = inverse @ total[blocks * size**2 :].reshape(blocks, size, width)
        return inverse, beside, float(log.sum()), _shared_products(stack, beside, common)

    parts, total, waiting = [], 0.0, list[Floats]()
    for inverse, beside, log, left in _map_stacks(factor_stack, pattern):
        parts.append((inverse, beside))
        total += log
        if left.whole is not None:
            whole -= left.whole
        elif left.rows is not None:
            waiting.append(left.rows)
            if sum(len(rows) for rows in waiting) > TOGETHER:
                _subtract_products(whole, waiting)
        else:
            for at, one in zip(plan.stacks[len(parts) - 1].shared, beside, strict=True):
                whole[np.ix_(at, at)] -= one.T @ one
    _subtract_products(whole, waiting)
    rest = _cholesky_factor(whole)
    alone = diagonal[plan.alone]
    if alone.size and not alone.min() > 0:
        raise np.linalg.LinAlgError("not positive definite")
    total += 2.0 * float(np.log(rest.diagonal()).sum()) + float(np.log(alone).sum())
    return Factor(pattern, parts, rest, 1.0 / np.sqrt(alone), total)


class _Left(NamedTuple):
    """Products that a stack takes from the common values: Y' Y of all its blocks, their Y in full, or nothing yet."""

    whole: Floats | None
    rows: Floats | None


def _shared_products(stack: Stack, beside: Floats, common: int) -> _Left:
    """Y' Y of blocks that meet most common values if they have many rows, else their rows, which others join."""
    blocks, size, width = beside.shape
    if 4 * width < common:
        return _Left(None, None)
    rows = np.zeros((blocks, common, size))
    rows[np.arange(blocks)[:, None], stack.shared] = beside.transpose(0, 2, 1)
    flat = rows.transpose(0, 2, 1).reshape(-1, common)
    return _Left(flat.T @ flat, None) if len(flat) > common else _Left(None, flat)


def _subtract_products(whole: Floats, waiting: list[Floats]) -> None:
    """Take the products of rows from the matrix of the common values, and let the rows go."""
    if waiting:
        rows = np.concatenate(waiting)
        whole -= rows.T @ rows
        waiting.clear()


def _map_stacks(of: Callable[[int], T], pattern: Pattern) -> Iterator[T]:
    """Yield the results of ``of`` for each stack, in order; of large patterns by threads."""
    numbers = range(len(pattern.plan.stacks))
    if pattern.work < THREADED or len(pattern.common) > MOST_COMMON:
        yield from map(of, numbers)
        return
    yield from map_in_two_threads(of, numbers)


def _predictor_covariances(gathered: Floats, coefficients: Floats, by_kind: Floats) -> Floats:
    """Covariances of sums of cells, shape (cells, kinds, kinds), of those of their values, (cells, width, width)."""
    gathered *= coefficients[:, :, None]
    gathered *= coefficients[:, None, :]
    return np.asarray(by_kind @ gathered @ by_kind.T)


def _inverse_matrix(lower: Floats) -> Floats:
    """Inverse of the matrix of a lower triangular factor."""
    from scipy.linalg.lapack import dpotri

    if not lower.size:
        return lower
    inverse = dpotri(lower, lower=1)[0]
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _cholesky_factor(matrix: Floats) -> Floats:
    """Lower triangular factor; of what is not positive definite an error."""
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
