"""Comparisons by judges with different sharpness, and with a shift to one side.

    P(first) = sigmoid(a d + b),   a > 0

(arXiv 2602.16610, BT-sigma); with ties P(tie) = nu / (nu + 2 cosh(a d / 2)), and P(first) as above given no tie.
The predictors are d, log a, b and log nu.

Closed form, with x = a d + b, F = sigmoid(x) and v = F (1 - F): the log likelihood of n_1 votes for the first of n has
the slope g = n_1 - n F by a d and by b, the second derivatives - n v, and the expected information n v about their sum,
with the relative derivative 1 - 2 F along it. Ties as in :mod:`.two_coin_gradient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family, PairDerivatives
from voirdire.model.family.sloped import with_slope
from voirdire.model.family.two_coin import both_outcomes
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.reliability import log_chosen_probability
from voirdire.model.terms.ties import log_tie_parts
from voirdire.typing import Floats

PREDICTORS = ("difference", "log sharpness", "shift", "tie propensity")

PERCEIVED, SHIFT, TIE = range(3)  # predictors by a d
PREDICTOR_PAIRS = (PERCEIVED, PERCEIVED), (PERCEIVED, SHIFT), (SHIFT, SHIFT)


class _VoteTerms(NamedTuple):
    """Terms of each cell: value and slopes; n v and 1 - 2 F; and for ties z, q, 1 - 2 r, h, or None."""

    value: Array
    slopes: list[Array]
    spread: Array
    skew: Array
    ties: tuple[Array, Array, Array, Array] | None


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
    ((tied, untied),) = ties
    log_tie, log_none = log_tie_parts(sums[TIE], sums[PERCEIVED], xp)
    r, no_tie, half = xp.exp(log_tie), xp.exp(log_none), 0.5 * xp.tanh(0.5 * sums[PERCEIVED])
    surplus = tied * no_tie - untied * r
    value = value + tied * log_tie + untied * log_none
    tie_terms = surplus, (tied + untied) * r * no_tie, no_tie - r, half
    return _VoteTerms(value, [pull - half * surplus, pull, surplus], spread, second - first, tie_terms)


def _value_and_gradient(sums: Any, counts: Any, xp: Any) -> tuple[Any, Any]:
    terms = _vote_terms([sums[..., p, :] for p in range(sums.shape[-2])], counts, xp)
    return terms.value, xp.stack(terms.slopes, axis=-2)


def _cell_derivatives(sums: Sequence[Floats], counts: Any) -> CellDerivatives:
    terms = _vote_terms(sums, counts)
    second: PairDerivatives = dict.fromkeys(PREDICTOR_PAIRS, np.asarray(-terms.spread))
    if terms.ties is not None:
        surplus, q, _, half = terms.ties
        second[PERCEIVED, PERCEIVED] = second[PERCEIVED, PERCEIVED] - half**2 * q - (0.25 - half**2) * surplus
        second |= {(PERCEIVED, TIE): half * q, (TIE, TIE): -q}
    return CellDerivatives(terms.value, terms.slopes, second)


def _information(sums: Sequence[Floats], counts: Any) -> PairDerivatives:
    terms = _vote_terms(sums, counts)
    information: PairDerivatives = dict.fromkeys(PREDICTOR_PAIRS, np.asarray(terms.spread))
    if terms.ties is not None:
        _, q, _, half = terms.ties
        information |= {
            (PERCEIVED, PERCEIVED): information[PERCEIVED, PERCEIVED] + half**2 * q,
            (PERCEIVED, TIE): -half * q,
            (TIE, TIE): q,
        }
    return information


def _information_gradient(sums: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
    terms, c = _vote_terms(sums, counts), np.moveaxis(covariance, 0, -1)
    by_eta = 0.5 * terms.spread * terms.skew * (c[PERCEIVED, PERCEIVED] + 2.0 * c[PERCEIVED, SHIFT] + c[SHIFT, SHIFT])
    if terms.ties is None:
        return np.array([by_eta, by_eta])
    _, q, skew, half = terms.ties
    by_tie = 0.5 * q * skew * (c[TIE, TIE] - 2.0 * half * c[PERCEIVED, TIE] + half**2 * c[PERCEIVED, PERCEIVED])
    by_half = q * (0.25 - half**2) * (half * c[PERCEIVED, PERCEIVED] - c[PERCEIVED, TIE])
    return np.array([by_eta - half * by_tie + by_half, by_eta, by_tie])


CLOSED_FORM = with_slope(
    ClosedForm(
        _value_and_gradient,
        lambda sums, counts: np.asarray(_vote_terms(sums, counts).value),
        lambda sums, counts: _vote_terms(sums, counts).slopes,
        _cell_derivatives,
        _information,
        _information_gradient,
    ),
    1,
)


def sharpness_family(ties: bool) -> Family:
    """Family with or without ties.

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
        return [*outcomes, log_tie_parts(eta[..., 3, :], perceived, xp)] if ties else outcomes

    return Family("sharpness", PREDICTORS[: 3 + ties], log_probabilities, CLOSED_FORM)
