"""Comparisons by judges with two coins: which of two items is better, and whether they are tied.

With d the difference of the items as the judge perceives it, e1 the probability that the judge is right where the first
item is better and e2 where the second is,

    P(first) = e1 sigmoid(d) + (1 - e2) sigmoid(-d)

(Raykar et al. 2010, Journal of Machine Learning Research 11, on Bradley and Terry 1952, Biometrika 39). With ties,
P(tie) / P(no tie) = (nu / 2) cosh(d / 2)^-s, and the coins apply given no tie; s = 1 is the model of Davidson (1970,
Journal of the American Statistical Association 65). The predictors are d, logit e1, logit e2, log nu and log s.

Log likelihood of votes with two coins for each judge, and its derivatives by each cell's sums, in closed form.

With s, e1, e2 the logistic functions of the difference d and of the coins' log-odds,

    P(first) = e1 s + (1 - e2) (1 - s),    P(second) = (1 - e1) s + e2 (1 - s)

(:func:`.reliability.log_two_coin_probability`), and g = n_first / P(first) - n_second / P(second) of a cell's votes,
the slopes are

    s (1 - s) (e1 + e2 - 1) g by d,    e1 (1 - e1) s g by the first coin,    - e2 (1 - e2) (1 - s) g by the second,

with e1 + e2 - 1 computed as e1 e2 - (1 - e1) (1 - e2), which avoids cancellation for judges with constant answers.

Automatic differentiation of the terms' own formulas gives the same values, but takes much longer.

Second derivatives and information: with a, b the coins' log-odds, and the probabilities

    P = e1 s + (1 - e2) (1 - s) of the first,    1 - P of the second

(above), the derivatives of P are

    P_d = s (1 - s) (e1 + e2 - 1),    P_a = e1 (1 - e1) s,    P_b = - e2 (1 - e2) (1 - s),
    P_dd = (1 - 2 s) P_d,    P_aa = (1 - 2 e1) P_a,    P_bb = (1 - 2 e2) P_b,    P_ab = 0,
    P_da = s (1 - s) e1 (1 - e1),    P_db = s (1 - s) e2 (1 - e2).

For n_1 votes for the first and n_2 for the second, g = n_1 / P - n_2 / (1 - P), the log likelihood has the slopes g
P_u and the second derivatives g P_uv - (n_1 / P^2 + n_2 / (1 - P)^2) P_u P_v. The expected information of the n =
n_1 + n_2 answers is w P_u P_v, w = n / (P (1 - P)); its derivative along k is w (P_uk P_v + P_u P_vk - P_u P_v P_k
(1 - 2 P) / (P (1 - P))).

Ties as in :mod:`voirdire.model.family.ties`.

Sums are given as one array for each predictor; they broadcast, so that values shared by many points are stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import CellDerivatives, ClosedForm, Family
from voirdire.model.family.ties import add_pairs, tie_likelihood
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.term import Observations, log_two_coin_probability
from voirdire.model.terms.ties import log_tie_parts
from voirdire.typing import Floats

DIFFERENCE, FIRST, SECOND, TIE, TIE_SCALE = range(5)
TIE_PLACES = DIFFERENCE, TIE, TIE_SCALE  # predictors of ties
MAX_LOG_ODDS = 300.0  # bound on log-odds, so that products of two probabilities are representable
MAX_LOG_ODDS_SINGLE = 40.0  # the same in single precision


def value_and_slopes(sums: Sequence[Array], counts: Array, xp: Any = np) -> tuple[Array, list[Array]]:
    """Log likelihood of each cell, shape (..., cells), and its slopes by the sums.

    Parameters
    ----------
    sums : sequence of array, shape (..., cells)
        The difference, the log-odds of both coins and, with ties, log nu and possibly the log scale, which broadcast.
    counts : array, shape (1 or 2, 2, cells)
        Votes for first and second; ties and votes without a tie.
    xp : module
        NumPy, or the namespace of a compiler.

    Examples
    --------
    >>> value, slopes = value_and_slopes(np.zeros((3, 1)), np.array([[[2.0], [1.0]]]))
    >>> round(float(value[0]), 4), [float(slope[0]) for slope in slopes]
    (-2.0794, [0.0, 0.25, -0.25])
    """
    (s, not_s), (e1, not_e1), (e2, not_e2) = (_logistic_pair(sums[p], xp) for p in (DIFFERENCE, FIRST, SECOND))
    first = e1 * s + not_e2 * not_s
    second = not_e1 * s + e2 * not_s
    (for_first, for_second), *ties = counts
    value = xp.log(first) * for_first + xp.log(second) * for_second
    pull = for_first / first - for_second / second
    slopes = [s * not_s * (e1 * e2 - not_e1 * not_e2) * pull, e1 * not_e1 * s * pull, -e2 * not_e2 * not_s * pull]
    if ties:
        of_ties = tie_likelihood(sums, TIE_PLACES, ties[0], xp)
        value, slopes = value + of_ties.value, of_ties.add_slopes(slopes)
    return value, slopes


def _logistic_pair(x: Array, xp: Any) -> tuple[Array, Array]:
    """The logistic function of x and of -x."""
    limit = MAX_LOG_ODDS if x.dtype.itemsize > 4 else MAX_LOG_ODDS_SINGLE
    inverse = xp.exp(-xp.clip(x, -limit, limit))
    probability = 1.0 / (1.0 + inverse)
    return probability, inverse * probability


class _FirstProbability(NamedTuple):
    """P and 1 - P, and the derivatives of P."""

    first: Floats
    second: Floats
    slope: tuple[Floats, Floats, Floats]
    twice: dict[tuple[int, int], Floats]


def _first_probability(sums: Sequence[Floats], twice: bool = True) -> _FirstProbability:
    (s, not_s), (e1, not_e1), (e2, not_e2) = (_logistic_pair(sums[p], np) for p in (DIFFERENCE, FIRST, SECOND))
    variance, first_variance, second_variance = s * not_s, e1 * not_e1, e2 * not_e2
    slope = variance * (e1 * e2 - not_e1 * not_e2), first_variance * s, -second_variance * not_s
    second_derivatives = {}
    if twice:
        second_derivatives = {
            (DIFFERENCE, DIFFERENCE): (not_s - s) * slope[DIFFERENCE],
            (FIRST, FIRST): (not_e1 - e1) * slope[FIRST],
            (SECOND, SECOND): (not_e2 - e2) * slope[SECOND],
            (DIFFERENCE, FIRST): variance * first_variance,
            (DIFFERENCE, SECOND): variance * second_variance,
        }
    return _FirstProbability(e1 * s + not_e2 * not_s, not_e1 * s + e2 * not_s, slope, second_derivatives)


def log_likelihoods(sums: Sequence[Floats], counts: Floats) -> Floats:
    """Log likelihood of each cell, shape (..., cells); arguments as in :func:`value_and_slopes`.

    Examples
    --------
    >>> zero = np.zeros(1)
    >>> log_likelihoods([zero, zero, zero], np.array([[[2.0], [1.0]]])).round(4).tolist()
    [-2.0794]
    """
    (for_first, for_second), *ties = counts
    (s, not_s), (e1, not_e1), (e2, not_e2) = (_logistic_pair(sums[p], np) for p in (DIFFERENCE, FIRST, SECOND))
    if ((for_first == 0) | (for_second == 0)).all():  # with votes on one side only, half of the logarithms
        is_first = for_first > 0
        probability = np.where(is_first, e1, not_e1) * s + np.where(is_first, not_e2, e2) * not_s
        value = np.log(probability) * (for_first + for_second)
    else:
        value = np.log(e1 * s + not_e2 * not_s) * for_first + np.log(not_e1 * s + e2 * not_s) * for_second
    return np.asarray(value + tie_likelihood(sums, TIE_PLACES, ties[0]).value if ties else value)


def value_and_derivatives(sums: Sequence[Floats], counts: Floats) -> CellDerivatives:
    """Log likelihood of each cell with slopes and second derivatives; arguments as in :func:`value_and_slopes`."""
    probability = _first_probability(sums)
    (for_first, for_second), *ties = counts
    value = np.log(probability.first) * for_first + np.log(probability.second) * for_second
    pull = for_first / probability.first - for_second / probability.second
    slope = [pull * derivative for derivative in probability.slope]
    # divide by one probability at a time: the square of a small one underflows
    first_part = [np.sqrt(for_first) * derivative / probability.first for derivative in probability.slope]
    second_part = [np.sqrt(for_second) * derivative / probability.second for derivative in probability.slope]
    second = {
        (u, v): (pull * probability.twice[u, v] if (u, v) in probability.twice else 0.0)
        - first_part[u] * first_part[v]
        - second_part[u] * second_part[v]
        for u in range(TIE)
        for v in range(u, TIE)
    }
    if ties:
        of_ties = tie_likelihood(sums, TIE_PLACES, ties[0])
        value, slope = value + of_ties.value, of_ties.add_slopes(slope)
        second = add_pairs(second, of_ties.second_derivatives())
    return CellDerivatives(value, slope, second)


def expected_information(sums: Sequence[Floats], counts: Floats) -> dict[tuple[int, int], Floats]:
    """Expected information of each cell's answers by pairs u <= v of sums; arguments as in :func:`value_and_slopes`."""
    probability = _first_probability(sums, twice=False)
    (for_first, for_second), *ties = counts
    root = np.sqrt((for_first + for_second) / (probability.first * probability.second))
    scaled = [root * derivative for derivative in probability.slope]
    information = {(u, v): scaled[u] * scaled[v] for u in range(TIE) for v in range(u, TIE)}
    return add_pairs(information, tie_likelihood(sums, TIE_PLACES, ties[0]).information()) if ties else information


def information_gradient(sums: Sequence[Floats], counts: Floats, covariance: Floats) -> Floats:
    """Half the gradient, by the sums, of sum_uv C_uv W_uv, W the information of each cell.

    Shape (sums, cells); C is ``covariance``, shape (cells, sums, sums).
    """
    probability = _first_probability(sums)
    (for_first, for_second), *ties = counts
    product = probability.first * probability.second
    weight = (for_first + for_second) / product
    direction = [np.sum([covariance[:, u, v] * probability.slope[v] for v in range(TIE)], axis=0) for u in range(TIE)]
    square = np.sum([direction[u] * probability.slope[u] for u in range(TIE)], axis=0)
    gradient = []
    for k in range(TIE):
        pairs = [(u, (min(u, k), max(u, k))) for u in range(TIE)]
        curvature = np.sum(
            [direction[u] * probability.twice[pair] for u, pair in pairs if pair in probability.twice], axis=0
        )
        decrease = 0.5 * square * ((probability.second - probability.first) / product) * probability.slope[k]
        gradient.append(weight * (curvature - decrease))
    if ties:
        gradient = tie_likelihood(sums, TIE_PLACES, ties[0]).add_information_gradient(gradient, covariance)
    return np.stack(gradient)


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
