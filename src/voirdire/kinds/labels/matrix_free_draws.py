"""Draws of the normal approximation at a mode of models of labels, of tables whose Hessian is never written out.

In white coordinates, in which the block of each judge is the identity (:meth:`.Curvature.judge_blocks`), the Hessian W
is near the identity but in few directions, in which the whole panel moves: its matrix, its shares, all judges alike. Of
these and of what W makes of them (a block Krylov space with the basis Q) it is written out, T = Q' W Q, and made the
identity, too:

    S W S = I + E,    S = I + Q (T^-1/2 - I) Q',

so that S (I + E)^-1/2 z has the covariance W^-1 where z is standard normal, (I + E)^-1/2 = I - E / 2 + 3 E^2 / 8 - ...
What two judges have in common through the items that both labelled is little, and E is small. How small is told by
products with a few random directions: variances change by the square of the share of a direction's length that E turns
it by. Up to ``TURNED`` the first term does. Beyond, as many are taken as leave ``REST`` out, of many draws together;
where that were too many, draws are found one by one by Lanczos's method (:mod:`voirdire.infer.krylov`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voirdire.infer.krylov import inverse_root
from voirdire.kinds.labels.curvature import Curvature
from voirdire.kinds.labels.expected import Expected
from voirdire.kinds.labels.layout import SparseCounts
from voirdire.typing import Floats

NUMBERS = 1e7  # that draws may hold,
FEWEST = 250  # of them beyond which there are no fewer: a standard deviation is off by 4.5%
SMALL = 1000  # parameters up to which the Hessian is written out
STEPS = 2  # powers of W in the Krylov space
MOST = 64  # directions that it begins with
PROBES = 4  # random directions
TURNED = 0.1  # of the length of a direction: standard deviations are then off by about half a percent
REST, MOST_TERMS = 0.02, 8  # of the series of a root that is left out, and terms that are taken at most
WORK = 2e10  # labels times classes times draws times terms, beyond which there are no more draws than FEWEST
HELD = 8e6  # numbers of the rates of draws that are changed together


def laplace_draws(expected: Expected, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
    """Up to ``count`` draws, shape (count, size), and whether the mode is a proper maximum.

    Parameters
    ----------
    expected : Expected
        Of a table whose labels are compressed.
    x : array, shape (size,)
        The mode.
    """
    count = int(np.clip(NUMBERS / len(x), min(FEWEST, count), count))
    curvature, counts = Curvature(expected, x), expected.counts
    assert isinstance(counts, SparseCounts)
    if len(x) <= SMALL:
        return _dense_draws(curvature.times(np.eye(len(x))), x, count, rng)
    white = _White(curvature, expected, len(x))
    basis, values, vectors = _krylov_subspace(white.times, white.panel_directions(rng))
    if values.min(initial=1.0) <= 0.0:
        return np.tile(x, (count, 1)), False
    turn = vectors * (1.0 / np.sqrt(values) - 1.0) @ vectors.T

    def apply_subspace(z: Floats) -> Floats:
        """S of vectors."""
        return np.asarray(z + (z @ basis.T) @ turn @ basis)

    def apply_remainder(z: Floats) -> Floats:
        """E of vectors."""
        return np.asarray(apply_subspace(white.times(apply_subspace(z))) - z)

    terms = _count_series_terms(apply_remainder, rng.standard_normal((PROBES, len(x))))
    if terms is None:
        return _lanczos_draws(
            lambda z: apply_subspace(white.times(apply_subspace(z))),
            lambda z: x + white.from_white(apply_subspace(z)),
            (count, len(x)),
            rng,
        )
    work = counts.labels * expected.density.classes * max(terms, 1)
    count = int(np.clip(WORK / work, min(FEWEST, count), count)) if terms else count
    z = rng.standard_normal((count, len(x)))
    together = max(1, int(HELD / (expected.density.classes * counts.columns)))
    for start in range(0, count if terms else 0, together):
        here = slice(start, start + together)
        term = z[here].copy()
        for number in range(terms):
            term = -(number + 0.5) / (number + 1.0) * apply_remainder(term)
            z[here] += term
    return x + white.from_white(apply_subspace(z)), True


def _lanczos_draws(
    times: Callable[[Floats], Floats],
    placed: Callable[[Floats], Floats],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Floats, bool]:
    """Draws by Lanczos's method."""
    out, smallest = np.empty(shape), np.inf
    for row in out:
        found, curved = inverse_root(lambda z: times(z[None])[0], rng.standard_normal(shape[1]))
        row[:], smallest = found, min(smallest, curved)
    return placed(out), smallest > 0


