"""Families with a product as first predictor: eta = exp(s) w, where w and the log slope s are separate sums.

From the derivatives of the log likelihood by eta and the other predictors, the chain rule gives those by w and s.
With e = exp(s), eta has the slopes e by w and eta by s, and the second derivatives e by w and s and eta by s twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, PairDerivatives
from voirdire.typing import Floats


def with_slope(base: ClosedForm, slope_index: int) -> ClosedForm:
    """Convert a closed form to w in place of eta, with s as predictor number ``slope_index``.

    Examples
    --------
    >>> from voirdire.model.family.ordinal import CLOSED_FORM
    >>> sloped, counts = with_slope(CLOSED_FORM, 1), np.array([[[2.0], [1.0]]])
    >>> slopes = sloped.value_slopes(np.array([[1.0], [np.log(2.0)]]), counts, np)[1]
    >>> (by_eta,) = CLOSED_FORM.value_slopes(np.array([[2.0]]), counts, np)[1]
    >>> [(slope / by_eta).round(9).tolist() for slope in slopes]
    [[2.0], [2.0]]
    """

    def split(sums: Sequence[Any], xp: Any = np) -> tuple[Any, list[Any]]:
        e = xp.exp(sums[slope_index])
        return e, [e * sums[0], *(term for p, term in enumerate(sums) if p not in (0, slope_index))]

    def place(p: int) -> int:
        """Index of a predictor of the base other than the first."""
        return p if p < slope_index else p + 1

    def merge(e: Any, eta: Any, slopes: Sequence[Any]) -> list[Any]:
        result = [slopes[0] * e, *slopes[1:]]
        return [*result[:slope_index], slopes[0] * eta, *result[slope_index:]]

    def value_slopes(sums: Sequence[Any], counts: Any, xp: Any) -> tuple[Any, list[Any]]:
        e, inner = split(sums, xp)
        value, slopes = base.value_slopes(inner, counts, xp)
        return value, merge(e, inner[0], slopes)

    def log_likelihoods(sums: Sequence[Floats], counts: Any) -> Floats:
        return base.log_likelihoods(split(sums)[1], counts)

    def pairs(e: Floats, eta: Floats, by_base: PairDerivatives) -> PairDerivatives:
        result: PairDerivatives = {}
        for (u, v), derivative in by_base.items():
            for p, term in ((0, e), (slope_index, eta)) if u == 0 else ((place(u), 1.0),):
                for q, other_term in ((0, e), (slope_index, eta)) if v == 0 else ((place(v), 1.0),):
                    if u < v or p <= q:
                        result[min(p, q), max(p, q)] = term * other_term * derivative
        return result

    def curved(sums: Sequence[Floats], counts: Any) -> CellDerivatives:
        e, inner = split(sums)
        value, slope, second = base.curved(inner, counts)
        result, eta = pairs(e, inner[0], second), inner[0]
        result[0, slope_index] = result[0, slope_index] + slope[0] * e
        result[slope_index, slope_index] = result[slope_index, slope_index] + slope[0] * eta
        return CellDerivatives(value, merge(e, eta, slope), result)

    def information(sums: Sequence[Floats], counts: Any) -> PairDerivatives:
        e, inner = split(sums)
        return pairs(e, inner[0], base.information(inner, counts))

    def bend(sums: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
        e, inner = split(sums)
        eta, size = inner[0], len(inner)
        rows = np.zeros((len(e), size, len(sums)))  # slopes of the base's predictors
        rows[:, 0, 0], rows[:, 0, slope_index] = e, eta
        rows[:, range(1, size), [place(p) for p in range(1, size)]] = 1.0
        direction = covariance @ rows.transpose(0, 2, 1)
        result = merge(e, eta, list(base.bend(inner, counts, rows @ direction)))
        for (u, v), derivative in base.information(inner, counts).items():
            if u == 0:  # changes of the slopes of eta
                result[0] = result[0] + derivative * e * direction[:, slope_index, v]
                result[slope_index] = result[slope_index] + derivative * (
                    e * direction[:, 0, v] + eta * direction[:, slope_index, v]
                )
        return np.asarray(np.broadcast_arrays(*result))

    return ClosedForm(value_slopes, log_likelihoods, curved, information, bend)
