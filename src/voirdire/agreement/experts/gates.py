"""Acceptance gates and A/B tests: pass rates, and comparisons of two groups.

- one pass rate: Wilson's interval (Journal of the American Statistical Association 22, 1927)
- two pass rates: Newcombe's hybrid score interval of the difference (Statistics in Medicine 17, 1998,
  873-890, method 10), the pooled z test, and the relative lift with its counterpart for ratios, MOVER-R
  (Newcombe, Statistical Methods in Medical Research 25, 2016)
- two means: Welch's t interval and test, and the relative lift with Fieller's interval (Journal of the Royal
  Statistical Society B 16, 1954), which is undefined where the base may be zero

MAREval reports pass rates of explanations (Table 4) and an online A/B test (Table 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import unknown_names
from voirdire.agreement.coefficients.rows import Row, result_frame
from voirdire.agreement.engine.resampling import Resampling
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import InputError, raise_problems
from voirdire.settings import PROB
from voirdire.tables.encode import level_positions
from voirdire.tables.scores import read_scores

if TYPE_CHECKING:
    import pandas as pd

ALL_CRITERIA = "all criteria"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two groups.

    Attributes
    ----------
    a, b : float
        Pass rates or means of the two groups.
    difference, low, high : float
        a - b and its interval.
    lift, lift_low, lift_high : float
        (a - b) / b and its interval; NaN where undefined.
    p_value : float
        Two-sided p-value.
    note : str
        Reason for undefined values; empty otherwise.
    """

    a: float
    b: float
    difference: float
    low: float = math.nan
    high: float = math.nan
    lift: float = math.nan
    lift_low: float = math.nan
    lift_high: float = math.nan
    p_value: float = math.nan
    note: str = ""

    def with_lift(self, var_a: float, var_b: float, cov: float = 0.0) -> Comparison:
        """Add the lift of means and Fieller's interval, from their variances and covariance times q^2.

        The interval holds the ratios r with (a - r b)^2 <= var_a - 2 r cov + r^2 var_b.
        """
        lift = self.difference / self.b if self.b else math.nan
        base, product = self.b**2 - var_b, self.a * self.b - cov
        if base <= 0:
            return replace(self, lift=lift, note="lift has no interval: the second mean may be zero")
        root = max(product**2 - base * (self.a**2 - var_a), 0.0) ** 0.5
        low, high = (float((product + end) / base) - 1 for end in (-root, root))
        return replace(self, lift=lift, lift_low=low, lift_high=high)

    def with_ratio(self, a: tuple[float, float], b: tuple[float, float], phi: float = 0.0) -> Comparison:
        """Add the lift of pass rates and its MOVER-R interval, from the rates' intervals and correlation."""
        if not (self.a and self.b):
            reason = "lift undefined: a group without passes"
            return replace(self, note="; ".join(filter(None, [self.note, reason])))
        low, high = ratio_interval((self.a, *a), (self.b, *b), phi)
        return replace(self, lift=self.a / self.b - 1, lift_low=low - 1, lift_high=high - 1)


def gate(table: object, thresholds: Mapping[str, float], *, prob: float = PROB) -> pd.DataFrame:
    """Estimate pass rates of items at an acceptance gate: each criterion's score must reach its threshold.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores with a criterion column; repeated scores are averaged first.
    thresholds : mapping of str to float
        The least score that passes, by criterion. Other criteria are not part of the gate.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        Rows of measure ``pass_rate`` per judge and criterion and, with several criteria, for all of them
        together (criterion "all criteria": items that have all scores), with Wilson intervals.

    Raises
    ------
    InputError
        If a criterion is not in the table, or none is named.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "item": [1, 2, 3, 4], "criterion": "safe", "score": [1, 1, 1, 0]})
    >>> gate(table, {"safe": 1})[["value", "low", "high"]].round(3).values.tolist()
    [[0.75, 0.356, 0.942]]
    """
    Resampling(prob=prob)
    scores = read_scores(table)
    problems = threshold_problems(thresholds, scores.criteria)
    if not thresholds:
        problems.append("thresholds is empty; give the least score that passes, by criterion")
    if scores.phase is not None:
        problems.append("a gate would mix phases; keep the rows of one phase and leave the column out")
    raise_problems(problems)
    matched = {ratings.criterion or scores.criteria[0]: ratings for ratings in ratings_by_criterion(scores)}
    units = sorted({unit for name in thresholds for unit in matched[name].units})
    rows: list[Row] = []
    for column, judge in enumerate(scores.judges):
        passed = np.full((len(units), len(thresholds)), np.nan)
        for number, (name, threshold) in enumerate(thresholds.items()):
            judge_scores = matched[name].numeric_answers()[:, column]
            unit_rows = level_positions(matched[name].units, units)
            passed[unit_rows, number] = np.where(np.isnan(judge_scores), np.nan, judge_scores >= threshold)
            rows.append(_pass_rate_row(judge, name, passed[:, number], prob))
        if len(thresholds) > 1:
            rows.append(_pass_rate_row(judge, ALL_CRITERIA, passed.min(axis=1), prob))
    return result_frame(rows)


