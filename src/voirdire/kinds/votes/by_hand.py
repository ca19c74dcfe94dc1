"""Log likelihood of votes with two coins a judge, and its gradient by what each cell depends on, in closed form.

With s, e1, e2 the logistic functions of the difference d and of the coins' log-odds,

    P(first) = e1 s + (1 - e2) (1 - s),    P(second) = (1 - e1) s + e2 (1 - s)

(:func:`.reliability.flipped`), and g = n_first / P(first) - n_second / P(second) of a cell's votes, its slopes are

    s (1 - s) (e1 + e2 - 1) g by d,    e1 (1 - e1) s g by the first coin,    - e2 (1 - e2) (1 - s) g by the second,

e1 + e2 - 1 as e1 e2 - (1 - e1) (1 - e2), where one cannot cancel the other of judges who always say the same.

Where there are ties, P(tie) = nu / (nu + 2 cosh(d / 2)) (:func:`.ties.log_tie_parts`): n_tied - n P(tie) by log nu, and
(n_untied - n P(no tie)) tanh(d / 2) / 2 more by d, n = n_tied + n_untied.
It is what automatic differentiation of the terms' own formulas gives, in a fifth of its time.
"""

from __future__ import annotations

import numpy as np

from voirdire.typing import Floats

DIFFERENCE, FIRST, SECOND, TIE = range(4)
FURTHEST = 300.0  # log-odds, beyond which all are taken alike: products of two chances are numbers still


def log_likelihood(sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Log likelihood, shape (...), and its gradient by the sums.

    Parameters
    ----------
    sums : array, shape (..., 3 or 4, cells)
        The difference, the log-odds of both coins and, where there are ties, log nu of each cell.
    counts : array, shape (1 or 2, 2, cells)
        Votes for first and second; ties and votes that were none.

    Examples
    --------
    >>> value, slope = log_likelihood(np.zeros((3, 1)), np.array([[[2.0], [1.0]]]))
    >>> round(float(value), 4), slope.ravel().tolist()
    (-2.0794, [0.0, 0.25, -0.25])
    """
    clipped = np.clip(sums[..., :TIE, :], -FURTHEST, FURTHEST)
    inverse = np.exp(-clipped)
    chance = 1.0 / (1.0 + inverse)
    other = inverse * chance
    (s, e1, e2), (not_s, not_e1, not_e2) = (np.moveaxis(part, -2, 0) for part in (chance, other))
    first = e1 * s + not_e2 * not_s
    second = not_e1 * s + e2 * not_s
    (for_first, for_second), *ties = counts
    value = np.log(first) @ for_first + np.log(second) @ for_second
    pull = for_first / first - for_second / second
    slope = np.empty_like(sums)
    slope[..., DIFFERENCE, :] = s * not_s * (e1 * e2 - not_e1 * not_e2) * pull
    slope[..., FIRST, :] = e1 * not_e1 * s * pull
    slope[..., SECOND, :] = -e2 * not_e2 * not_s * pull
    if ties:
        ((tied, untied),) = ties
        half = 0.5 * np.abs(sums[..., DIFFERENCE, :])
        decided = half + np.log1p(np.exp(-2.0 * half))
        total = np.logaddexp(sums[..., TIE, :], decided)
        log_tie, log_none = sums[..., TIE, :] - total, decided - total
        value = value + log_tie @ tied + log_none @ untied
        slope[..., TIE, :] = tied - (tied + untied) * np.exp(log_tie)
        left = untied - (tied + untied) * np.exp(log_none)
        slope[..., DIFFERENCE, :] += 0.5 * np.tanh(0.5 * sums[..., DIFFERENCE, :]) * left
    return value, slope
