"""Comparisons by judges with different sharpness, and with a shift to one side.

    P(first) = sigmoid(a d + b),   a > 0

(arXiv 2602.16610, BT-sigma); with ties P(tie) / P(no tie) = (nu / 2) cosh(a d / 2)^-s, and P(first) as above given no
tie. The predictors are d, log a, b, log nu and log s.

Closed form, with x = a d + b, F = sigmoid(x) and v = F (1 - F): the log likelihood of n_1 votes for the first of n has
the slope g = n_1 - n F by a d and by b, the second derivatives - n v, and the expected information n v about their sum,
with the relative derivative 1 - 2 F along it. Ties as in
:mod:`.ties`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family, PairDerivatives
from voirdire.model.family.sloped import with_slope
from voirdire.model.family.ties import TieLikelihood, add_pairs, tie_likelihood
from voirdire.model.family.two_coin import both_outcomes
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.reliability import log_chosen_probability
from voirdire.model.terms.ties import log_tie_parts
from voirdire.typing import Floats

PREDICTORS = ("difference", "log sharpness", "shift", "tie propensity", "log tie scale")

PERCEIVED, SHIFT, TIE, TIE_SCALE = range(4)  # predictors by a d
TIE_PLACES = PERCEIVED, TIE, TIE_SCALE
PREDICTOR_PAIRS = (PERCEIVED, PERCEIVED), (PERCEIVED, SHIFT), (SHIFT, SHIFT)


class _VoteTerms(NamedTuple):
    """Terms of each cell: value and slopes; n v and 1 - 2 F; and the likelihood of ties, or None."""

    value: Array
    slopes: list[Array]
    spread: Array
    skew: Array
    ties: TieLikelihood | None


def _vote_terms(sums: Sequence[Array], counts: Any, xp: Any = np) -> _VoteTerms:
    (for_first, for_second), *ties = counts
    x = sums[PERCEIVED] + sums[SHIFT]
    log_first, log_second = log_sigmoid(x, xp), log_sigmoid(-x, xp)
    first, second = xp.exp(log_first), xp.exp(log_second)
    value = for_first * log_first + for_second * log_second
    pull = for_first * second - for_second * first
    spread = (for_first + for_second) * first * second
    if not ties:
        return _VoteTerms(value, [pull, pull], spread, second - first, None)
    of_ties = tie_likelihood(sums, TIE_PLACES, ties[0], xp)
    return _VoteTerms(value + of_ties.value, of_ties.add_slopes([pull, pull]), spread, second - first, of_ties)


def _cell_derivatives(sums: Sequence[Floats], counts: Any) -> CellDerivatives:
    terms = _vote_terms(sums, counts)
    second: PairDerivatives = dict.fromkeys(PREDICTOR_PAIRS, np.asarray(-terms.spread))
    if terms.ties is not None:
        second = add_pairs(second, terms.ties.second_derivatives())
    return CellDerivatives(terms.value, terms.slopes, second)


def _information(sums: Sequence[Floats], counts: Any) -> PairDerivatives:
    terms = _vote_terms(sums, counts)
    information: PairDerivatives = dict.fromkeys(PREDICTOR_PAIRS, np.asarray(terms.spread))
    return information if terms.ties is None else add_pairs(information, terms.ties.information())


def _information_gradient(sums: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
    terms, c = _vote_terms(sums, counts), np.moveaxis(covariance, 0, -1)
    by_eta = 0.5 * terms.spread * terms.skew * (c[PERCEIVED, PERCEIVED] + 2.0 * c[PERCEIVED, SHIFT] + c[SHIFT, SHIFT])
    gradient = [by_eta, by_eta]
    return np.stack(gradient if terms.ties is None else terms.ties.add_information_gradient(gradient, covariance))


CLOSED_FORM = with_slope(
    ClosedForm(
        lambda sums, counts, xp: _vote_terms(sums, counts, xp)[:2],
        lambda sums, counts: np.asarray(_vote_terms(sums, counts).value),
        _cell_derivatives,
        _information,
        _information_gradient,
    ),
    1,
)


def sharpness_family(ties: bool, tie_scale: bool = False) -> Family:
    """Family with or without ties, and with or without a scale of ties as a predictor.

    Examples
    --------
    >>> import numpy as np
    >>> (first, second), = sharpness_family(ties=False).log_probabilities(np.array([[1.0], [np.log(2.0)], [0.5]]), np)
    >>> float(np.exp(first[0]).round(3)), float(np.exp(second[0]).round(3))
    (0.924, 0.076)
    """

    def log_probabilities(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        perceived = xp.exp(eta[..., 1, :]) * eta[..., 0, :]
        cells = perceived.shape[-1]
        decided = log_chosen_probability(perceived + eta[..., 2, :], both_outcomes(cells), xp)
        outcomes = [(decided[..., :cells], decided[..., cells:])]
        scale = xp.exp(eta[..., 4, :]) if tie_scale else 1.0
        return [*outcomes, log_tie_parts(eta[..., 3, :], perceived, xp, scale)] if ties else outcomes

    return Family("sharpness", PREDICTORS[: 3 + ties + tie_scale], log_probabilities, CLOSED_FORM)
