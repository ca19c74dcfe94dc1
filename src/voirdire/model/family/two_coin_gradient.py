"""Log likelihood of votes with two coins a judge, and its gradient by what each cell depends on, in closed form.

With s, e1, e2 the logistic functions of the difference d and of the coins' log-odds,

    P(first) = e1 s + (1 - e2) (1 - s),    P(second) = (1 - e1) s + e2 (1 - s)

(:func:`.reliability.log_two_coin_probability`), and g = n_first / P(first) - n_second / P(second) of a cell's votes,
its slopes are

    s (1 - s) (e1 + e2 - 1) g by d,    e1 (1 - e1) s g by the first coin,    - e2 (1 - e2) (1 - s) g by the second,

e1 + e2 - 1 as e1 e2 - (1 - e1) (1 - e2), where one cannot cancel the other of judges who always say the same.

Where there are ties, P(tie) = nu / (nu + 2 cosh(d / 2)) (:func:`.ties.log_tie_parts`) = 1 / (1 + exp(u)), u =
|d| / 2 - log max(s, 1 - s) - log nu, as log 2 cosh(d / 2) = |d| / 2 + log(1 + exp(-|d|)). With z = n_tied - n P(tie),
n = n_tied + n_untied, the slopes are z by log nu and - z (s - (1 - s)) / 2 more by d.
It is what automatic differentiation of the terms' own formulas gives, in a fraction of its time, compiled or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.model.terms.arrays import Array

DIFFERENCE, FIRST, SECOND, TIE = range(4)
FURTHEST = 300.0  # log-odds, beyond which all are taken alike: products of two chances are numbers still
FURTHEST_IN_SINGLE = 40.0  # of numbers in single precision


def log_likelihood(sums: Array, counts: Array, xp: Any = np) -> tuple[Array, Array]:
    """Log likelihood of each cell, shape (..., cells), and its gradient by the sums.

    Parameters
    ----------
    sums : array, shape (..., 3 or 4, cells)
        The difference, the log-odds of both coins and, where there are ties, log nu of each cell.
    counts : array, shape (1 or 2, 2, cells)
        Votes for first and second; ties and votes that were none.
    xp : module
        NumPy, or what compiles.

    Examples
    --------
    >>> value, slope = log_likelihood(np.zeros((3, 1)), np.array([[[2.0], [1.0]]]))
    >>> round(float(value[0]), 4), slope.ravel().tolist()
    (-2.0794, [0.0, 0.25, -0.25])
    """
    (s, not_s), (e1, not_e1), (e2, not_e2) = (
        _logistic_pair(sums[..., each, :], xp) for each in (DIFFERENCE, FIRST, SECOND)
    )
    first = e1 * s + not_e2 * not_s
    second = not_e1 * s + e2 * not_s
    (for_first, for_second), *ties = counts
    value = xp.log(first) * for_first + xp.log(second) * for_second
    pull = for_first / first - for_second / second
    slopes = [
        s * not_s * (e1 * e2 - not_e1 * not_e2) * pull,
        e1 * not_e1 * s * pull,
        -e2 * not_e2 * not_s * pull,
    ]
    if ties:
        ((tied, untied),) = ties
        u = 0.5 * xp.abs(sums[..., DIFFERENCE, :]) - xp.log(xp.maximum(s, not_s)) - sums[..., TIE, :]
        small = xp.exp(-xp.abs(u))
        log_tie = -xp.log1p(small) - xp.maximum(u, 0.0)
        value = value + log_tie * tied + (log_tie + u) * untied
        surplus = tied - (tied + untied) * xp.where(u > 0, small, 1.0) / (1.0 + small)
        slopes[DIFFERENCE] = slopes[DIFFERENCE] - 0.5 * (s - not_s) * surplus
        slopes.append(surplus)
    return value, xp.stack(slopes, axis=-2)


def _logistic_pair(x: Array, xp: Any) -> tuple[Array, Array]:
    """The logistic function of x and of -x."""
    furthest = FURTHEST if x.dtype.itemsize > 4 else FURTHEST_IN_SINGLE
    inverse = xp.exp(-xp.clip(x, -furthest, furthest))
    chance = 1.0 / (1.0 + inverse)
    return chance, inverse * chance
