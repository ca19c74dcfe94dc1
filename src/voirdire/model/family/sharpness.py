"""Comparisons by judges who perceive differences more or less sharply, and shifted to one side.

    P(first) = sigmoid(a d + b),   a > 0

(arXiv 2602.16610, BT-sigma); where there are ties P(tie) = nu / (nu + 2 cosh(a d / 2)), of the rest P(first) as above.
The predictors are d, log a, b and log nu.

In closed form, by x = a d + b, F = sigmoid(x) and v = F (1 - F): the log likelihood of n_1 votes for the first of n has
the slope g = n_1 - n F by a d and by b, the second derivatives - n v, and on average says n v of their sum, which
changes along it by 1 - 2 F of itself. Ties as in :mod:`.two_coin_gradient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.family.family import ClosedForm, Curved, Family, Pairs
from voirdire.model.family.sloped import with_slope
from voirdire.model.family.two_coin import both_outcomes
from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.reliability import log_chosen_probability
from voirdire.model.terms.ties import log_tie_parts
from voirdire.typing import Floats

PREDICTORS = ("difference", "log sharpness", "shift", "tie propensity")

SEEN, SHIFT, TIE = range(3)  # predictors by a d
PAIRS = (SEEN, SEEN), (SEEN, SHIFT), (SHIFT, SHIFT)


class _Votes(NamedTuple):
    """Of each cell: value and slopes; n v and 1 - 2 F; and of ties z, q, 1 - 2 r, h, or none."""

    value: Array
    slopes: list[Array]
    spread: Array
    skew: Array
    ties: tuple[Array, Array, Array, Array] | None


def _votes(sums: Sequence[Array], counts: Any, xp: Any = np) -> _Votes:
    (for_first, for_second), *ties = counts
    x = sums[SEEN] + sums[SHIFT]
    log_first, log_second = log_sigmoid(x, xp), log_sigmoid(-x, xp)
    first, second = xp.exp(log_first), xp.exp(log_second)
    value = for_first * log_first + for_second * log_second
    pull = for_first * second - for_second * first
    spread = (for_first + for_second) * first * second
    if not ties:
        return _Votes(value, [pull, pull], spread, second - first, None)
    ((tied, untied),) = ties
    log_tie, log_none = log_tie_parts(sums[TIE], sums[SEEN], xp)
    r, none, half = xp.exp(log_tie), xp.exp(log_none), 0.5 * xp.tanh(0.5 * sums[SEEN])
    surplus = tied * none - untied * r
    value = value + tied * log_tie + untied * log_none
    more = surplus, (tied + untied) * r * none, none - r, half
    return _Votes(value, [pull - half * surplus, pull, surplus], spread, second - first, more)


def _both(sums: Any, counts: Any, xp: Any) -> tuple[Any, Any]:
    found = _votes([sums[..., p, :] for p in range(sums.shape[-2])], counts, xp)
    return found.value, xp.stack(found.slopes, axis=-2)


def _curved(sums: Sequence[Floats], counts: Any) -> Curved:
    found = _votes(sums, counts)
    second: Pairs = dict.fromkeys(PAIRS, np.asarray(-found.spread))
    if found.ties is not None:
        surplus, q, _, half = found.ties
        second[SEEN, SEEN] = second[SEEN, SEEN] - half**2 * q - (0.25 - half**2) * surplus
        second |= {(SEEN, TIE): half * q, (TIE, TIE): -q}
    return Curved(found.value, found.slopes, second)


def _information(sums: Sequence[Floats], counts: Any) -> Pairs:
    found = _votes(sums, counts)
    told: Pairs = dict.fromkeys(PAIRS, np.asarray(found.spread))
    if found.ties is not None:
        _, q, _, half = found.ties
        told |= {(SEEN, SEEN): told[SEEN, SEEN] + half**2 * q, (SEEN, TIE): -half * q, (TIE, TIE): q}
    return told


def _bend(sums: Sequence[Floats], counts: Any, covariance: Floats) -> Floats:
    found, c = _votes(sums, counts), np.moveaxis(covariance, 0, -1)
    along = 0.5 * found.spread * found.skew * (c[SEEN, SEEN] + 2.0 * c[SEEN, SHIFT] + c[SHIFT, SHIFT])
    if found.ties is None:
        return np.array([along, along])
    _, q, skew, half = found.ties
    by_tie = 0.5 * q * skew * (c[TIE, TIE] - 2.0 * half * c[SEEN, TIE] + half**2 * c[SEEN, SEEN])
    turned = q * (0.25 - half**2) * (half * c[SEEN, SEEN] - c[SEEN, TIE])
    return np.array([along - half * by_tie + turned, along, by_tie])


CLOSED_FORM = with_slope(
    ClosedForm(
        _both,
        lambda sums, counts: np.asarray(_votes(sums, counts).value),
        lambda sums, counts: _votes(sums, counts).slopes,
        _curved,
        _information,
        _bend,
    ),
    1,
)


def sharpness_family(ties: bool) -> Family:
    """The family, with or without ties.

    Examples
    --------
    >>> import numpy as np
    >>> (first, second), = sharpness_family(ties=False).log_probabilities(np.array([[1.0], [np.log(2.0)], [0.5]]), np)
    >>> float(np.exp(first[0]).round(3)), float(np.exp(second[0]).round(3))
    (0.924, 0.076)
    """

    def log_probabilities(eta: Any, xp: Any) -> list[tuple[Any, ...]]:
        seen = xp.exp(eta[..., 1, :]) * eta[..., 0, :]
        cells = seen.shape[-1]
        decided = log_chosen_probability(seen + eta[..., 2, :], both_outcomes(cells), xp)
        found = [(decided[..., :cells], decided[..., cells:])]
        return [*found, log_tie_parts(eta[..., 3, :], seen, xp)] if ties else found

    return Family("sharpness", PREDICTORS[: 3 + ties], log_probabilities, CLOSED_FORM)
