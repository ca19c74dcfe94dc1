"""Sites of expectation propagation, and Anderson's mixing, which finds their fixed point faster.

For a map g with the fixed point x = g(x), points x_k so far and f_k = g(x_k) - x_k, the next point is

    g(x_k) - sum_j gamma_j (g(x_j+1) - g(x_j)),    gamma the least squares of f_k by the differences f_j+1 - f_j

(Anderson 1965, Journal of the ACM 12; Walker and Ni 2011, SIAM Journal on Numerical Analysis 49). If convergence is
slow in one direction only, such as the scale of all values, a few steps extrapolate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.tilted import multiply_vectors
from voirdire.typing import Bools, Floats

MAX_DIFFERENCES = 3  # differences of steps that are used
MAX_GAMMA_SUM = 30.0  # sum of absolute gamma beyond which the past is dropped


class AndersonMixing:
    """Extrapolation of the last steps of a search for a fixed point.

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

    def next_point(self, last_point: Floats, image: Floats, weights: Floats) -> Floats:
        """Compute the next point from the last one and its image; ``weights`` are those of the least squares."""
        step = image - last_point
        self._steps, self._maps = ([*self._steps[-MAX_DIFFERENCES:], step], [*self._maps[-MAX_DIFFERENCES:], image])
        if len(self._steps) == 1:
            return image
        differences = np.stack(
            [(b - a) * weights for a, b in zip(self._steps[:-1], self._steps[1:], strict=True)], axis=1
        )
        gamma = np.linalg.lstsq(differences, step * weights, rcond=1e-8)[0]
        if not np.abs(gamma).sum() < MAX_GAMMA_SUM:
            self._steps, self._maps = [step], [image]
            return image
        map_differences = [b - a for a, b in zip(self._maps[:-1], self._maps[1:], strict=True)]
        return np.asarray(image - sum(g * difference for g, difference in zip(gamma, map_differences, strict=True)))


@dataclass(frozen=True, eq=False)
class Sites:
    """Normal densities that replace the likelihood of each cell.

    Attributes
    ----------
    shift : array, shape (predictors, cells)
        nu of the predictors that are integrated over.
    precision : array, shape (predictors, predictors, cells)
        tau of these predictors.
    """

    shift: Floats
    precision: Floats


def first_sites(model: LatentGaussianModel, wide: Sequence[int], x: Floats) -> Sites:
    """Build sites from the expected information of answers."""
    sums = model.pattern.linear_predictors(x)
    pairs = model.answers.expected_information(sums).transpose(1, 2, 0)[np.ix_(wide, wide)]
    slope = model.answers.value_gradient(sums)[1][list(wide)]
    return Sites(slope + multiply_vectors(pairs, sums[list(wide)]), pairs)


def sites_between(start: Sites, end: Sites, share: float | Floats) -> Sites:
    """Interpolate sites, by ``share`` of the way from one to the other."""
    return Sites(
        start.shift + share * (end.shift - start.shift), start.precision + share * (end.precision - start.precision)
    )


def are_larger(matrices: Floats, lower: Floats) -> Bools:
    """Return True for one-by-one or two-by-two matrices that are larger than others in every direction."""
    difference = matrices - lower
    if len(difference) == 1:
        return np.asarray(difference[0, 0] > 0)
    return np.asarray((difference[0, 0] > 0) & (difference[0, 0] * difference[1, 1] > difference[0, 1] ** 2))


def embed_matrices(precision: Floats, wide: Sequence[int], kinds: int) -> Floats:
    """Embed matrices in those of all predictors, shape (cells, kinds, kinds), with zeros elsewhere."""
    out = np.zeros((precision.shape[-1], kinds, kinds))
    out[:, np.array(wide)[:, None], wide] = precision.transpose(2, 0, 1)
    return out
