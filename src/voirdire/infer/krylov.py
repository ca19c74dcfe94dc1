"""Draws of a normal distribution whose precision is given only by its products with vectors.

Lanczos's method finds in a few products an orthonormal basis V of the Krylov space of z, in which the matrix is
tridiagonal, T = V' A V. Then A^-1/2 z is nearly |z| V T^-1/2 e_1, and the error decreases geometrically, as for
conjugate gradients (Chow and Saad 2014, SIAM Journal on Scientific Computing 36, algorithm 2.1). If z is standard
normal, the result has the covariance A^-1. A preconditioner L L' near A is used by products with L^-1 A L^-T.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.typing import Floats

TOLERANCE = 1e-3  # relative change of the result at convergence: far below the error of some thousand draws
MAX_PRODUCTS = 300  # products, at most
CHECK_INTERVAL = 2  # products between two checks of convergence


class Whitened(NamedTuple):
    """Product of A^-1/2 with a vector, shape (n,), and the smallest eigenvalue of A in the Krylov space.

    If that is not positive, A is not a precision matrix, and the product is zero.
    """

    value: Floats
    smallest: float


def inverse_root(product: Callable[[Floats], Floats], z: Floats) -> Whitened:
    """Multiply a vector by the inverse square root of a symmetric positive definite matrix.

    Parameters
    ----------
    product : callable
        Function from a vector, shape (n,), to the matrix times it.
    z : array, shape (n,)

    Examples
    --------
    >>> diagonal = np.array([1.0, 4.0, 16.0])
    >>> inverse_root(lambda v: diagonal * v, np.array([2.0, 2.0, 4.0])).value.round(6).tolist()
    [2.0, 1.0, 1.0]
    """
    length = float(np.linalg.norm(z))
    if not length:
        return Whitened(np.zeros_like(z), np.inf)
    basis = [z / length]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    previous, steps = np.zeros(0), min(MAX_PRODUCTS, len(z))
    while True:
        residual = product(basis[-1])
        diagonal.append(float(basis[-1] @ residual))
        for _ in range(2):  # twice, to remove rounding errors
            basis_rows = np.asarray(basis)
            residual = residual - basis_rows.T @ (basis_rows @ residual)
        residual_norm = float(np.linalg.norm(residual))
        size = len(diagonal)
        is_last = size == steps or residual_norm <= 1e-12 * abs(diagonal[0])
        if is_last or size % CHECK_INTERVAL == 0:
            coefficients, smallest = _inverse_root_column(diagonal, off_diagonal)
            if smallest <= 0:
                return Whitened(np.zeros_like(z), smallest)
            change = np.linalg.norm(coefficients - np.pad(previous, (0, size - len(previous))))
            if is_last or (len(previous) and change <= TOLERANCE * np.linalg.norm(coefficients)):
                return Whitened(length * (np.asarray(basis).T @ coefficients), smallest)
            previous = coefficients
        off_diagonal.append(residual_norm)
        basis.append(residual / residual_norm)


def _inverse_root_column(diagonal: list[float], off_diagonal: list[float]) -> tuple[Floats, float]:
    """Compute the first column of the inverse square root of a tridiagonal matrix, and its smallest eigenvalue."""
    from scipy.linalg import eigh_tridiagonal

    values, vectors = eigh_tridiagonal(np.asarray(diagonal), np.asarray(off_diagonal))
    if values[0] <= 0:
        return np.zeros(len(diagonal)), float(values[0])
    return np.asarray(vectors @ (vectors[0] / np.sqrt(values))), float(values[0])
