"""Draws of the normal approximation at a mode of models of labels, for tables too large for a dense Hessian.

In white coordinates the block of each judge is the identity (:meth:`.Curvature.judge_blocks`). There the Hessian W is
near the identity except in few directions, which move the whole panel: its matrix, its shares, all judges alike. On
these directions and their images under W (a block Krylov space with the basis Q) it is a dense matrix, T = Q' W Q, and
made the identity, too:

    S W S = I + E,    S = I + Q (T^-1/2 - I) Q',

so that S (I + E)^-1/2 z has the covariance W^-1 for standard normal z, with (I + E)^-1/2 = I - E / 2 + 3 E^2 / 8 - ...
E is small, as the common items of two judges couple them weakly. Products with a few random directions estimate its
size: variances change by the square of the relative length |E v| / |v|. Up to ``MAX_REMAINDER`` the first term of the
series suffices. Otherwise terms are added until the rest is below ``MAX_SERIES_REST``, for many draws together; if they
are too many, Lanczos's method makes draws one by one (:mod:`voirdire.infer.matrix_free`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voirdire.infer.matrix_free import inverse_root
from voirdire.kinds.labels.curvature import Curvature
from voirdire.kinds.labels.expected import ExpectedLabels
from voirdire.typing import Floats

MAX_DRAW_NUMBERS = 1e7  # largest number of values in all draws
MIN_DRAWS = 250  # smallest number of draws: the error of a standard deviation is 4.5%
MAX_DENSE_PARAMETERS = 1000  # largest number of parameters for a dense Hessian
KRYLOV_POWERS = 2  # powers of W in the Krylov space
MAX_DIRECTIONS = 64  # largest number of directions that span the first block
PROBE_DIRECTIONS = 4  # random directions that estimate E
MAX_REMAINDER = 0.1  # relative length |E v| / |v|: the error of standard deviations is about half a percent
MAX_SERIES_REST, MAX_TERMS = (0.02, 8)  # largest rest of the series of the root, and largest number of its terms
MAX_WORK = 2e10  # labels times classes times draws times terms, above which there are fewer draws, at least MIN_DRAWS
BATCH_SIZE = 8e6  # largest number of rates of draws in memory


def laplace_draws(expected: ExpectedLabels, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
    """Up to ``count`` draws, shape (count, size), and True if the mode is a proper maximum.

    Parameters
    ----------
    expected : ExpectedLabels
        Expected counts of a table with compressed labels.
    x : array, shape (size,)
        The mode.
    """
    count = int(np.clip(MAX_DRAW_NUMBERS / len(x), min(MIN_DRAWS, count), count))
    curvature, counts = Curvature(expected, x), expected.counts.matrix
    if len(x) <= MAX_DENSE_PARAMETERS:
        return _dense_draws(curvature.multiply(np.eye(len(x))), x, count, rng)
    white = _WhiteCoordinates(curvature, expected, len(x))
    basis, values, vectors = _krylov_eigenpairs(white.multiply, white.panel_directions(rng))
    if values.min(initial=1.0) <= 0.0:
        return np.tile(x, (count, 1)), False
    root_change = vectors * (1.0 / np.sqrt(values) - 1.0) @ vectors.T

    def apply_subspace(z: Floats) -> Floats:
        """Multiply vectors by S."""
        return np.asarray(z + (z @ basis.T) @ root_change @ basis)

    def apply_remainder(z: Floats) -> Floats:
        """Multiply vectors by E."""
        return np.asarray(apply_subspace(white.multiply(apply_subspace(z))) - z)

    terms = _count_series_terms(apply_remainder, rng.standard_normal((PROBE_DIRECTIONS, len(x))))
    if terms is None:
        return _lanczos_draws(
            lambda z: apply_subspace(white.multiply(apply_subspace(z))),
            lambda z: x + white.from_white(apply_subspace(z)),
            (count, len(x)),
            rng,
        )
    work = counts.nnz * expected.density.classes * max(terms, 1)
    count = int(np.clip(MAX_WORK / work, min(MIN_DRAWS, count), count)) if terms else count
    z = rng.standard_normal((count, len(x)))
    batch_size = max(1, int(BATCH_SIZE / (expected.density.classes * counts.shape[1])))
    for start in range(0, count if terms else 0, batch_size):
        batch = slice(start, start + batch_size)
        term = z[batch].copy()
        for number in range(terms):
            term = -(number + 0.5) / (number + 1.0) * apply_remainder(term)
            z[batch] += term
    return x + white.from_white(apply_subspace(z)), True


def _lanczos_draws(
    white_product: Callable[[Floats], Floats],
    to_parameters: Callable[[Floats], Floats],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Floats, bool]:
    """Draw one by one by Lanczos's method; True if the mode is a proper maximum."""
    out, smallest = np.empty(shape), np.inf
    for row in out:
        draw, curvature = inverse_root(lambda z: white_product(z[None])[0], rng.standard_normal(shape[1]))
        row[:], smallest = draw, min(smallest, curvature)
    return to_parameters(out), smallest > 0


