"""Comparisons by judges with two coins: which of two items is better, and whether they are tied.

With d the difference of the items as the judge perceives it, e1 the probability that the judge is right where the first
item is better and e2 where the second is,

    P(first) = e1 sigmoid(d) + (1 - e2) sigmoid(-d)

(Raykar et al. 2010, Journal of Machine Learning Research 11, on Bradley and Terry 1952, Biometrika 39). With ties,
P(tie) / P(no tie) = (nu / 2) cosh(d / 2)^-s, and the coins apply given no tie; s = 1 is the model of Davidson (1970,
Journal of the American Statistical Association 65). The predictors are d, logit e1, logit e2, log nu and log s.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from voirdire.model.family.family import ClosedForm, Family
from voirdire.model.family.two_coin_gradient import (
    DIFFERENCE,
    FIRST,
    SECOND,
    TIE,
    TIE_SCALE,
    expected_information,
    information_gradient,
    log_likelihoods,
    value_and_derivatives,
    value_and_slopes,
)
from voirdire.model.terms.reliability import Observations, log_two_coin_probability
from voirdire.model.terms.ties import log_tie_parts

CLOSED_FORM = ClosedForm(
    value_and_slopes, log_likelihoods, value_and_derivatives, expected_information, information_gradient
)
PREDICTORS = ("difference", "coin of the first", "coin of the second", "tie propensity", "log tie scale")


def two_coin_family(ties: bool, tie_scale: bool = False) -> Family:
    """Family with or without ties, and with or without a scale of ties as a predictor.

    Examples
    --------
    >>> [len(part) for part in two_coin_family(ties=True).log_probabilities(np.zeros((4, 2)), np)]
    [2, 2]
    """

    def log_probabilities(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        difference = eta[..., DIFFERENCE, :]
        cells = difference.shape[-1]
        outcomes = both_outcomes(cells)
        decided = log_two_coin_probability(
            eta[..., FIRST, :], eta[..., SECOND, :], outcomes.judge, difference, outcomes, xp
        )
        log_pairs = [(decided[..., :cells], decided[..., cells:])]
        scale = xp.exp(eta[..., TIE_SCALE, :]) if tie_scale else 1.0
        return [*log_pairs, log_tie_parts(eta[..., TIE, :], difference, xp, scale)] if ties else log_pairs

    return Family("two-coin", PREDICTORS[: 3 + ties + tie_scale], log_probabilities, CLOSED_FORM)


@lru_cache(maxsize=4)
def both_outcomes(cells: int) -> Observations:
    """Both outcomes of every cell, with one judge and one pair for each: all firsts, then all seconds."""
    cell = np.arange(cells)
    doubled, zero = np.concatenate([cell, cell]), np.zeros(2 * cells, dtype=np.int64)
    return Observations(doubled, doubled, zero + (np.arange(2 * cells) >= cells), zero, cells, 1)
