"""Comparison of two systems on the same units: paired means and paired pass rates.

With d_u = a_u - b_u the differences of n units, d their mean and s their standard deviation:

- two means: d +- t s / sqrt(n) with n - 1 degrees of freedom, the paired t test, and the relative lift with Fieller's
  interval (Journal of the Royal Statistical Society B 16, 1954) for correlated means
- two pass rates: Newcombe's interval of a paired difference (Statistics in Medicine 17, 1998, 2635-2650, method 10).
  It is the interval of :mod:`.gates` with the correlation of the two rates; likewise for the lift
- for answers with two values, such as 0 and 1, the p-value of McNemar's exact test (Psychometrika 12, 1947): under the
  null hypothesis, each unit on which the two differ is as likely to favour a as b
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.experts.gates import Comparison, finite_numbers, pass_interval, sample_deviation
from voirdire.errors import InputError
from voirdire.settings import PROB


def compare_paired_means(a: ArrayLike, b: ArrayLike, *, prob: float = PROB) -> Comparison:
    """Compare the means of two systems on the same units.

    Parameters
    ----------
    a, b : array-like of numbers, shape (units,)
        Scores of each system on each unit, at least two units.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    Comparison
        The interval of the paired t test, Fieller's interval of the lift, and the p-value of the paired t test, or of
        McNemar's exact test where the scores have two values.

    Raises
    ------
    InputError
        If there are fewer than two units, different numbers of values, or values that are not finite numbers.

    Examples
    --------
    >>> found = compare_paired_means([5.0, 7.0, 9.0], [4.0, 5.0, 8.0])
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3), round(found.p_value, 3)
    (1.333, 0.36, 2.307, 0.057)
    """
    from scipy.stats import t

    Resampling(prob=prob)
    x, y = finite_numbers(a, "a"), finite_numbers(b, "b")
    if len(x) != len(y):
        raise InputError(f"a has {len(x)} values and b has {len(y)}; paired ones are as many, unit by unit")
    n, d = len(x), x - y
    error = sample_deviation(d, np.concatenate([x, y])) / n**0.5
    comparison = Comparison(float(x.mean()), float(y.mean()), float(d.mean()))
    if len(np.unique(np.concatenate([x, y]))) <= 2:
        comparison = replace(comparison, p_value=mcnemar_p(int((d > 0).sum()), int((d < 0).sum())))
    elif error > 0:
        comparison = replace(comparison, p_value=float(2 * t.sf(abs(comparison.difference) / error, n - 1)))
    if error == 0:
        lift = comparison.difference / comparison.b if comparison.b else math.nan
        return replace(comparison, lift=lift, note="interval undefined: the difference is the same throughout")
    quantile = float(t.ppf((1 + prob) / 2, n - 1))
    comparison = replace(
        comparison, low=comparison.difference - quantile * error, high=comparison.difference + quantile * error
    )
    (var_a, cov), (_, var_b) = np.cov(x, y) * quantile**2 / n
    return comparison.with_lift(float(var_a), float(var_b), float(cov))


def compare_paired_pass_rates(both: int, only_a: int, only_b: int, neither: int, *, prob: float = PROB) -> Comparison:
    """Compare the pass rates of two systems on the same units.

    Parameters
    ----------
    both, only_a, only_b, neither : int
        Numbers of units passed by both, by a alone, by b alone, and by neither.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    Comparison
        Newcombe's interval of the paired difference, McNemar's exact p-value, and the MOVER-R interval of the lift.

    Raises
    ------
    InputError
        If a number is negative, or all are 0.

    Examples
    --------
    >>> found = compare_paired_pass_rates(36, 12, 2, 0, prob=0.95)
    >>> round(found.difference, 3), round(found.low, 4), round(found.high, 4), round(found.p_value, 4)
    (0.2, 0.0569, 0.3404, 0.0129)
    """
    counts = (both, only_a, only_b, neither)
    n = sum(counts)
    if min(counts) < 0 or n < 1:
        raise InputError(f"{counts} are no numbers of units; give how many pass both, one alone, and neither")
    Resampling(prob=prob)
    a, b, p = (both + only_a) / n, (both + only_b) / n, mcnemar_p(only_a, only_b)
    interval_a, interval_b = (pass_interval(passes, n, prob) for passes in (both + only_a, both + only_b))
    phi = _outcome_correlation(*counts)
    error_below = _combined_error(a - interval_a[0], interval_b[1] - b, phi)
    error_above = _combined_error(interval_a[1] - a, b - interval_b[0], phi)
    comparison = Comparison(a, b, a - b, a - b - error_below, a - b + error_above, p_value=p)
    return comparison.with_ratio(interval_a, interval_b, phi)


def mcnemar_p(wins: int, losses: int) -> float:
    """Two-sided exact p-value from the numbers of units in favour of each side; 1 where there is none.

    Examples
    --------
    >>> round(mcnemar_p(10, 0), 5), mcnemar_p(3, 3), mcnemar_p(0, 0)
    (0.00195, 1.0, 1.0)
    """
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _outcome_correlation(both: int, only_a: int, only_b: int, neither: int) -> float:
    """Correlation of two outcomes, with a continuity correction of n / 2 where positive; 0 where undefined."""
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if margins == 0:
        return 0.0
    excess: float = both * neither - only_a * only_b
    if excess > 0:
        excess = max(excess - (both + only_a + only_b + neither) / 2, 0.0)
    return float(excess / margins**0.5)


def _combined_error(error_a: float, error_b: float, phi: float) -> float:
    """Error of a difference from the errors of two correlated values."""
    return math.sqrt(max(error_a**2 - 2 * phi * error_a * error_b + error_b**2, 0.0))