def threshold_problems(thresholds: Mapping[str, float], criteria: Sequence[str]) -> list[str]:
    """List a problem for each criterion that is not in the table, and each threshold that is not finite.

    Examples
    --------
    >>> threshold_problems({"safe": float("nan"), "true": 4}, ["safe", "true"])
    ["the threshold of 'safe' is nan; give the least score that passes"]
    """
    return unknown_names("criterion", thresholds, criteria, "criteria") + [
        f"the threshold of {name!r} is {threshold}; give the least score that passes"
        for name, threshold in thresholds.items()
        if not math.isfinite(threshold)
    ]


def _pass_rate_row(judge: str, criterion: str, passed: FloatArray, prob: float) -> Row:
    known = passed[~np.isnan(passed)]
    n = len(known)
    about = ("pass_rate", (judge,), criterion, None)
    if n == 0:
        return Row(*about, math.nan, math.nan, math.nan, 0, f"undefined: {judge!r} scored no item")
    return Row(*about, float(known.mean()), *pass_interval(int(known.sum()), n, prob), n)


def pass_interval(passes: int, n: int, prob: float = PROB) -> tuple[float, float]:
    """Wilson's interval of a pass rate.

    Raises
    ------
    InputError
        If there are no items or more passes than items.

    Examples
    --------
    >>> low, high = pass_interval(45, 50)
    >>> round(low, 3), round(high, 3)
    (0.808, 0.95)
    """
    from statsmodels.stats.proportion import proportion_confint

    _check_counts(passes, n)
    Resampling(prob=prob)
    low, high = proportion_confint(passes, n, alpha=1 - prob, method="wilson")
    # exact ends instead of rounding error
    return float(low) if passes else 0.0, float(high) if passes < n else 1.0


