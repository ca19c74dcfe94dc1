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

import numpy as np

from voirdire.infer.nested.pattern import Pattern, Span
from voirdire.typing import Floats, Ints

TOGETHER = 2000  # rows of blocks whose products are taken at once


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
    """

    pattern: Pattern
    parts: list[tuple[Floats, Floats]]
    rest: Floats

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
        return self.draws(self.whitened(right))

    def draws(self, normal: Floats) -> Floats:
        """Vectors whose covariance is the matrix's inverse, of standard normal ones, shape (size, draws)."""
        out = np.empty_like(normal)
        common = self.pattern.common
        out[common] = rest = _upper_solve(self.rest, normal[common])
        for span, lower, beside in self._blocks():
            out[span.own] = _upper_solve(lower, normal[span.own] - beside @ rest[span.shared])
        return out

    def whitened(self, slopes: Floats) -> Floats:
        """Gradients by the standard normal vectors of :meth:`draws`, of those by what they make, (size, draws)."""
        out = np.array(slopes, dtype=float)
        common = self.pattern.common
        rest = out[common]
        for span, lower, beside in self._blocks():
            out[span.own] = part = _lower_solve(lower, out[span.own])
            rest[span.shared] -= beside.T @ part
        out[common] = _lower_solve(self.rest, rest)
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
        coefficients = pattern.coefficients[:, None, :] * (
            pattern.predictor == np.arange(pattern.kinds)[:, None]
        )
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


def factor_of(pattern: Pattern, diagonal: Floats, curvature: Floats) -> Factor:
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
    >>> from voirdire.infer.nested.pattern import COMMON
    >>> block, index = np.array([0, 1, COMMON]), np.array([[0, 2], [1, 2]])
    >>> pattern = Pattern(block, index, np.ones((2, 2)), np.array([0, 1]))
    >>> weights = np.array([[[1.0, 2.0], [2.0, 5.0]], [[3.0, 1.0], [1.0, 4.0]]])
    >>> factor = factor_of(pattern, np.ones(3), weights)
    >>> full = np.array([[2.0, 0.0, 2.0], [0.0, 4.0, 1.0], [2.0, 1.0, 10.0]])
    >>> bool(np.isclose(factor.log_determinant, np.linalg.slogdet(full)[1]))
    True
    >>> np.allclose(factor.solve(np.arange(3.0)), np.linalg.solve(full, np.arange(3.0)))
    True
    """
    end = pattern.spans[-1].stop if pattern.spans else 0
    common = len(pattern.common)
    total = np.zeros(end + common * common)
    for cells, target, flat in pattern.layout:
        total += np.bincount(target, pattern.products(cells, curvature).ravel()[flat], len(total))
    whole = total[end:].reshape(common, common)
    whole[np.arange(common), np.arange(common)] += diagonal[pattern.common]
    parts = []
    rows = np.zeros((min(sum(len(s.own) for s in pattern.spans), TOGETHER), common))
    filled = 0
    for span in pattern.spans:
        size = len(span.own)
        own = total[span.start : span.middle].reshape(size, size)
        own[np.arange(size), np.arange(size)] += diagonal[span.own]
        lower = _cholesky(own)
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
    return Factor(pattern, parts, _cholesky(whole))


def _sums(covariance: Floats, at: Ints, coefficients: Floats) -> Floats:
    """Covariance of sums of cells; those of none have coefficient zero."""
    gathered = covariance[at[:, :, None], at[:, None, :]]
    return np.asarray(coefficients @ gathered @ coefficients.transpose(0, 2, 1))


def _inverse(lower: Floats) -> Floats:
    """Inverse of the matrix of a lower triangular factor."""
    from scipy.linalg.lapack import dpotri

    inverse = dpotri(lower, lower=1)[0]
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _cholesky(matrix: Floats) -> Floats:
    """Lower triangular factor; of what is not positive definite an error."""
    if not matrix.size:
        return matrix
    from scipy.linalg.lapack import dpotrf

    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed or not np.isfinite(lower[-1, -1]):
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(lower)


def _lower_solve(lower: Floats, right: Floats) -> Floats:
    return _solved(lower, right, 0)


def _upper_solve(lower: Floats, right: Floats) -> Floats:
    return _solved(lower, right, 1)


def _solved(lower: Floats, right: Floats, transposed: int) -> Floats:
    if not right.size:
        return np.asarray(right)
    from scipy.linalg.lapack import dtrtrs

    return np.asarray(dtrtrs(lower, right, lower=1, trans=transposed)[0])
