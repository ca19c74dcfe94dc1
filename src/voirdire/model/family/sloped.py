"""Families whose first predictor is a product: eta = exp(s) w, with w and the logarithm s of a slope sums of their own.

Given the derivatives of the log likelihood by eta and the other predictors, those by w and s follow by the chain rule,
with e = exp(s): eta has the slopes e by w and eta by s, and the second derivatives e by w and s and eta by s twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, PairDerivatives
from voirdire.typing import Floats


def with_slope(base: ClosedForm, at: int) -> ClosedForm:
    """The closed form with w in the place of eta, and s as predictor number ``at``.

    Examples
    --------
    >>> from voirdire.model.family.ordinal import CLOSED_FORM
    >>> sloped, counts = with_slope(CLOSED_FORM, 1), np.array([[[2.0], [1.0]]])
    >>> value, slope = sloped.value_gradient(np.array([[1.0], [np.log(2.0)]]), counts, np)
    >>> by_eta = CLOSED_FORM.value_gradient(np.array([[2.0]]), counts, np)[1][0, 0]
    >>> (slope[:, 0] / by_eta).round(9).tolist()
    [2.0, 2.0]
    """

    def split(sums: Sequence[Any], xp: Any = np) -> tuple[Any, list[Any]]:
        e = xp.exp(sums[at])
        return e, [e * sums[0], *(term for p, term in enumerate(sums) if p not in (0, at))]

    def place(p: int) -> int:
        """Index of a predictor of the base, but the first."""
        return p if p < at else p + 1

    def merge(e: Any, eta: Any, slopes: Sequence[Any]) -> list[Any]:
        result = [slopes[0] * e, *slopes[1:]]
        return [*result[:at], slopes[0] * eta, *result[at:]]

    def both(sums: Any, counts: Any, xp: Any) -> tuple[Any, Any]:
        e, inner = split([sums[..., p, :] for p in range(sums.shape[-2])], xp)
        value, slope = base.value_gradient(xp.stack(inner, axis=-2), counts, xp)
        slopes = [slope[..., p, :] for p in range(len(inner))]
        return value, xp.stack(merge(e, inner[0], slopes), axis=-2)

    def log_likelihoods(sums: Sequence[Floats], counts: Any) -> Floats:
        return base.log_likelihoods(split(sums)[1], counts)

    def slopes(sums: Sequence[Floats], counts: Any) -> list[Floats]:
        e, inner = split(sums)
        return merge(e, inner[0], base.slopes(inner, counts))

    def pairs(e: Floats, eta: Floats, by_base: PairDerivatives) -> PairDerivatives:
        result: PairDerivatives = {}
        for (u, v), derivative in by_base.items():
            for p, term in ((0, e), (at, eta)) if u == 0 else ((place(u), 1.0),):
                for q, other_term in ((0, e), (at, eta)) if v == 0 else ((place(v), 1.0),):
                    if u < v or p <= q:
                        result[min(p, q), max(p, q)] = term * other_term * derivative
        return result

    def curved(sums: Sequence[Floats], counts: Any) -> CellDerivatives:
        e, inner = split(sums)
        value, slope, second = base.curved(inner, counts)
        result, eta = pairs(e, inner[0], second), inner[0]
        result[0, at] = result[0, at] + slope[0] * e
        result[at, at] = result[at, at] + slope[0] * eta
        return CellDerivatives(value, merge(e, eta, slope), result)

    def information(sums: Sequence[Floats], counts: Any) -> PairDerivatives:
        e, inner = split(sums)
        return pairs(e, inner[0], base.information(inner, counts))

    def bend(sums: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
        e, inner = split(sums)
        eta, size = inner[0], len(inner)
        rows = np.zeros((len(e), size, len(sums)))  # slopes of the predictors of the base
        rows[:, 0, 0], rows[:, 0, at] = e, eta
        rows[:, range(1, size), [place(p) for p in range(1, size)]] = 1.0
        direction = covariance @ rows.transpose(0, 2, 1)
        result = merge(e, eta, list(base.bend(inner, counts, rows @ direction)))
        for (u, v), derivative in base.information(inner, counts).items():
            if u == 0:  # what the slopes of eta change by
                result[0] = result[0] + derivative * e * direction[:, at, v]
                result[at] = result[at] + derivative * (e * direction[:, 0, v] + eta * direction[:, at, v])
        return np.asarray(np.broadcast_arrays(*result))

    return ClosedForm(both, log_likelihoods, slopes, curved, information, bend)