def _count_series_terms(beyond: Callable[[Floats], Floats], probes: Floats) -> int | None:
    """Terms of the series beyond the first that are needed, by random directions; None where it takes too many."""
    once = beyond(probes)
    share = np.linalg.norm(once) / np.linalg.norm(probes)
    if share <= TURNED:
        return 0
    ratio = float(np.linalg.norm(beyond(once)) / np.linalg.norm(once))
    if ratio >= 1.0:
        return None
    terms = max(2, int(np.ceil(np.log(REST / share) / np.log(ratio))))
    return terms if terms <= MOST_TERMS else None


def _dense_draws(matrix: Floats, x: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, bool]:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    z = rng.standard_normal((count, len(x)))
    floor = 1e-8 * max(float(values.max()), 1.0)
    return x + (z / np.sqrt(np.maximum(values, floor))) @ vectors.T, bool(values.min() > 0)


class _White:
    """Coordinates in which the block of each judge is the identity, and about so that of all other parameters."""

    def __init__(self, curvature: Curvature, expected: Expected, size: int) -> None:
        self._curvature, self._density = curvature, expected.density
        self._own = expected.density.parameter_slices["confusion_judge"]
        blocks = curvature.judge_blocks()
        smallest = np.linalg.eigvalsh(blocks)[:, 0]
        lift = np.where(smallest > 0.0, 0.0, 1.0 - smallest)  # of judges who label items twice
        blocks += lift[:, None, None] * np.eye(blocks.shape[1])
        self._factor = np.linalg.cholesky(blocks)  # (judges, n, n)
        self._inverse = np.linalg.inv(self._factor)
        rest = np.setdiff1d(np.arange(size), np.arange(self._own.start, self._own.stop))
        self._rest, self._scale = rest, np.ones(0)
        if len(rest):
            rows, shares = expected.complete(curvature.found)
            diagonal = expected.precision.copy()
            slices = expected.density.parameter_slices
            diagonal[slices["class_share"]] += np.diagonal(shares, axis1=-2, axis2=-1).ravel()
            if "confusion" in slices:
                diagonal[slices["confusion"]] += np.diagonal(rows.sum(axis=0), axis1=-2, axis2=-1).ravel()
            self._scale = 1.0 / np.sqrt(diagonal[rest])

    def from_white(self, white: Floats) -> Floats:
        """Vectors, shape (n, size), in the coordinates of the density."""
        out = np.empty_like(white)
        own = white[:, self._own].reshape(len(white), len(self._factor), -1)
        out[:, self._own] = np.einsum("kba,nkb->nka", self._inverse, own, optimize=True).reshape(
            len(white), -1
        )
        out[:, self._rest] = white[:, self._rest] * self._scale
        return out

    def times(self, white: Floats) -> Floats:
        """Products with W."""
        found = self._curvature.times(self.from_white(white))
        own = found[:, self._own].reshape(len(white), len(self._factor), -1)
        found[:, self._own] = np.einsum("kab,nkb->nka", self._inverse, own, optimize=True).reshape(
            len(white), -1
        )
        found[:, self._rest] *= self._scale
        return found

    def panel_directions(self, rng: np.random.Generator) -> Floats:
        """Directions in which the whole panel moves, shape (directions, size)."""
        judges, size = self._factor.shape[:2]
        panel = np.zeros((size, len(self._rest) + judges * size))
        panel[:, self._own] = np.einsum("kab->bka", self._factor.swapaxes(1, 2)).reshape(size, -1)
        rest = np.zeros((len(self._rest), panel.shape[1]))
        rest[np.arange(len(rest)), self._rest] = 1.0
        found = np.concatenate([panel, rest])
        return found if len(found) <= MOST else rng.standard_normal((MOST, len(found))) @ found


def _krylov_subspace(times: Callable[[Floats], Floats], start: Floats) -> tuple[Floats, Floats, Floats]:
    """A basis of a block Krylov space, shape (n, size), and the eigenvalues and vectors of the matrix in it."""
    basis = np.linalg.qr(start.T)[0].T
    turned = times(basis)
    block = turned
    for _ in range(STEPS - 1):
        for _ in range(2):  # once more against what rounding leaves
            block = block - (block @ basis.T) @ basis
        more, size, _ = np.linalg.svd(block.T, full_matrices=False)
        block = more[:, size > 1e-3].T
        if not len(block):
            break
        basis = np.concatenate([basis, block])
        block = times(block)
        turned = np.concatenate([turned, block])
    matrix = basis @ turned.T
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return basis, values, vectors
