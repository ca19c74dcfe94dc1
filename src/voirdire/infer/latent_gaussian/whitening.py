"""Repeated products of the inverse factor of a matrix with many vectors.

In chains a factor L L' is only a change of coordinates. It need not be exact, but L'^-1 and L^-1 must be each other's
transpose. So the matrix of few latent values is stored densely. For more values, the matrices between blocks and common
values are stored sparsely, in single precision (:mod:`.arrow`) and without negligible entries. Products with them
take a tenth of the time of one block after the other, and less by the kernel (:mod:`voirdire.infer.kernel.mapped`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.arrow import Factor
from voirdire.typing import Floats, Ints

MAX_DENSE_VALUES = 300  # latent values up to which L'^-1 is a dense matrix
MAX_MATRIX_NUMBERS = 2e7  # numbers of the matrix of blocks by common values, at most
# negligible entries, in standard deviations, of blocks and of common values
MIN_BLOCK_ENTRY, MIN_COMMON_ENTRY = 0.01, 0.003


class Whitening(NamedTuple):
    """Changes of coordinates, for vectors of shape (points, size).

    Attributes
    ----------
    normal : callable
        Function from points z to L'^-1 z.
    white : callable
        Function that multiplies gradients by L^-1.
    back : callable
        Function that multiplies normal vectors by L', the inverse of ``normal``.
    products : tuple of sparse array, shape (size, size) each
        Factors of L'^-1 in single precision, in the order of their application; empty if they would be large.
    inverses : tuple of sparse array, shape (size, size) each
        Inverses of ``products``, in the same order.
    """

    normal: Callable[[Floats], Floats]
    white: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    products: tuple[Any, ...] = ()
    inverses: tuple[Any, ...] = ()


def choose_whitening(factor: Factor) -> Whitening:
    """Choose the fastest way to compute the products of a factor."""
    size, common = factor.pattern.size, len(factor.pattern.common)
    if size <= MAX_DENSE_VALUES:
        inverse = _round_to_single(factor.to_draws(np.eye(size)))
        return _whiten_by_products((inverse,), (np.linalg.inv(inverse),))
    full = sum(border.size for _, border in factor.parts)
    numbers = common * sum(stack.own_values.size for stack in factor.pattern.plan.stacks)
    if full and numbers + common**2 <= MAX_MATRIX_NUMBERS:
        return _whiten_in_single(factor)
    return Whitening(
        lambda z: factor.to_draws(np.ascontiguousarray(z.T)).T,
        lambda slopes: factor.whiten_gradients(np.ascontiguousarray(slopes.T)).T,
        lambda normal: factor.from_draws(np.ascontiguousarray(normal.T)).T,
    )


def _round_to_single(matrix: Floats) -> Floats:
    """Round to single precision."""
    return np.asarray(matrix.astype(np.float32), dtype=np.float64)


def _whiten_by_products(matrices: Sequence[Any], inverses: Sequence[Any]) -> Whitening:
    """Whiten by rounded matrices in turn, by their transposes in reverse, and by their inverses in reverse."""
    from scipy.sparse import csr_array

    rounded = tuple(csr_array(matrix, dtype=np.float32) for matrix in matrices)
    forward = [matrix.astype(np.float64) for matrix in rounded]
    backward = [matrix.T.tocsr() for matrix in reversed(forward)]
    inverted = tuple(csr_array(matrix) for matrix in inverses)
    backward_inverse = inverted[::-1]

    def multiply_in_turn(rows: Floats, each: Sequence[Any]) -> Floats:
        columns = np.ascontiguousarray(rows.T)
        for matrix in each:
            columns = matrix @ columns
        return np.ascontiguousarray(columns.T)

    return Whitening(
        lambda z: multiply_in_turn(z, forward),
        lambda slopes: multiply_in_turn(slopes, backward),
        lambda normal: multiply_in_turn(normal, backward_inverse),
        rounded,
        inverted,
    )


def _whiten_in_single(factor: Factor) -> Whitening:
    """Whiten by rounded sparse matrices: blocks by common values, and the factor of the common values.

    Negligible entries are set to zero. Transposes and inverses are those of the rounded matrices, so the coordinates
    differ from the exact ones, but are nearly as good.
    """
    from scipy.linalg import solve_triangular
    from scipy.sparse import block_diag, coo_array, csr_array, diags_array, eye_array

    pattern, stacks = factor.pattern, factor.pattern.plan.stacks
    common, alone = pattern.common, pattern.members.unobserved
    own_values = np.concatenate([stack.own_values.ravel() for stack in stacks])
    dense_border = np.zeros((len(own_values), len(common)), dtype=np.float32)
    blocks: list[Any] = []
    inverse_blocks: list[Any] = []
    row = 0
    for stack, (block_inverses, borders) in zip(stacks, factor.parts, strict=True):
        for positions, inverse, border in zip(stack.shared, block_inverses, borders, strict=True):
            dense_border[row : row + len(inverse), positions] = border
            blocks.append(coo_array(_round_to_single(inverse.T)))
            inverse_blocks.append(coo_array(np.linalg.inv(_round_to_single(inverse.T))))
            row += len(inverse)
    inverse = solve_triangular(factor.common_root, np.eye(len(common)), lower=True)
    common_root = np.where(np.abs(inverse) > MIN_COMMON_ENTRY * np.sqrt((inverse**2).sum(axis=0)), inverse, 0.0)
    np.fill_diagonal(common_root, inverse.diagonal())
    common_root = _round_to_single(common_root)
    to_own = csr_array(np.where(np.abs(dense_border) > MIN_BLOCK_ENTRY, dense_border, np.float32(0.0)))
    common_inverse = solve_triangular(common_root, np.eye(len(common)), lower=True).T

    def place_matrix(rows: Ints, columns: Ints, matrix: Any) -> Any:
        """Place a matrix at rows and columns of the matrix of all values."""
        entries = coo_array(matrix)
        positions = rows[entries.coords[0]], columns[entries.coords[1]]
        return coo_array((entries.data, positions), shape=(pattern.size, pattern.size)).tocsr()

    def identity_block(values: Ints) -> Any:
        return place_matrix(values, values, eye_array(len(values)))

    identity, to_own = identity_block(np.arange(pattern.size)), place_matrix(own_values, common, to_own)
    rest_identity = identity_block(np.concatenate([common, alone]))

    def matrix_products(of_common: Floats, of_alone: Floats, border: Any, of_blocks: list[Any]) -> tuple[Any, ...]:
        diagonal_part = place_matrix(common, common, of_common) + place_matrix(alone, alone, diags_array(of_alone))
        own_part = place_matrix(own_values, own_values, block_diag(of_blocks))
        return diagonal_part + identity_block(own_values), identity + border, own_part + rest_identity

    return _whiten_by_products(
        matrix_products(common_root.T, factor.unobserved_sd, -to_own, blocks),
        matrix_products(common_inverse, 1.0 / factor.unobserved_sd, to_own, inverse_blocks),
    )
