"""Statistics as functions of resampling weights: one matrix product evaluates thousands of resamples.

A resample of n units is a vector of counts w (how often each unit was drawn, sum w = n). Most agreement
statistics depend on the data only through totals of features of the units,

    theta(w) = g(T),   T = sum_u w_u F_u,

For all resamples at once T = W F, with W of shape (resamples, units) and F of shape (units, p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Kernel: TypeAlias = Callable[[FloatArray], FloatArray]

# A difference of two totals below this share of their size is rounding error.
_ROUNDING = 1e-12
# OpenBLAS multiplies up to this many numbers in the calling thread.
_SINGLE_THREAD_LIMIT = 2**18


class Statistic(Protocol):
    """Statistic that can be resampled: it has a value under any weights of its units."""

    @property
    def row_size(self) -> int:
        """Count of numbers that one resample needs while its value is computed."""
        ...

    @property
    def support(self) -> NDArray[np.bool_]:
        """True for units that the statistic uses; shape (units,)."""
        ...

    def values(self, weights: FloatArray) -> FloatArray:
        """Values under weights of shape (resamples, units), shape (resamples,); NaN where undefined."""
        ...


@dataclass(frozen=True, eq=False)
class CountStatistic:
    """A statistic that is a function of weighted totals of features.

    Parameters
    ----------
    features : float array, shape (units, p)
        Contribution of each unit to the totals.
    kernel : callable
        Maps totals of shape (..., p) to values of shape (...), NaN where the statistic is undefined.

    Examples
    --------
    The mean of three numbers, and of the resample that holds the last of them three times:

    >>> mean = CountStatistic(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 7.0]]), lambda t: t[..., 1] / t[..., 0])
    >>> mean.values(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 3.0]])).tolist()
    [4.0, 7.0]
    """

    features: FloatArray
    kernel: Kernel

    @property
    def row_size(self) -> int:
        """The number of features."""
        return int(self.features.shape[1])

    def values(self, weights: FloatArray) -> FloatArray:
        """Values under weights of shape (resamples, units)."""
        return self.kernel(_blocked_product(weights, self.features))

    @property
    def support(self) -> NDArray[np.bool_]:
        """True for units that contribute something; shape (units,)."""
        return np.asarray(np.any(self.features != 0, axis=1))

    def merge(self, groups: IntArray) -> CountStatistic:
        """Add up the features of each group of units, groups being coded 0, 1, ... without gaps."""
        merged = np.zeros((int(groups.max()) + 1, self.features.shape[1]))
        np.add.at(merged, groups, self.features)
        return CountStatistic(merged, self.kernel)


@dataclass(frozen=True, eq=False)
class PanelStatistic:
    """A statistic of a panel whose judges can be resampled, too.

    Features are functions of weights v of the judges. A judge drawn twice is never compared with itself:
    the pair (j, k) weighs v_j v_k for j != k only, so that copies do not count as agreement.

    Parameters
    ----------
    judges : int
        The number of judges.
    unit_features : callable
        Maps judge weights of shape (r, judges) to features of shape (r, units, p).
    kernel : callable
        As in `CountStatistic`.
    work : int
        Count of numbers needed to compute a feature; it keeps chunks small.

    Examples
    --------
    One unit, scored 1 and 5 by two judges; then with the first judge drawn twice:

    >>> scores = np.array([[1.0], [5.0]])
    >>> mean = PanelStatistic(
    ...     2, lambda v: np.stack([v @ np.ones((2, 1)), v @ scores], axis=-1), lambda t: t[..., 1] / t[..., 0]
    ... )
    >>> mean.fixed().values(np.ones((1, 1))).tolist()
    [3.0]
    >>> mean.two_way(np.ones((1, 1)), np.array([[2.0, 0.0]])).tolist()
    [1.0]
    """

    judges: int
    unit_features: Callable[[FloatArray], FloatArray]
    kernel: Kernel
    work: int = 1

    def fixed(self) -> CountStatistic:
        """The same statistic with every judge taken once."""
        return CountStatistic(self.unit_features(np.ones((1, self.judges)))[0], self.kernel)

    @property
    def row_size(self) -> int:
        """The number of features of all units together, times `work`."""
        return int(self.unit_features(np.ones((1, self.judges))).size) * self.work

    def two_way(self, weights: FloatArray, judge_weights: FloatArray) -> FloatArray:
        """Values under weights of units (r, units) and of judges (r, judges), row by row."""
        features = self.unit_features(judge_weights)
        return self.kernel(np.einsum("ru,rup->rp", weights, features))


@dataclass(frozen=True, eq=False)
class WeightedStatistic:
    """A statistic with its own formula in the weights, such as a rank correlation.

    Parameters
    ----------
    support : bool array, shape (units,)
        True for units that the statistic uses.
    values : callable
        Maps weights of shape (r, units) to values of shape (r,).
    row_size : int
        Count of numbers that one resample needs.

    Examples
    --------
    >>> numbers = np.array([1.0, 5.0])
    >>> def largest(weights):
    ...     return np.where(weights > 0, numbers, -np.inf).max(axis=1)
    >>> WeightedStatistic(np.ones(2, bool), largest, row_size=2).values(np.array([[2.0, 0.0]])).tolist()
    [1.0]
    """

    support: NDArray[np.bool_]
    values: Callable[[FloatArray], FloatArray]
    row_size: int


@dataclass(frozen=True, eq=False)
class PlainStatistic:
    """Any Python function of the drawn units' indices, called once per resample.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 9.0])
    >>> median = PlainStatistic(3, lambda index: float(np.median(x[index])))
    >>> median.values(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]])).tolist()
    [2.0, 9.0]
    """

    units: int
    function: Callable[[IntArray], float]
    row_size: int = 1

    @property
    def support(self) -> NDArray[np.bool_]:
        """All units."""
        return np.ones(self.units, bool)

    def values(self, weights: FloatArray) -> FloatArray:
        """Values under whole-number weights of shape (resamples, units)."""
        index = np.arange(self.units)
        return np.array([self.function(np.repeat(index, row.astype(np.int64))) for row in weights], dtype=float)


def _blocked_product(weights: FloatArray, features: FloatArray) -> FloatArray:
    """Matrix product in blocks too small for BLAS to start threads, which would be slower here."""
    rows = _SINGLE_THREAD_LIMIT // max(1, features.size)
    if rows < 16 or rows >= len(weights):
        return weights @ features
    totals = np.empty((len(weights), features.shape[1]))
    for start in range(0, len(weights), rows):
        np.matmul(weights[start : start + rows], features, out=totals[start : start + rows])
    return totals


def mean_over_units(used: NDArray[np.bool_], value: NDArray[Any]) -> CountStatistic:
    """The mean of a value over used units; undefined where none is used.

    Examples
    --------
    >>> mean = mean_over_units(np.array([True, False, True]), np.array([1.0, np.nan, 4.0]))
    >>> mean.values(np.ones((1, 3))).tolist()
    [2.5]
    """
    features = np.column_stack([used, np.where(used, value, 0.0)]).astype(float)
    return CountStatistic(features, mean_from_totals)


def mean_from_totals(totals: FloatArray) -> FloatArray:
    """Compute the mean from the number of values and their sum, totals of shape (..., 2)."""
    return ratio_or_nan(totals[..., 1], totals[..., 0])


def ratio_or_nan(numerator: FloatArray, denominator: FloatArray, scale: FloatArray | float = 1.0) -> FloatArray:
    """Divide; NaN where the denominator is zero or rounding error at the given scale.

    Examples
    --------
    >>> ratio_or_nan(np.array([1.0, 1.0]), np.array([4.0, 1e-17])).tolist()
    [0.25, nan]
    """
    defined = np.abs(denominator) > _ROUNDING * np.abs(scale)
    defined &= denominator != 0
    result = np.full(np.broadcast(numerator, denominator, defined).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=defined)
    return result
