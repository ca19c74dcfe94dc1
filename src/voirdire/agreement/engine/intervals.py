"""Bootstrap intervals from the values of a statistic on the resamples.

With theta the estimate, theta* its resampled values, q their quantiles and alpha = 1 - prob:

- percentile    [q(alpha/2), q(1 - alpha/2)]
- basic         [2 theta - q(1 - alpha/2), 2 theta - q(alpha/2)]
- BCa           [q(a1), q(a2)], a_i = Phi(z0 + (z0 + z_i) / (1 - a (z0 + z_i))): z0 from the share of
                resamples below theta (ties count half), a from the jackknife of the data
- studentised   [theta - s t(1 - alpha/2), theta - s t(alpha/2)], t the quantiles of (theta* - theta) / s*

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 12-14; Davison and Hinkley, Bootstrap
Methods and their Application (1997), chapter 5. Quantiles interpolate linearly. (scipy.stats.bootstrap draws
indices and calls a function for each resample. Here one matrix product evaluates all resamples of all
statistics, see benchmarks/agree_bootstrap.py.)

Studentised intervals need the standard error on each resample. For theta = g(T) with totals T = sum w_u F_u,
the delta method gives

    se^2 = n/(n-1) sum_u w_u (L_u - mean L)^2,   L_u = F_u . grad g(T),   n = sum w_u,

with L_u the empirical influence of unit u (Davison and Hinkley 1997, section 2.7). Where only values are known
(rank correlations, plain functions), L_u comes from the jackknife of the resample: L_u = theta - theta
without one copy of u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from voirdire.agreement.engine.resampling import Method
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, Statistic
from voirdire.errors import InputError
from voirdire.settings import PROB, min_draws_for_interval

_RELATIVE_STEP = 1e-6


def standard_errors(statistic: Statistic, weights: FloatArray) -> FloatArray:
    """Compute the standard error of a statistic on each resample.

    Parameters
    ----------
    statistic : Statistic
        The resampled statistic.
    weights : float array, shape (resamples, units)
        Whole-number weights.

    Returns
    -------
    float array, shape (resamples,)
        Standard errors, NaN where undefined.

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
        influence = _leave_one_out_influence(statistic, weights)
    n = weights.sum(axis=1)
    # A unit that was not drawn has weight 0, and its influence may be undefined.
    influence = np.where(weights > 0, influence, 0.0)
    centre = np.sum(weights * influence, axis=1) / n
    squares = np.sum(weights * (influence - centre[:, None]) ** 2, axis=1)
    return np.asarray(np.sqrt(squares * n / np.maximum(n - 1, 1)))


def _kernel_gradient(statistic: CountStatistic, weights: FloatArray) -> FloatArray:
    totals = weights @ statistic.features
    value = statistic.kernel(totals)
    # Forward steps only: a total that is zero is often a count, which cannot be negative.
    step = _RELATIVE_STEP * weights.sum(axis=1)
    gradient = np.empty_like(totals)
    for place in range(totals.shape[1]):
        shifted = totals.copy()
        shifted[:, place] += step
        gradient[:, place] = (statistic.kernel(shifted) - value) / step
    return gradient


def _leave_one_out_influence(statistic: Statistic, weights: FloatArray) -> FloatArray:
    value = statistic.values(weights)
    influence = np.zeros_like(weights)
    for unit in range(weights.shape[1]):
        drawn = weights[:, unit] > 0
        if drawn.any():
            without_unit = weights[drawn]
            without_unit[:, unit] -= 1
            influence[drawn, unit] = value[drawn] - statistic.values(without_unit)
    return influence


# Share of undefined resamples above which there is no interval.
UNDEFINED_LIMIT = 0.05
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval. Its ends are None where there is none; `note` gives the reason or a warning."""

    low: float | None
    high: float | None
    note: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends, NaN where there are none."""
        return (math.nan if self.low is None else self.low, math.nan if self.high is None else self.high)


