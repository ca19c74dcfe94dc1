"""Comparisons by judges with different sharpness, and with a shift to one side.

    P(first) = sigmoid(a d + b),   a > 0

(arXiv 2602.16610, BT-sigma); with ties P(tie) / P(no tie) = (nu / 2) cosh(a d / 2)^-s, and P(first) as above given no
tie. The predictors are d, log a, b, log nu and log s.

Closed form, with x = a d + b, F = sigmoid(x) and v = F (1 - F): the log likelihood of n_1 votes for the first of n has
the slope g = n_1 - n F by a d and by b, the second derivatives - n v, and the expected information n v about their sum,
with the relative derivative 1 - 2 F along it. Ties as in
:mod:`.ties`.

Families with a product as first predictor: eta = exp(s) w, where w and the log slope s are separate sums.

From the derivatives of the log likelihood by eta and the other predictors, the chain rule gives those by w and s.
With e = exp(s), eta has the slopes e by w and eta by s, and the second derivatives e by w and s and eta by s twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family, PairDerivatives
from voirdire.model.family.ties import TieLikelihood, add_pairs, tie_likelihood
from voirdire.model.family.two_coin import both_outcomes
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.term import log_chosen_probability
from voirdire.model.terms.ties import log_tie_parts
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
