"""Sites of expectation propagation: a normal density in the place of each cell's likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.infer.nested.field import Field
from voirdire.infer.nested.tilted import multiply_vectors
from voirdire.typing import Bools, Floats


@dataclass(frozen=True, eq=False)
class Sites:
    """A normal density in the place of each cell's likelihood.

    Attributes
    ----------
    shift : array, shape (predictors, cells)
        nu, of the predictors that are integrated over.
    precision : array, shape (predictors, predictors, cells)
        tau.
    """

    shift: Floats
    precision: Floats


def first_sites(model: Field, wide: Sequence[int], x: Floats) -> Sites:
    """Sites of the information that answers have on average."""
    sums = model.pattern.linear_predictors(x)
    pairs = model.answers.expected_information(sums).transpose(1, 2, 0)[np.ix_(wide, wide)]
    slope = model.answers.value_gradient(sums)[1][list(wide)]
    return Sites(slope + multiply_vectors(pairs, sums[list(wide)]), pairs)


def sites_between(one: Sites, other: Sites, share: float | Floats) -> Sites:
    """Sites on the way from one to the other, ``share`` of it."""
    return Sites(
        one.shift + share * (other.shift - one.shift),
        one.precision + share * (other.precision - one.precision),
    )


def are_larger(matrices: Floats, least: Floats) -> Bools:
    """True for one-by-one or two-by-two matrices that are larger than others in every direction."""
    over = matrices - least
    if len(over) == 1:
        return np.asarray(over[0, 0] > 0)
    return np.asarray((over[0, 0] > 0) & (over[0, 0] * over[1, 1] > over[0, 1] ** 2))


def embed_matrices(precision: Floats, wide: Sequence[int], kinds: int) -> Floats:
    """Matrices of all predictors, shape (cells, kinds, kinds), zero but for those that are integrated over."""
    out = np.zeros((precision.shape[-1], kinds, kinds))
    for i, u in enumerate(wide):
        for j, v in enumerate(wide):
            out[:, u, v] = precision[i, j]
    return out
