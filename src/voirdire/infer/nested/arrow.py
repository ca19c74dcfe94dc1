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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from voirdire.typing import Floats, Ints

COMMON = -1  # the block of what all blocks share
SHIFTS = 30  # times that a diagonal is raised to make a matrix positive definite
TOGETHER = 2000  # rows of blocks whose products are taken at once
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
    >>> block, index = np.array([0, 1, COMMON]), np.array([[0, 2], [1, 2]])
    >>> pattern = Pattern(block, index, np.ones((2, 2)), np.array([0, 1]))
    >>> weights = np.array([[[1.0, 2.0], [2.0, 5.0]], [[3.0, 1.0], [1.0, 4.0]]])
    >>> factor = pattern.factor(np.ones(3), weights)
    >>> full = np.array([[2.0, 0.0, 2.0], [0.0, 4.0, 1.0], [2.0, 1.0, 10.0]])
    >>> bool(np.isclose(factor.log_determinant, np.linalg.slogdet(full)[1]))
    True
    >>> np.allclose(factor.solve(np.arange(3.0)), np.linalg.solve(full, np.arange(3.0)))
    True
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
    def _layout(self) -> list[tuple[slice, Ints, Ints]]:
        step = max(CHUNK // max(self.index.shape[1] ** 2, 1), 1)
        chunks = [slice(at, at + step) for at in range(0, len(self.index), step)]
        found = []
        for cells in chunks:
            found.append((cells, *self._targets(cells)))
        return found

    def predictors(self, x: Floats) -> Floats:
        """Linear predictors of all cells, shape (predictors, cells)."""
        out = np.zeros((int(self.predictor.max(initial=-1)) + 1, len(self.index)))
        padded = np.append(x, 0.0)
        for j, predictor in enumerate(self.predictor):
            out[predictor] += self.coefficients[:, j] * padded[self.index[:, j]]
        return out

    def gathered(self, slopes: Floats) -> Floats:
        """Gradient by the latent values, shape (size,), of one by the predictors, shape (predictors, cells)."""
        out = np.zeros(self.size + 1)
        for j, predictor in enumerate(self.predictor):
            out += np.bincount(self.index[:, j], self.coefficients[:, j] * slopes[predictor], self.size + 1)
        return out[:-1]

    def _products(self, cells: slice, curvature: Floats) -> Floats:
        """Second derivatives by two values of each cell, shape (cells, width * (width + 1) / 2)."""
        one, other = np.tril_indices(len(self.predictor))
        scale = self.coefficients[cells]
        by_value = curvature[cells][:, self.predictor[one], self.predictor[other]]
        return np.asarray(by_value * scale[:, one] * scale[:, other])

    def factor(self, diagonal: Floats, curvature: Floats, firm: Floats | None = None) -> Factor:
        """Factor of diag(``diagonal``) + the sum of all cells' second derivatives.

        Parameters
        ----------
        diagonal : array, shape (size,)
        curvature : array, shape (cells, predictors, predictors)
            Symmetric, for each cell the second derivatives by its predictors.
        firm : array, shape (size,), optional
            Positive numbers; what is not positive definite of itself (a block, the common values) gets multiples of
            them on its diagonal until it is.

        Raises
        ------
        numpy.linalg.LinAlgError
            The matrix is not positive definite, and there is no ``firm``.
        """
        shifted = False

        def lower_of(matrix: Floats, where: Ints) -> Floats:
            nonlocal shifted
            lower = _cholesky(matrix)
            power = -1
            while lower is None and firm is not None and power < SHIFTS:
                shifted = True
                lower = _cholesky(matrix + np.diag(4.0**power * firm[where]))
                power += 1
            if lower is None:
                raise np.linalg.LinAlgError("not positive definite")
            return lower

        end = self.spans[-1].stop if self.spans else 0
        common = len(self.common)
        total = np.zeros(end + common * common)
        for cells, target, flat in self._layout:
            total += np.bincount(target, self._products(cells, curvature).ravel()[flat], len(total))
        whole = total[end:].reshape(common, common)
        whole[np.arange(common), np.arange(common)] += diagonal[self.common]
        parts = []
        rows = np.zeros((min(sum(len(s.own) for s in self.spans), TOGETHER), common))
        filled = 0
        for span in self.spans:
            size = len(span.own)
            own = total[span.start : span.middle].reshape(size, size)
            own[np.arange(size), np.arange(size)] += diagonal[span.own]
            lower = lower_of(own, span.own)
            beside = _lower_solve(lower, total[span.middle : span.stop].reshape(size, -1))
            parts.append((lower, beside))
            if not beside.size:
                continue
            if 4 * len(span.shared) < common or size > len(rows):  # few columns: by themselves
                whole[np.ix_(span.shared, span.shared)] -= beside.T @ beside
                continue
            if filled + size > len(rows):
                whole -= rows[:filled].T @ rows[:filled]
                filled = 0
            rows[filled : filled + size] = 0.0
            rows[filled : filled + size, span.shared] = beside
            filled += size
        whole -= rows[:filled].T @ rows[:filled]
        rest = lower_of(whole, self.common)
        return Factor(self, parts, rest, shifted)


@dataclass(frozen=True, eq=False)
class Factor:
    """The factor of a matrix of a :class:`Pattern`.

    Parameters
    ----------
    pattern : Pattern
    parts : list of (array, array)
        L_b, shape (own, own), and Y_b, shape (own, shared), of each block.
    rest : array, shape (common, common)
        Lower triangular factor of what is left of the common values.
    shifted : bool
        Whether something was added to make it positive definite.
    """

    pattern: Pattern
    parts: list[tuple[Floats, Floats]]
    rest: Floats
    shifted: bool = False

    def _blocks(self) -> Iterator[tuple[Span, Floats, Floats]]:
        for span, (lower, beside) in zip(self.pattern.spans, self.parts, strict=True):
            yield span, lower, beside

    @property
    def log_determinant(self) -> float:
        """Log determinant of the matrix."""
        total = np.log(self.rest.diagonal()).sum()
        return float(2.0 * (total + sum(np.log(lower.diagonal()).sum() for lower, _ in self.parts)))

    def solve(self, right: Floats) -> Floats:
        """The matrix's inverse times ``right``, shape (size,) or (size, columns)."""
        out = np.array(right, dtype=float)
        common = self.pattern.common
        rest = out[common]
        for span, lower, beside in self._blocks():
            out[span.own] = part = _lower_solve(lower, out[span.own])
            rest[span.shared] -= beside.T @ part
        out[common] = rest = _upper_solve(self.rest, _lower_solve(self.rest, rest))
        for span, lower, beside in self._blocks():
            out[span.own] = _upper_solve(lower, out[span.own] - beside @ rest[span.shared])
        return out

    def draws(self, normal: Floats) -> Floats:
        """Vectors whose covariance is the matrix's inverse, of standard normal ones, shape (size, draws)."""
        out = np.empty_like(normal)
        common = self.pattern.common
        out[common] = rest = _upper_solve(self.rest, normal[common])
        for span, lower, beside in self._blocks():
            out[span.own] = _upper_solve(lower, normal[span.own] - beside @ rest[span.shared])
        return out

    @cached_property
    def _of_common(self) -> Floats:
        return _inverse(self.rest)

    def covariances(self) -> Iterator[tuple[Span, Floats]]:
        """Of each block, and the common values it meets, the covariance: own ones first."""
        for span, lower, beside in self._blocks():
            shared = self._of_common[np.ix_(span.shared, span.shared)]
            size = len(span.own)
            joint = np.empty((size + len(span.shared), size + len(span.shared)))
            across = -_upper_solve(lower, beside)
            towards = across @ shared
            joint[:size, :size] = _inverse(lower) + towards @ across.T
            joint[:size, size:] = towards
            joint[size:, :size] = towards.T
            joint[size:, size:] = shared
            yield span, joint

    def marginals(self) -> tuple[Floats, Floats]:
        """Variances of all values, shape (size,), and covariances of predictors, (cells, predictors, predictors)."""
        pattern = self.pattern
        kinds = int(pattern.predictor.max(initial=-1)) + 1
        coefficients = pattern.coefficients[:, None, :] * (pattern.predictor == np.arange(kinds)[:, None])
        variances = np.empty(pattern.size)
        variances[pattern.common] = self._of_common.diagonal()
        out = np.empty((*coefficients.shape[:2], coefficients.shape[1]))
        order = np.argsort(pattern.of_cell, kind="stable")
        edges = np.searchsorted(pattern.of_cell[order], np.arange(-1, len(pattern.spans) + 1))
        at = np.zeros(pattern.size + 1, dtype=np.int64)
        at[pattern.common] = np.arange(len(pattern.common))
        here = order[: edges[1]]
        out[here] = _sums(self._of_common, at[pattern.index[here]], coefficients[here])
        for b, (span, joint) in enumerate(self.covariances()):
            variances[span.own] = joint.diagonal()[: len(span.own)]
            at[span.own] = np.arange(len(span.own))
            at[pattern.common[span.shared]] = len(span.own) + np.arange(len(span.shared))
            here = order[edges[b + 1] : edges[b + 2]]
            out[here] = _sums(joint, at[pattern.index[here]], coefficients[here])
        return variances, out


def _sums(covariance: Floats, at: Ints, coefficients: Floats) -> Floats:
    """Covariance of sums of cells; those of none have coefficient zero."""
    gathered = covariance[at[:, :, None], at[:, None, :]]
    return np.asarray(coefficients @ gathered @ coefficients.transpose(0, 2, 1))


def _inverse(lower: Floats) -> Floats:
    """Inverse of the matrix of a lower triangular factor."""
    from scipy.linalg.lapack import dpotri

    inverse = dpotri(lower, lower=1)[0]
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _cholesky(matrix: Floats) -> Floats | None:
    """Lower triangular factor; None of what is not positive definite."""
    if not matrix.size:
        return matrix
    from scipy.linalg.lapack import dpotrf

    lower, failed = dpotrf(matrix, lower=1, clean=1)
    return None if failed or not np.isfinite(lower[-1, -1]) else np.asarray(lower)


def _lower_solve(lower: Floats, right: Floats) -> Floats:
    return _solved(lower, right, 0)


def _upper_solve(lower: Floats, right: Floats) -> Floats:
    return _solved(lower, right, 1)


def _solved(lower: Floats, right: Floats, transposed: int) -> Floats:
    if not right.size:
        return np.asarray(right)
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(lower, right, trans=transposed, lower=True, check_finite=False))
