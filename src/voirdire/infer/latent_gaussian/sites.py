"""Sites of expectation propagation: a normal density in the place of each cell's likelihood.

Fixed points found faster: Anderson's mixing of the last steps.

Of a map g whose fixed point x = g(x) is sought, with x_k the points so far and f_k = g(x_k) - x_k, the next point is

    g(x_k) - sum_j gamma_j (g(x_j+1) - g(x_j)),    gamma the least squares of f_k by the differences f_j+1 - f_j

(Anderson 1965, Journal of the ACM 12; Walker and Ni 2011, SIAM Journal on Numerical Analysis 49). Where one direction
is slow, as the scale of all values beside that of what answers say, a few steps find how it goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.tilted import multiply_vectors
from voirdire.typing import Bools, Floats

MAX_DIFFERENCES = 3  # differences
MAX_GAMMA_SUM = 30.0  # sum of gamma's sizes, beyond which the past says nothing


class AndersonMixing:
    """The last steps of a search for a fixed point.

    Examples
    --------
    >>> mixing, x = AndersonMixing(), np.array([1.0, 1.0])
    >>> for _ in range(4):
    ...     x = mixing.next_point(x, np.array([0.9, 0.5]) * x + 1.0, np.ones(2))
    >>> x.round(6).tolist()
    [10.0, 2.0]
    """

    def __init__(self) -> None:
        self._steps: list[Floats] = []
        self._maps: list[Floats] = []

    def next_point(self, here: Floats, there: Floats, weights: Floats) -> Floats:
        """The next point, of the last one and what the map makes of it; ``weights`` are of the least squares."""
        step = there - here
        self._steps, self._maps = (
            [*self._steps[-MAX_DIFFERENCES:], step],
            [*self._maps[-MAX_DIFFERENCES:], there],
        )
        if len(self._steps) == 1:
            return there
        differences = np.stack(
            [(b - a) * weights for a, b in zip(self._steps[:-1], self._steps[1:], strict=True)], axis=1
        )
        gamma = np.linalg.lstsq(differences, step * weights, rcond=1e-8)[0]
        if not np.abs(gamma).sum() < MAX_GAMMA_SUM:
            self._steps, self._maps = [step], [there]
            return there
        map_differences = [b - a for a, b in zip(self._maps[:-1], self._maps[1:], strict=True)]
        return np.asarray(
            there - sum(g * difference for g, difference in zip(gamma, map_differences, strict=True))
        )


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


def first_sites(model: LatentGaussianModel, wide: Sequence[int], x: Floats) -> Sites:
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
    difference = matrices - least
    if len(difference) == 1:
        return np.asarray(difference[0, 0] > 0)
    return np.asarray((difference[0, 0] > 0) & (difference[0, 0] * difference[1, 1] > difference[0, 1] ** 2))


def embed_matrices(precision: Floats, wide: Sequence[int], kinds: int) -> Floats:
    """Matrices of all predictors, shape (cells, kinds, kinds), zero but for those that are integrated over."""
    out = np.zeros((precision.shape[-1], kinds, kinds))
    for i, u in enumerate(wide):
        for j, v in enumerate(wide):
            out[:, u, v] = precision[i, j]
    return out