def compare_pass_rates(passes_a: int, n_a: int, passes_b: int, n_b: int, *, prob: float = PROB) -> Comparison:
    """Compare the pass rates of two independent groups of items.

    Parameters
    ----------
    passes_a, n_a, passes_b, n_b : int
        Numbers of passes and items of each group.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    Comparison
        Newcombe's interval of the difference, the pooled z test, and the MOVER-R interval of the lift.

    Raises
    ------
    InputError
        If a group is empty, or has more passes than items.

    Examples
    --------
    >>> found = compare_pass_rates(90, 100, 70, 100)
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3), round(found.p_value, 5)
    (0.2, 0.108, 0.289, 0.00041)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

    _check_counts(passes_a, n_a)
    _check_counts(passes_b, n_b)
    Resampling(prob=prob)
    a, b = passes_a / n_a, passes_b / n_b
    counts = (passes_a, n_a, passes_b, n_b)
    low, high = confint_proportions_2indep(*counts, method="newcomb", compare="diff", alpha=1 - prob)
    p, note = math.nan, "p_value undefined: all items pass, or all fail"
    if 0 < passes_a + passes_b < n_a + n_b:
        p, note = float(proportions_ztest([passes_a, passes_b], [n_a, n_b])[1]), ""
    comparison = Comparison(a, b, a - b, float(low), float(high), p_value=p, note=note)
    return comparison.with_ratio(pass_interval(passes_a, n_a, prob), pass_interval(passes_b, n_b, prob))


def ratio_interval(
    a: tuple[float, float, float], b: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """MOVER-R: the interval of a ratio a / b from the intervals of both.

    Its ends are the ratios r with (a - r b)^2 = x^2 - 2 correlation x r y + r^2 y^2, where x and y are the distances of
    a and b from opposite ends of their intervals.

    Parameters
    ----------
    a, b : tuple of float
        Each value with the ends of its interval, above 0.
    correlation : float
        Correlation of the two estimates; 0 for independent groups.

    Examples
    --------
    >>> low, high = ratio_interval((0.6, 0.5, 0.7), (0.5, 0.4, 0.6))
    >>> round(low, 3), round(high, 3)
    (0.927, 1.573)
    """

    def interval_end(end_a: float, end_b: float, sign: int) -> float:
        product = a[0] * b[0] - correlation * (a[0] - end_a) * (end_b - b[0])
        denominator = end_b * (2 * b[0] - end_b)
        root = product**2 - end_a * (2 * a[0] - end_a) * denominator
        return float((product + sign * max(root, 0.0) ** 0.5) / denominator)

    return interval_end(a[1], b[2], -1), interval_end(a[2], b[1], 1)


def compare_means(a: ArrayLike, b: ArrayLike, *, prob: float = PROB) -> Comparison:
    """Compare the means of two independent groups, such as treatment and control of an A/B test.

    Parameters
    ----------
    a, b : array-like of numbers
        The two groups' values, at least two each.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    Comparison
        Welch's interval and test, and Fieller's interval of the relative lift.

    Raises
    ------
    InputError
        If a group has fewer than two values, or values that are not finite numbers.

    Examples
    --------
    >>> found = compare_means([5.0, 7.0, 9.0], [4.0, 5.0, 6.0])
    >>> round(found.difference, 3), round(found.p_value, 3), round(found.lift, 3)
    (2.0, 0.221, 0.4)
    """
    from scipy.stats import t

    Resampling(prob=prob)
    x, y = finite_numbers(a, "a"), finite_numbers(b, "b")
    mean_a, mean_b = float(x.mean()), float(y.mean())
    var_a, var_b = (sample_deviation(group, group) ** 2 / len(group) for group in (x, y))
    comparison = Comparison(mean_a, mean_b, mean_a - mean_b)
    if var_a + var_b == 0:
        return replace(comparison, note="interval and p_value undefined: neither group varies")
    error, variance = math.sqrt(var_a + var_b), var_a + var_b
    freedom = 1 / ((var_a / variance) ** 2 / (len(x) - 1) + (var_b / variance) ** 2 / (len(y) - 1))
    quantile = float(t.ppf((1 + prob) / 2, freedom))
    ends = (comparison.difference - quantile * error, comparison.difference + quantile * error)
    p_value = float(2 * t.sf(abs(comparison.difference) / error, freedom))
    comparison = replace(comparison, low=ends[0], high=ends[1], p_value=p_value)
    return comparison.with_lift(quantile**2 * var_a, quantile**2 * var_b)


def _check_counts(passes: int, n: int) -> None:
    if n < 1 or not 0 <= passes <= n:
        raise InputError(
            f"{passes} passes of {n} items make no rate; give counts with 0 <= passes <= items and items > 0"
        )


def finite_numbers(values: ArrayLike, name: str) -> FloatArray:
    """Convert the values of a group to numbers.

    Raises
    ------
    InputError
        If there are fewer than two values, or a value is not a finite number.

    Examples
    --------
    >>> finite_numbers([1, 2], "a").tolist()
    [1.0, 2.0]
    """
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds something that is not a number") from None
    if numbers.ndim != 1 or len(numbers) < 2 or not np.isfinite(numbers).all():
        finite = int(np.isfinite(numbers).sum())
        raise InputError(f"{name} must be two or more finite numbers; {finite} of shape {numbers.shape} are finite")
    return numbers


def sample_deviation(values: FloatArray, reference: FloatArray) -> float:
    """Standard deviation of values; 0 where it is only rounding error of numbers as large as ``reference``.

    Examples
    --------
    >>> sample_deviation(np.array([0.1, 0.1, 0.1]), np.array([0.1])), sample_deviation(np.array([1.0, 3.0]), np.ones(1))
    (0.0, 1.4142135623730951)
    """
    deviation = float(values.std(ddof=1))
    return deviation if deviation > 1e-12 * np.abs(reference).max() else 0.0
