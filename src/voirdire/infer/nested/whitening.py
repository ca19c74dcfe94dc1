"""Products of the inverse factor of a matrix with many vectors, again and again.

Where chains go, a factor L L' is a change of coordinates: it need not be exact, but L'^-1 and L^-1 have to be
each other's transpose. So the matrix of few latent values is written out, and of more values that of what blocks share
with the common ones, in single precision (:mod:`.arrow`) and without what hardly turns anything: a product with it
takes a tenth of what one block after the other does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.nested.arrow import Factor
from voirdire.typing import Floats

DENSE = 300  # latent values up to which L'^-1 is written out
LARGEST = 2e7  # numbers of the matrix of blocks by common values, at most
FULL = 0.1  # of them that are not zero, at least
SMALL, OF_COMMON = (
    0.01,
    0.003,
)  # of a standard deviation that turns hardly anything, of blocks and of common values
MOSTLY = 0.2  # of a matrix that is not zero, below which it is quicker without its zeros


class Whitening(NamedTuple):
    """Changes of coordinates, of vectors of shape (points, size).

    Attributes
    ----------
    normal : callable
        L'^-1 z of points.
    white : callable
        L^-1 times gradients.
    back : callable
        L' times what ``normal`` makes.
    inverse : array, shape (size, size), or None
        L'^-1 where it is written out.
    """

    normal: Callable[[Floats], Floats]
    white: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    inverse: Floats | None = None


def whitening_of(factor: Factor) -> Whitening:
    """The quickest way to the products of a factor."""
    size, common = factor.pattern.size, len(factor.pattern.common)
    if size <= DENSE:
        inverse = factor.to_draws(np.eye(size))
        lower = np.linalg.inv(inverse)
        return Whitening(
            lambda z: np.asarray(z @ inverse.T),
            lambda slopes: np.asarray(slopes @ inverse),
            lambda normal: np.asarray(normal @ lower.T),
            inverse,
        )
    full = sum(beside.size for _, beside in factor.parts)
    numbers = common * sum(stack.own.size for stack in factor.pattern.plan.stacks)
    if full and FULL * numbers <= full and numbers + common**2 <= LARGEST:
        return _in_single(factor)
    return Whitening(
        lambda z: factor.to_draws(np.ascontiguousarray(z.T)).T,
        lambda slopes: factor.whiten_gradients(np.ascontiguousarray(slopes.T)).T,
        lambda normal: factor.from_draws(np.ascontiguousarray(normal.T)).T,
    )


def _in_single(factor: Factor) -> Whitening:
    """With blocks by common values and the factor of what is left of these as matrices, rounded.

    Numbers that hardly turn anything count as zero: with each other's transposes and inverses made of what is left, the
    coordinates are other ones, nearly as good.
    """
    from scipy.linalg import solve_triangular
    from scipy.sparse import block_diag, coo_array

    pattern, stacks = factor.pattern, factor.pattern.plan.stacks
    common, alone = pattern.common, pattern.plan.alone
    own = np.concatenate([stack.own.ravel() for stack in stacks])
    whole = np.zeros((len(own), len(common)), dtype=np.float32)
    blocks: list[Any] = []
    of_back: list[Any] = []
    row = 0
    for stack, (inverses, meetings) in zip(stacks, factor.parts, strict=True):
        for at, inverse, meeting in zip(stack.shared, inverses, meetings, strict=True):
            whole[row : row + len(inverse), at] = meeting
            blocks.append(coo_array(inverse))
            of_back.append(coo_array(np.linalg.inv(inverse).T))
            row += len(inverse)
    within = block_diag(blocks, format="csr").astype(np.float32)
    within.eliminate_zeros()
    inverse = solve_triangular(factor.rest, np.eye(len(common)), lower=True)
    rest = np.where(np.abs(inverse) > OF_COMMON * np.sqrt((inverse**2).sum(axis=0)), inverse, 0.0)
    np.fill_diagonal(rest, inverse.diagonal())
    beside = np.where(np.abs(whole) > SMALL, whole, np.float32(0.0))
    to_common, from_common, to_own = (_stored(each) for each in (rest.T, rest, beside))
    across, from_own = within.T.tocsr(), _stored(beside.T)
    apart = block_diag(of_back, format="csr")
    undone = solve_triangular(rest, np.eye(len(common)), lower=True).T

    def to_normal(z: Floats) -> Floats:
        out, white = np.empty_like(z), np.ascontiguousarray(z.T, dtype=np.float32)
        shared = to_common @ white[common]
        out[:, common], out[:, alone] = shared.T, factor.alone * z[:, alone]
        out[:, own] = (across @ (white[own] - to_own @ shared)).T
        return out

    def to_white(slopes: Floats) -> Floats:
        out, single = np.empty_like(slopes), np.ascontiguousarray(slopes.T, dtype=np.float32)
        part = within @ single[own]
        out[:, own], out[:, alone] = part.T, factor.alone * slopes[:, alone]
        out[:, common] = (from_common @ (single[common] - from_own @ part)).T
        return out

    def back(normal: Floats) -> Floats:
        z, shared = np.empty_like(normal), normal[:, common].T
        z[:, common], z[:, alone] = (undone @ shared).T, normal[:, alone] / factor.alone
        z[:, own] = (apart @ normal[:, own].T + to_own @ shared).T
        return z

    return Whitening(to_normal, to_white, back)


def _stored(matrix: Any) -> Any:
    """A matrix in single precision, without its zeros where they are most of it."""
    from scipy.sparse import csr_array

    single = np.ascontiguousarray(matrix, dtype=np.float32)
    return csr_array(single) if np.count_nonzero(single) < MOSTLY * single.size else single
