"""Scores on an ordered scale: the cumulative logit (McCullagh 1980, Journal of the Royal Statistical Society B 42).

    P(y > level l) = sigmoid(eta - kappa_l),   kappa_l+1 - kappa_l = exp(gap_l),   midway between the ends 0

The predictors are eta, with the location of the cutpoints among its terms, and the gaps.
"""

from __future__ import annotations

from typing import Any

from voirdire.model.family.family import Family
from voirdire.model.family.ordinal_derivatives import CLOSED_FORM
from voirdire.model.terms.cumulative import log_every_level
from voirdire.model.terms.cutpoints import spread_cutpoints


def ordinal_family(levels: int) -> Family:
    """The family of a scale of so many levels, two or more.

    Examples
    --------
    >>> import numpy as np
    >>> ordinal_family(3).predictors
    ('perceived', 'log gap 1')
    >>> (levels,) = ordinal_family(2).log_chances(np.array([[1.0]]), np)
    >>> [float(np.exp(log[0]).round(3)) for log in levels]
    [0.269, 0.731]
    """

    def log_chances(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        seen = eta[..., 0, :]
        gaps = [eta[..., 1 + gap, :] for gap in range(levels - 2)]
        cuts = spread_cutpoints(0.0 * seen, xp.stack(gaps, axis=-1) if gaps else None, levels, xp)
        return [tuple(log_every_level(seen, cuts, levels, xp))]

    predictors = ("perceived", *(f"log gap {gap}" for gap in range(1, levels - 1)))
    return Family("ordinal", predictors, log_chances, CLOSED_FORM)
