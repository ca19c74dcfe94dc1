"""Combined statistics: paired differences, whole groups as units, tables resampled both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from voirdire.agreement.engine.statistic import (
    CountStatistic,
    FloatArray,
    IntArray,
    PanelStatistic,
    Statistic,
    WeightedStatistic,
)


def mean_statistic(statistics: Sequence[Statistic]) -> Statistic:
    """The mean of several statistics on the same resample, such as one per left-out judge.

    Parameters
    ----------
    statistics : sequence of Statistic
        At least one statistic, all of the same units.

    Returns
    -------
    Statistic
        The mean; undefined where one of the statistics is undefined.

    Examples
    --------
    >>> total = CountStatistic(np.array([[1.0], [4.0]]), lambda t: t[..., 0])
    >>> mean_statistic([total, total]).values(np.ones((1, 2))).tolist()
    [5.0]
    """
    return _combine_values(statistics, lambda *parts: np.mean(parts, axis=0))


def _combine_values(statistics: Sequence[Statistic], function: Callable[..., Any]) -> Statistic:
    """A function of the values of several statistics on the same resample."""
    count_statistics = [statistic for statistic in statistics if isinstance(statistic, CountStatistic)]
    if len(count_statistics) < len(statistics):
        return WeightedStatistic(
            np.any([statistic.support for statistic in statistics], axis=0),
            lambda weights: np.asarray(function(*(statistic.values(weights) for statistic in statistics))),
            sum(statistic.row_size for statistic in statistics),
        )
    ends = np.cumsum([0, *(statistic.row_size for statistic in count_statistics)])

    def function_of_kernels(t: FloatArray) -> FloatArray:
        parts = [
            statistic.kernel(t[..., ends[place] : ends[place + 1]]) for place, statistic in enumerate(count_statistics)
        ]
        return np.asarray(function(*parts))

    return CountStatistic(np.hstack([statistic.features for statistic in count_statistics]), function_of_kernels)


@dataclass(frozen=True, eq=False)
class JointStatistic:
    """Any function of weights of units and of judges.

    Attributes
    ----------
    units, judges : int
        Numbers of units and of judges.
    two_way : callable
        Maps weights of units (r, units) and of judges (r, judges) to values (r,), NaN where undefined.
    row_size : int
        Count of numbers that one resample needs, as in `Statistic`.
    unit_weight_statistic : Statistic, optional
        The same statistic with every judge taken once; by default `two_way` with judge weights of 1.

    Examples
    --------
    >>> twice = JointStatistic(2, 1, lambda units, judges: units.sum(axis=1) * judges[:, 0], row_size=2)
    >>> twice.two_way(np.array([[1.0, 2.0]]), np.array([[3.0]])).tolist()
    [9.0]
    """

    units: int
    judges: int
    two_way: Callable[[FloatArray, FloatArray], FloatArray]
    row_size: int
    unit_weight_statistic: Statistic | None = None

    def fixed(self) -> Statistic:
        """The same statistic with every judge taken once."""
        return self.unit_weight_statistic or WeightedStatistic(
            np.ones(self.units, bool),
            lambda weights: self.two_way(weights, np.ones((len(weights), self.judges))),
            self.row_size,
        )


def crossed_statistic(statistic: Statistic, rows: IntArray, columns: IntArray) -> JointStatistic:
    """A statistic of cells of a table whose rows and columns are resampled independently.

    Parameters
    ----------
    statistic : Statistic
        Statistic of the cells.
    rows, columns : int array, shape (cells,)
        Row and column of each cell. A cell weighs w v if its row is drawn w times and its column v times.

    Examples
    --------
    >>> total = CountStatistic(np.array([[1.0], [10.0], [100.0]]), lambda t: t[..., 0])
    >>> crossed = crossed_statistic(total, np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> crossed.two_way(np.array([[2.0, 0.0]]), np.array([[1.0, 1.0]])).tolist()
    [22.0]
    """

    def two_way(weights: FloatArray, judge_weights: FloatArray) -> FloatArray:
        return statistic.values(weights[:, rows] * judge_weights[:, columns])

    sizes, by_row = (int(rows.max()) + 1, int(columns.max()) + 1), group_statistic(statistic, rows)
    return JointStatistic(*sizes, two_way, len(rows) + statistic.row_size, by_row)


TwoWayStatistic: TypeAlias = PanelStatistic | JointStatistic


def with_fixed_judges(statistic: Statistic | TwoWayStatistic) -> Statistic:
    """The statistic with every judge taken once; a statistic without judges as it is."""
    return statistic.fixed() if isinstance(statistic, TwoWayStatistic) else statistic


def value_of_all_units(statistic: Statistic | TwoWayStatistic) -> float:
    """The value with every unit and every judge taken once."""
    fixed = with_fixed_judges(statistic)
    return float(fixed.values(np.ones((1, len(fixed.support))))[0])


def difference_statistic(a: Statistic | TwoWayStatistic, b: Statistic | TwoWayStatistic) -> Statistic | TwoWayStatistic:
    """The statistic a - b. Both are evaluated on the same resample, which keeps their dependence.

    Parameters
    ----------
    a, b : Statistic or TwoWayStatistic
        Two statistics of the same units, both with judges or both without.

    Returns
    -------
    Statistic or TwoWayStatistic
        The difference; a `CountStatistic` if both statistics are.

    Raises
    ------
    ValueError
        If the statistics have different numbers of units, or only one of them has judges.

    Examples
    --------
    >>> first = CountStatistic(np.array([[1.0], [4.0]]), lambda t: t[..., 0])
    >>> difference_statistic(first, first).values(np.ones((1, 2))).tolist()
    [0.0]
    """
    if isinstance(a, TwoWayStatistic) and isinstance(b, TwoWayStatistic):
        return _difference_of_panels(a, b)
    if isinstance(a, TwoWayStatistic) or isinstance(b, TwoWayStatistic):
        raise ValueError("a paired difference needs two statistics with judges, or two without")
    if len(a.support) != len(b.support):
        raise ValueError(f"a paired difference needs the same units; these have {len(a.support)} and {len(b.support)}")
    return _combine_values([a, b], np.subtract)


def _difference_of_panels(a: TwoWayStatistic, b: TwoWayStatistic) -> TwoWayStatistic:
    units, others = (len(panel.fixed().support) for panel in (a, b))
    if (units, a.judges) != (others, b.judges):
        raise ValueError(
            f"a paired difference needs the same units and judges; these have {units} and {others} units, "
            f"{a.judges} and {b.judges} judges"
        )
    return JointStatistic(units, a.judges, lambda w, v: a.two_way(w, v) - b.two_way(w, v), a.row_size + b.row_size)


def group_statistic(statistic: Statistic, groups: IntArray) -> Statistic:
    """The same statistic with whole groups as its units.

    Parameters
    ----------
    statistic : Statistic
        Statistic of n units.
    groups : int array, shape (n,)
        The group of each unit, coded 0, 1, ...

    Examples
    --------
    >>> total = CountStatistic(np.array([[1.0], [10.0], [100.0]]), lambda t: t[..., 0])
    >>> group_statistic(total, np.array([0, 1, 1])).values(np.array([[0.0, 2.0]])).tolist()
    [220.0]
    """
    if isinstance(statistic, CountStatistic):
        return statistic.merge(groups)
    support = np.zeros(int(groups.max()) + 1, bool)
    support[groups[statistic.support]] = True
    return WeightedStatistic(
        support, lambda weights: statistic.values(weights[:, groups]), statistic.row_size + len(groups)
    )


def restrict_to_support(statistic: Statistic) -> Statistic:
    """The same statistic restricted to the units in its support.

    Examples
    --------
    >>> mean = CountStatistic(np.array([[1.0, 4.0], [0.0, 0.0]]), lambda t: t[..., 1] / t[..., 0])
    >>> restrict_to_support(mean).support.tolist()
    [True]
    """
    used = statistic.support
    if used.all():
        return statistic
    if isinstance(statistic, CountStatistic):
        return CountStatistic(statistic.features[used], statistic.kernel)

    def values_on_support(weights: FloatArray) -> FloatArray:
        full_weights = np.zeros((len(weights), len(used)))
        full_weights[:, used] = weights
        return statistic.values(full_weights)

    return WeightedStatistic(np.ones(int(used.sum()), bool), values_on_support, statistic.row_size + len(used))
