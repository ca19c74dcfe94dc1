"""Standard errors of a statistic on each resample, for studentised intervals.

For theta = g(T) with totals T = sum w_u F_u, the delta method gives

    se^2 = n/(n-1) sum_u w_u (L_u - mean L)^2,   L_u = F_u . grad g(T),   n = sum w_u,

L being the empirical influence of unit u (Davison and Hinkley 1997, section 2.7). Where only values are known
(rank correlations, plain functions), L_u comes from the jackknife of the resample: L_u = theta - theta
without one copy of u.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, Statistic

_STEP = 1e-6


def standard_errors(statistic: Statistic, weights: FloatArray) -> FloatArray:
    """Standard error on each resample.

    Parameters
    ----------
    statistic : Statistic
        What is resampled.
    weights : float array, shape (resamples, units)
        Whole-number weights.

    Returns
    -------
    float array, shape (resamples,)
        NaN where undefined.

    Examples
    --------
    The standard error of a mean:

    >>> mean = CountStatistic(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 7.0]]), lambda t: t[..., 1] / t[..., 0])
    >>> bool(np.isclose(standard_errors(mean, np.ones((1, 3)))[0], np.std([2, 3, 7], ddof=1) / 3**0.5))
    True
    """
    if isinstance(statistic, CountStatistic):
        influence = _kernel_gradient(statistic, weights) @ statistic.features.T
    else:
        influence = _leave_out_values(statistic, weights)
    n = weights.sum(axis=1)
    # A unit that was not drawn has weight 0, and its influence may be undefined.
    influence = np.where(weights > 0, influence, 0.0)
    centre = np.sum(weights * influence, axis=1) / n
    squares = np.sum(weights * (influence - centre[:, None]) ** 2, axis=1)
    errors: FloatArray = np.sqrt(squares * n / np.maximum(n - 1, 1))
    return errors


def _kernel_gradient(statistic: CountStatistic, weights: FloatArray) -> FloatArray:
    totals = weights @ statistic.features
    here = statistic.kernel(totals)
    # Forward steps only: a total that is zero is often a count, which cannot be negative.
    step = _STEP * weights.sum(axis=1)
    gradient = np.empty_like(totals)
    for place in range(totals.shape[1]):
        moved = totals.copy()
        moved[:, place] += step
        gradient[:, place] = (statistic.kernel(moved) - here) / step
    return gradient


def _leave_out_values(statistic: Statistic, weights: FloatArray) -> FloatArray:
    here = statistic.values(weights)
    influence = np.zeros_like(weights)
    for unit in range(weights.shape[1]):
        drawn = weights[:, unit] > 0
        if drawn.any():
            fewer = weights[drawn]
            fewer[:, unit] -= 1
            influence[drawn, unit] = here[drawn] - statistic.values(fewer)
    return influence
