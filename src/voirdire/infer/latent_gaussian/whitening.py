"""Products of the inverse factor of a matrix with many vectors, again and again.

Where chains go, a factor L L' is a change of coordinates: it need not be exact, but L'^-1 and L^-1 have to be
each other's transpose. So the matrix of few latent values is written out, and of more values those of what blocks share
with the common ones, sparse, in single precision (:mod:`.arrow`) and without what hardly turns anything: products with
them take a tenth of what one block after the other does, and less by the kernel (:mod:`voirdire.infer.kernel.mapped`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.arrow import Factor
from voirdire.typing import Floats, Ints

DENSE = 300  # latent values up to which L'^-1 is written out
LARGEST = 2e7  # numbers of the matrix of blocks by common values, at most
SMALL, OF_COMMON = (
    0.01,
    0.003,
)  # of a standard deviation that turns hardly anything, of blocks and of common values


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
    products : tuple of sparse array, shape (size, size) each
        Matrices in single precision that L'^-1 multiplies by, one after the other; none where they would be large.
    inverses : tuple of sparse array, shape (size, size) each
        Of these, in their order.
    """

    normal: Callable[[Floats], Floats]
    white: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    products: tuple[Any, ...] = ()
    inverses: tuple[Any, ...] = ()


def choose_whitening(factor: Factor) -> Whitening:
    """The quickest way to the products of a factor."""
    size, common = factor.pattern.size, len(factor.pattern.common)
    if size <= DENSE:
        inverse = _round_to_single(factor.to_draws(np.eye(size)))
        return _whiten_by_products((inverse,), (np.linalg.inv(inverse),))
    full = sum(beside.size for _, beside in factor.parts)
    numbers = common * sum(stack.own.size for stack in factor.pattern.plan.stacks)
    if full and numbers + common**2 <= LARGEST:
        return _whiten_in_single(factor)
    return Whitening(
        lambda z: factor.to_draws(np.ascontiguousarray(z.T)).T,
        lambda slopes: factor.whiten_gradients(np.ascontiguousarray(slopes.T)).T,
        lambda normal: factor.from_draws(np.ascontiguousarray(normal.T)).T,
    )


def _round_to_single(matrix: Floats) -> Floats:
    """As numbers in single precision have it."""
    return np.asarray(matrix.astype(np.float32), dtype=np.float64)


def _whiten_by_products(matrices: Sequence[Any], inverses: Sequence[Any]) -> Whitening:
    """Products with matrices one after the other, rounded, with their transposes in reverse, and with inverses so."""
    from scipy.sparse import csr_array

    rounded = tuple(csr_array(matrix, dtype=np.float32) for matrix in matrices)
    forward = [matrix.astype(np.float64) for matrix in rounded]
    backward = [matrix.T.tocsr() for matrix in reversed(forward)]
    undone = tuple(csr_array(matrix) for matrix in inverses)
    back = undone[::-1]

    def multiply_in_turn(rows: Floats, each: Sequence[Any]) -> Floats:
        columns = np.ascontiguousarray(rows.T)
        for matrix in each:
            columns = matrix @ columns
        return np.ascontiguousarray(columns.T)

    return Whitening(
        lambda z: multiply_in_turn(z, forward),
        lambda slopes: multiply_in_turn(slopes, backward),
        lambda normal: multiply_in_turn(normal, back),
        rounded,
        undone,
    )


def _whiten_in_single(factor: Factor) -> Whitening:
    """With blocks by common values and the factor of what is left of these as matrices, rounded.

    Numbers that hardly turn anything count as zero: with each other's transposes and inverses made of what is left, the
    coordinates are other ones, nearly as good.
    """
    from scipy.linalg import solve_triangular
    from scipy.sparse import block_diag, coo_array, csr_array, diags_array, eye_array

    pattern, stacks = factor.pattern, factor.pattern.plan.stacks
    common, alone = pattern.common, pattern.plan.alone
    own = np.concatenate([stack.own.ravel() for stack in stacks])
    whole = np.zeros((len(own), len(common)), dtype=np.float32)
    blocks: list[Any] = []
    of_back: list[Any] = []
    row = 0
    for stack, (inside, meetings) in zip(stacks, factor.parts, strict=True):
        for at, inverse, meeting in zip(stack.shared, inside, meetings, strict=True):
            whole[row : row + len(inverse), at] = meeting
            blocks.append(coo_array(_round_to_single(inverse.T)))
            of_back.append(coo_array(np.linalg.inv(_round_to_single(inverse.T))))
            row += len(inverse)
    inverse = solve_triangular(factor.rest, np.eye(len(common)), lower=True)
    rest = np.where(np.abs(inverse) > OF_COMMON * np.sqrt((inverse**2).sum(axis=0)), inverse, 0.0)
    np.fill_diagonal(rest, inverse.diagonal())
    rest = _round_to_single(rest)
    to_own = csr_array(np.where(np.abs(whole) > SMALL, whole, np.float32(0.0)))
    undone = solve_triangular(rest, np.eye(len(common)), lower=True).T

    def place_matrix(rows: Ints, columns: Ints, matrix: Any) -> Any:
        """A matrix among all values."""
        found = coo_array(matrix)
        at = rows[found.coords[0]], columns[found.coords[1]]
        return coo_array((found.data, at), shape=(pattern.size, pattern.size)).tocsr()

    def identity_block(values: Ints) -> Any:
        return place_matrix(values, values, eye_array(len(values)))

    unmoved, to_own = identity_block(np.arange(pattern.size)), place_matrix(own, common, to_own)
    beside = identity_block(np.concatenate([common, alone]))
    matrices = (
        place_matrix(common, common, rest.T)
        + place_matrix(alone, alone, diags_array(factor.alone))
        + identity_block(own),
        unmoved - to_own,
        place_matrix(own, own, block_diag(blocks)) + beside,
    )
    inverses = (
        place_matrix(common, common, undone)
        + place_matrix(alone, alone, diags_array(1.0 / factor.alone))
        + identity_block(own),
        unmoved + to_own,
        place_matrix(own, own, block_diag(of_back)) + beside,
    )
    return _whiten_by_products(matrices, inverses)
