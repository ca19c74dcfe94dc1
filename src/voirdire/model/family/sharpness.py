"""Comparisons by judges who perceive differences more or less sharply, and shifted to one side.

    P(first) = sigmoid(a d + b),   a > 0

(arXiv 2602.16610, BT-sigma); where there are ties P(tie) = nu / (nu + 2 cosh(a d / 2)), of the rest P(first) as above.
The predictors are d, log a, b and log nu.
"""

from __future__ import annotations

from typing import Any

from voirdire.model.family.family import Family
from voirdire.model.family.two_coin import both_outcomes
from voirdire.model.terms.reliability import log_chosen_probability
from voirdire.model.terms.ties import log_tie_parts

PREDICTORS = ("difference", "log sharpness", "shift", "tie propensity")


def sharpness_family(ties: bool) -> Family:
    """The family, with or without ties.

    Examples
    --------
    >>> import numpy as np
    >>> (first, second), = sharpness_family(ties=False).log_chances(np.array([[1.0], [np.log(2.0)], [0.5]]), np)
    >>> float(np.exp(first[0]).round(3)), float(np.exp(second[0]).round(3))
    (0.924, 0.076)
    """

    def log_chances(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        seen = xp.exp(eta[..., 1, :]) * eta[..., 0, :]
        cells = seen.shape[-1]
        decided = log_chosen_probability(seen + eta[..., 2, :], both_outcomes(cells), xp)
        found = [(decided[..., :cells], decided[..., cells:])]
        return [*found, log_tie_parts(eta[..., 3, :], seen, xp)] if ties else found

    return Family("sharpness", PREDICTORS[: 3 + ties], log_chances)