def bootstrap_interval(
    estimate: float,
    draws: FloatArray,
    prob: float = PROB,
    method: str | None = "percentile",
    *,
    jackknife: FloatArray | None = None,
    error: float | None = None,
    errors: FloatArray | None = None,
) -> Interval:
    """Compute the bootstrap interval of one statistic.

    Parameters
    ----------
    estimate : float
        Value on the data.
    draws : float array, shape (resamples,)
        Values on the resamples, NaN where undefined. Undefined values are left out and counted in the note.
        There is no interval if more than 5% are undefined, or if less than one value would lie beyond each end.
    prob : float
        Nominal coverage.
    method : {"percentile", "basic", "bca", "studentised"}
        The kind of interval.
    jackknife : float array, shape (units,)
        Values with each unit left out, for "bca".
    error, errors : float, float array of shape (resamples,)
        Standard errors of the estimate and on each resample, for "studentised".

    Returns
    -------
    Interval
        Ends and a note.

    Raises
    ------
    InputError
        If the method is not known, or its jackknife values or standard errors are missing.

    Examples
    --------
    >>> bootstrap_interval(50.0, np.arange(101.0), prob=0.5)
    Interval(low=25.0, high=75.0, note='')
    """
    if method not in get_args(Method):
        raise InputError(f"interval {method!r} is not known; give one of {', '.join(get_args(Method))}")
    if np.isnan(estimate):
        return Interval(None, None)
    if method == "studentised":
        if error is None or errors is None:
            raise InputError("a studentised interval needs standard errors: of the estimate and of each resample")
        draws = np.where(errors > 0, draws, np.nan)
    defined = draws[~np.isnan(draws)]
    undefined = len(draws) - len(defined)
    note = f"undefined in {undefined} of {len(draws)} resamples, left out" if undefined else ""
    if undefined > UNDEFINED_LIMIT * len(draws):
        return Interval(None, None, f"no interval: undefined in {undefined} of {len(draws)} resamples")
    tails = np.array([(1 - prob) / 2, (1 + prob) / 2])
    if np.ptp(defined) <= _TOLERANCE * max(1.0, abs(estimate)):
        warning = "all resamples give the same value, so the interval has no width and understates the uncertainty"
        return Interval(estimate, estimate, "; ".join(filter(None, [note, warning])))
    if len(defined) < (needed := min_draws_for_interval(prob)):
        reason = f"no interval: {len(defined):,} resamples are too few for one of {100 * prob:.10g}%, which needs "
        reason += f"{needed:,}"
        return Interval(None, None, reason)
    if method == "percentile":
        low, high = np.quantile(defined, tails)
    elif method == "basic":
        low, high = 2 * estimate - np.quantile(defined, tails[::-1])
    elif method == "bca":
        if jackknife is None:
            raise InputError("a BCa interval needs the jackknife values of the data")
        places = bca_tails(estimate, defined, jackknife, tails)
        if places is None:
            return Interval(None, None, _bca_failure_reason(jackknife))
        low, high = np.quantile(defined, places)
    else:
        assert error is not None
        assert errors is not None
        steps = (defined - estimate) / errors[~np.isnan(draws)]
        low, high = estimate - error * np.quantile(steps, tails[::-1])
    return Interval(float(low), float(high), note)


def normal_interval(estimate: float, error: float, prob: float) -> Interval:
    """Normal interval: estimate plus and minus a normal quantile times the standard error.

    For Cohen's kappa with a delta-method error, the interval is that of Fleiss, Cohen and Everitt (Psychological
    Bulletin 72, 1969).

    Examples
    --------
    >>> found = normal_interval(0.5, 0.1, 0.9)
    >>> round(found.low, 4), round(found.high, 4)
    (0.3355, 0.6645)
    """
    from scipy.special import ndtri

    if math.isnan(estimate):
        return Interval(None, None)
    if math.isnan(error):
        return Interval(None, None, "no interval in closed form: the variance is undefined")
    warning = "all units say the same, so the interval has no width and understates the uncertainty"
    half = float(ndtri((1 + prob) / 2)) * error
    return Interval(estimate - half, estimate + half, "" if error > _TOLERANCE else warning)


def wilson_ends(share: float, answers: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of a share from ``answers`` effective answers; ``quantile`` is the normal quantile.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_ends(1.0, 20.0, 1.96)]
    [0.839, 1.0]
    """
    c = quantile**2 / answers
    middle, half = share + c / 2, quantile * math.sqrt((share * (1 - share) + c / 4) / answers)
    return float((middle - half) / (1 + c)), float((middle + half) / (1 + c))


def bca_tails(estimate: float, draws: FloatArray, jackknife: FloatArray, tails: FloatArray) -> FloatArray | None:
    """Quantile levels of a BCa interval, or None where bias or acceleration is undefined.

    The acceleration is sum d^3 / (6 (sum d^2)^1.5), with d the mean of the jackknife values minus each value.

    Examples
    --------
    >>> tails = bca_tails(0.5, np.arange(101) / 100, np.array([0.4, 0.5, 0.6]), np.array([0.05, 0.95]))
    >>> tails.round(3).tolist()
    [0.05, 0.95]
    """
    from scipy.special import ndtr, ndtri

    ties = np.abs(draws - estimate) <= _TOLERANCE * max(1.0, abs(estimate))
    below = np.mean((draws < estimate) & ~ties) + ties.mean() / 2
    deviation = jackknife.mean() - jackknife
    spread = np.sum(deviation**2)
    if np.isnan(spread) or not 0 < below < 1:
        return None
    acceleration = np.sum(deviation**3) / (6 * spread**1.5) if spread > 0 else 0.0
    bias = ndtri(below)
    z = bias + ndtri(tails)
    return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def _bca_failure_reason(jackknife: FloatArray) -> str:
    if np.isnan(jackknife).any():
        return (
            "no BCa interval: the statistic is undefined when one unit is left out; "
            "a percentile interval does not need that"
        )
    return "no BCa interval: every resample lies on one side of the estimate"
