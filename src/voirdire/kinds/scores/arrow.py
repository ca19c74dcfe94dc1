"""Factored arrow-shaped Hessians: few parameters g, and many items that are independent given g.

    [ H   B ]        D diagonal
    [ B'  D ]        Schur complement of g: H - B P B', P = D^-1 - D^-1 1 1' D^-1 / (1' D^-1 1) under every criterion

P is the inverse of D restricted to values of zero sum. A factor costs the square of the number of parameters g times
the number of items, instead of the cube of both together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class ZeroSumInverse:
    """The inverse of a diagonal matrix restricted to values that sum to zero over the items of each criterion.

    Attributes
    ----------
    inverse : array, shape (criteria, items)
        Reciprocals of the diagonal.

    Examples
    --------
    >>> ZeroSumInverse(np.array([[1.0, 1.0, 2.0]])).divide(np.array([[1.0, 0.0, 0.0]])).tolist()
    [[0.75, -0.25, -0.5]]
    """

    inverse: Floats

    @cached_property
    def share(self) -> Floats:
        """Share of each item in the sum over its criterion."""
        return np.asarray(self.inverse / self.inverse.sum(axis=-1, keepdims=True))

    def divide(self, psi: Floats) -> Floats:
        """Multiply values, shape (..., criteria, items), by the inverse."""
        scaled = self.inverse * psi
        return np.asarray(scaled - self.share * scaled.sum(axis=-1, keepdims=True))

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw normal values with the inverse as covariance, shape (count, criteria, items)."""
        noise = np.sqrt(self.inverse) * rng.standard_normal((count, *self.inverse.shape))
        return np.asarray(noise - self.share * noise.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ArrowFactor:
    """Factored Hessian of minus the log density at a point; see :func:`factor_arrow`.

    Attributes
    ----------
    items : ZeroSumInverse
        The inverse of D.
    across : array, shape (g, criteria, items)
        B.
    root : array, shape (g, g)
        Lower triangular factor of the Schur complement of g.
    shifted : bool
        True if its eigenvalues were changed to make it positive definite.
    """

    items: ZeroSumInverse
    across: Floats
    root: Floats
    shifted: bool

    def divide(self, g: Floats, psi: Floats) -> tuple[Floats, Floats]:
        """Multiply a vector by the inverse; the values of items sum to zero."""
        from scipy.linalg import cho_solve

        among = self.items.divide(psi)
        g_solution = cho_solve((self.root, True), g - np.einsum("gci,ci->g", self.across, among))
        return g_solution, self.items.divide(psi - np.einsum("gci,g->ci", self.across, g_solution))

    def draws(self, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw normal vectors with the inverse as covariance, shapes (count, g) and (count, criteria, items)."""
        from scipy.linalg import solve_triangular

        white = rng.standard_normal((len(self.root), count))
        g_draws = solve_triangular(self.root, white, trans=1, lower=True).T
        noise = self.items.draws(count, rng)
        shift = (g_draws @ self.across.reshape(len(self.root), -1)).reshape(noise.shape)
        return g_draws, noise - self.items.divide(shift)


def factor_arrow(matrix: Floats, across: Floats, diagonal: Floats) -> ArrowFactor:
    """Factor an arrow-shaped Hessian.

    Parameters
    ----------
    matrix : array, shape (g, g)
        H.
    across : array, shape (g, criteria, items)
        B.
    diagonal : array, shape (criteria, items)
        The diagonal of D.
    """
    items = ZeroSumInverse(1.0 / diagonal)
    scaled = across * items.inverse
    reduced = matrix - scaled.reshape(len(matrix), -1) @ across.reshape(len(matrix), -1).T
    sums = scaled.sum(axis=-1)
    reduced += np.einsum("gc,fc->gf", sums / items.inverse.sum(axis=-1), sums)
    root, shifted = _cholesky_root(0.5 * (reduced + reduced.T))
    return ArrowFactor(items, across, root, shifted)


def _cholesky_root(matrix: Floats) -> tuple[Floats, bool]:
    """Lower triangular factor, and True if eigenvalues were made positive because the matrix was not definite."""
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=float), False
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
        return np.asarray(np.linalg.cholesky((vectors * values) @ vectors.T), dtype=float), True