def _count_series_terms(apply_remainder: Callable[[Floats], Floats], probes: Floats) -> int | None:
    """Number of terms of the series needed after the first, from random directions; None if there are too many."""
    first_image = apply_remainder(probes)
    share = np.linalg.norm(first_image) / np.linalg.norm(probes)
    if share <= MAX_REMAINDER:
        return 0
    ratio = float(np.linalg.norm(apply_remainder(first_image)) / np.linalg.norm(first_image))
    if ratio >= 1.0:
        return None
    terms = max(2, int(np.ceil(np.log(MAX_SERIES_REST / share) / np.log(ratio))))
    return terms if terms <= MAX_TERMS else None


def _dense_draws(matrix: Floats, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    z = rng.standard_normal((count, len(x)))
    floor = 1e-8 * max(float(values.max()), 1.0)
    return x + (z / np.sqrt(np.maximum(values, floor))) @ vectors.T, bool(values.min() > 0)


class _WhiteCoordinates:
    """Coordinates in which the Hessian block of each judge is the identity, and that of other parameters nearly so."""

    def __init__(self, curvature: Curvature, expected: ExpectedLabels, size: int) -> None:
        self._curvature, self._own = curvature, expected.density.parameter_slices["confusion_judge"]
        blocks = curvature.judge_blocks()
        smallest = np.linalg.eigvalsh(blocks)[:, 0]
        lift = np.where(smallest > 0.0, 0.0, 1.0 - smallest)  # for judges who label items twice
        blocks += lift[:, None, None] * np.eye(blocks.shape[1])
        self._factor = np.linalg.cholesky(blocks)  # (judges, n, n)
        self._inverse = np.linalg.inv(self._factor)
        self._rest = np.setdiff1d(np.arange(size), np.arange(self._own.start, self._own.stop))
        rows, shares = expected.complete_information(curvature.found)
        diagonal, slices = expected.precision.copy(), expected.density.parameter_slices
        diagonal[slices["class_share"]] += np.diagonal(shares, axis1=-2, axis2=-1).ravel()
        if "confusion" in slices:
            diagonal[slices["confusion"]] += np.diagonal(rows.sum(axis=0), axis1=-2, axis2=-1).ravel()
        self._scale = 1.0 / np.sqrt(diagonal[self._rest])

    def _multiply_own(self, matrices: Floats, vectors: Floats) -> Floats:
        """Multiply the values of each judge in vectors, shape (n, size), by the judge's matrix."""
        judge_values = vectors[:, self._own].reshape(len(vectors), len(matrices), -1)
        product = np.einsum("kab,nkb->nka", matrices, judge_values, optimize=True)
        return np.asarray(product.reshape(len(vectors), -1))

    def from_white(self, white: Floats) -> Floats:
        """Transform white vectors, shape (n, size), to the coordinates of the density."""
        out = np.empty_like(white)
        out[:, self._own] = self._multiply_own(self._inverse.swapaxes(1, 2), white)
        out[:, self._rest] = white[:, self._rest] * self._scale
        return out

    def multiply(self, white: Floats) -> Floats:
        """Multiply white vectors, shape (n, size), by W."""
        product = self._curvature.multiply(self.from_white(white))
        product[:, self._own] = self._multiply_own(self._inverse, product)
        product[:, self._rest] *= self._scale
        return product

    def panel_directions(self, rng: np.random.Generator) -> Floats:
        """Directions that move the whole panel, shape (directions, size)."""
        judges, size = self._factor.shape[:2]
        panel = np.zeros((size, len(self._rest) + judges * size))
        panel[:, self._own] = np.einsum("kab->bka", self._factor.swapaxes(1, 2)).reshape(size, -1)
        other_directions = np.zeros((len(self._rest), panel.shape[1]))
        other_directions[np.arange(len(other_directions)), self._rest] = 1.0
        directions = np.concatenate([panel, other_directions])
        return (
            directions
            if len(directions) <= MAX_DIRECTIONS
            else rng.standard_normal((MAX_DIRECTIONS, len(directions))) @ directions
        )


def _krylov_eigenpairs(times: Callable[[Floats], Floats], start: Floats) -> tuple[Floats, Floats, Floats]:
    """A basis of a block Krylov space, shape (n, size), and the eigenvalues and eigenvectors of the matrix on it."""
    basis = np.linalg.qr(start.T)[0].T
    images = times(basis)
    block = images
    for _ in range(KRYLOV_POWERS - 1):
        for _ in range(2):  # twice, against rounding errors
            block = block - (block @ basis.T) @ basis
        new_basis, size, _ = np.linalg.svd(block.T, full_matrices=False)
        block = new_basis[:, size > 1e-3].T
        if not len(block):
            break
        basis = np.concatenate([basis, block])
        block = times(block)
        images = np.concatenate([images, block])
    matrix = basis @ images.T
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return basis, values, vectors
