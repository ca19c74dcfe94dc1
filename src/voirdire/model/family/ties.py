"""Ties in families of comparisons: log likelihood and its derivatives by d, log nu and the log scale of ties.

P(tie) = 1 / (1 + exp(-q)),  q = log nu - log 2 - s c(d),  c(d) = log cosh(d / 2)

(:func:`voirdire.model.terms.ties.log_tie_parts`), s = 1 in families without a scale of ties.

With h = c'(d) = tanh(d / 2) / 2, q has the slopes - s h by d, 1 by log nu and - s c by log s, and the second
derivatives - s (1 / 4 - h^2) by d twice, - s h by d and log s, and - s c by log s twice. For n answers, n_tied of them
ties, r = P(tie), z = n_tied - n r and w = n r (1 - r), the log likelihood has the slopes z q_u, the second derivatives
z q_uv - w q_u q_v and the expected information w q_u q_v. Half the gradient of sum_uv C_uv w q_u q_v along k is
w [(1 - 2 r) q_k q'C q / 2 + sum_u q_uk (C q)_u].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import PairDerivatives
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.ties import LOG_TWO
from voirdire.typing import Floats

MAX_LOG_SCALE = 20.0  # bound on log s, so that products with its exponential are representable


class TieLikelihood(NamedTuple):
    """Log likelihood of ties of each cell, with what its derivatives consist of.

    Attributes
    ----------
    value : array
    surplus, weight, skew, half : array
        z, w, 1 - 2 r and h.
    scale : array or float
        s.
    slopes : dict of int to array
        Slopes of q by d, log nu and log s, if it is a predictor, by the number of the predictor in the family.
    """

    value: Array
    surplus: Array
    weight: Array
    skew: Array
    half: Array
    scale: Any
    slopes: dict[int, Array]

    def add_slopes(self, slopes: Sequence[Array]) -> list[Array]:
        """Add the slopes of the log likelihood to those of decided votes, by the predictors before log nu."""
        return _add_by_place(slopes, {place: self.surplus * slope for place, slope in self.slopes.items()})

    def information(self) -> PairDerivatives:
        """Expected information by pairs u <= v of predictors."""
        pairs = combinations_with_replacement(self.slopes, 2)
        return {(u, v): self.weight * self.slopes[u] * self.slopes[v] for u, v in pairs}

    def second_derivatives(self) -> PairDerivatives:
        """Second derivatives of the log likelihood by pairs u <= v of predictors."""
        second = {pair: -information for pair, information in self.information().items()}
        for pair, curvature in self._curvatures.items():
            second[pair] = second[pair] + self.surplus * curvature
        return second

    @property
    def _curvatures(self) -> PairDerivatives:
        """Second derivatives of q that are not zero, by pairs u <= v."""
        difference, _, *log_scale = self.slopes
        curvatures = {(difference, difference): -self.scale * (0.25 - self.half**2)}
        for place in log_scale:
            curvatures |= {(difference, place): -self.scale * self.half, (place, place): self.slopes[place]}
        return curvatures

    def add_information_gradient(self, gradient: Sequence[Floats], covariance: Floats) -> list[Floats]:
        """Add half the gradient of the sum of products of a covariance with the information to that of decided votes.

        ``covariance`` has the shape (cells, predictors, predictors).
        """
        direction = {u: sum(covariance[:, u, v] * slope for v, slope in self.slopes.items()) for u in self.slopes}
        square = sum(direction[u] * slope for u, slope in self.slopes.items())
        added = {u: 0.5 * self.skew * square * slope for u, slope in self.slopes.items()}
        for (u, v), curvature in self._curvatures.items():
            added[u] = added[u] + curvature * direction[v]
            if u != v:
                added[v] = added[v] + curvature * direction[u]
        return _add_by_place(gradient, {u: self.weight * slope for u, slope in added.items()})


def _add_by_place(values: Sequence[Array], added: dict[int, Array]) -> list[Array]:
    total = dict(enumerate(values))
    return [total.get(place, 0.0) + added.get(place, 0.0) for place in sorted({*total, *added})]


def add_pairs(second: PairDerivatives, added: PairDerivatives) -> PairDerivatives:
    """Add derivatives by pairs of predictors; a missing pair is zero."""
    return second | {pair: second[pair] + value if pair in second else value for pair, value in added.items()}


def _log_cosh(half: Array, xp: Any) -> Array:
    """log cosh of numbers >= 0, without cancellation of small ones."""
    decay = xp.expm1(-xp.minimum(half, 1.0))
    small = xp.log1p(0.5 * decay * decay / (1.0 + decay))  # cosh x - 1 = (exp(-x) - 1)^2 exp(x) / 2
    return xp.where(half < 1.0, small, half + xp.log1p(xp.exp(-2.0 * half)) - LOG_TWO)


def tie_likelihood(sums: Sequence[Array], places: Sequence[int], counts: Any, xp: Any = np) -> TieLikelihood:
    """Log likelihood of ties and what its derivatives consist of.

    Parameters
    ----------
    sums : sequence of array, shape (..., cells)
        Predictors of a family, which broadcast.
    places : sequence of int
        Numbers of the predictors d, log nu and log s; where the sums have no log s, s = 1.
    counts : array, shape (2, cells)
        Ties, and votes without a tie.
    xp : module

    Examples
    --------
    >>> sums, counts = [np.zeros(1), np.log([2.0]), np.zeros(1)], np.array([[1.0], [1.0]])
    >>> ties = tie_likelihood(sums, (0, 1, 2), counts)
    >>> ties.value.round(4).tolist(), ties.information()[1, 1].round(4).tolist()
    ([-1.3863], [0.5])
    """
    tied, untied = counts
    difference, log_nu, *further = (sums[place] for place in places if place < len(sums))
    scale = xp.exp(xp.clip(further[0], -MAX_LOG_SCALE, MAX_LOG_SCALE)) if further else 1.0
    log_cosh, half = _log_cosh(0.5 * xp.abs(difference), xp), 0.5 * xp.tanh(0.5 * difference)
    odds = log_nu - LOG_TWO - scale * log_cosh
    small = xp.exp(-xp.abs(odds))
    log_larger, larger = -xp.log1p(small), 1.0 / (1.0 + small)
    tie, none = xp.where(odds > 0, larger, small * larger), xp.where(odds > 0, small * larger, larger)
    value = tied * (log_larger + xp.minimum(odds, 0.0)) + untied * (log_larger - xp.maximum(odds, 0.0))
    slopes = dict(zip(places, (-scale * half, 1.0, *(-scale * log_cosh for _ in further)), strict=False))
    weight = (tied + untied) * tie * none
    return TieLikelihood(value, tied * none - untied * tie, weight, none - tie, half, scale, slopes)
