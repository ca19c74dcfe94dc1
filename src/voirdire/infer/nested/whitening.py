"""Products of the inverse factor of a matrix with many vectors, again and again.

Where chains go, a factor L L' is a change of coordinates: it need not be exact, but L'^-1 and L^-1 have to be
each other's transpose. So the matrix of few latent values is written out, and of more values that of what blocks share
with the common ones, in single precision (:mod:`.arrow`): a product with it takes a quarter of what one block after the
other does.
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
    """With blocks by common values and the factor of what is left of these as matrices, rounded."""
    from scipy.linalg import solve_triangular
    from scipy.sparse import block_diag, coo_array

    pattern, stacks = factor.pattern, factor.pattern.plan.stacks
    common, alone = pattern.common, pattern.plan.alone
    own = np.concatenate([stack.own.ravel() for stack in stacks])
    beside = np.zeros((len(own), len(common)), dtype=np.float32)
    blocks: list[Any] = []
    row = 0
    for stack, (inverses, meetings) in zip(stacks, factor.parts, strict=True):
        for at, inverse, meeting in zip(stack.shared, inverses, meetings, strict=True):
            beside[row : row + len(inverse), at] = meeting
            blocks.append(coo_array(inverse))
            row += len(inverse)
    within = block_diag(blocks, format="csr").astype(np.float32)
    within.eliminate_zeros()
    across = within.T.tocsr()
    rest = solve_triangular(factor.rest, np.eye(len(common)), lower=True).astype(np.float32)

    def to_normal(z: Floats) -> Floats:
        out, white = np.empty_like(z), z.astype(np.float32)
        shared = white[:, common] @ rest
        out[:, common], out[:, alone] = shared, factor.alone * z[:, alone]
        out[:, own] = (across @ (white[:, own] - shared @ beside.T).T).T
        return out

    def to_white(slopes: Floats) -> Floats:
        out, single = np.empty_like(slopes), slopes.astype(np.float32)
        part = (within @ single[:, own].T).T
        out[:, own], out[:, alone] = part, factor.alone * slopes[:, alone]
        out[:, common] = (single[:, common] - part @ beside) @ rest.T
        return out

    return Whitening(to_normal, to_white, lambda x: factor.from_draws(np.ascontiguousarray(x.T)).T)
