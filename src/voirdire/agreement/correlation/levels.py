"""The grouping of a correlation: over all items, within contexts and averaged, or over systems.

With x and y the scores of a metric and of people for system s in context c,

- pooled   the coefficient of all pairs (x_cs, y_cs)
- context  the coefficient of (x_cs, y_cs) over s, averaged over c ("summary level"); or the tanh of the
           mean of artanh (Fisher's z). Contexts where one side is constant have no coefficient; they are
           counted and left out.
- system   the coefficient over s of (mean_c x_cs, mean_c y_cs)

Also: notes that explain undefined correlations and left-out contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.pairwise import CORRELATIONS, pairwise_accuracy
from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.rowwise import rowwise_coefficient
from voirdire.agreement.engine.combine import JointStatistic, TwoWayStatistic, crossed_statistic
from voirdire.agreement.engine.resample import MIN_CLUSTERS, Replicates, bootstrap
from voirdire.agreement.engine.resampling import Resampling, Settings, Unit
from voirdire.agreement.engine.statistic import (
    FloatArray,
    IntArray,
    PanelStatistic,
    Statistic,
    mean_from_totals,
    ratio_or_nan,
)
from voirdire.errors import InputError, raise_problems

Level: TypeAlias = Literal["pooled", "context", "system"]
Average: TypeAlias = Literal["mean", "fisher"]

COEFFICIENTS = tuple(CORRELATIONS)

# A correlation above this counts as 1; its Fisher z is infinite.
_PERFECT_CORRELATION = 1 - 1e-12


@dataclass(frozen=True)
class Grouping:
    """Grouping of scores before they are correlated, and settings of resampling.

    Attributes
    ----------
    level : {"pooled", "context", "system"}
        The level of the correlation.
    average : {"mean", "fisher"}
        Average of the coefficients of contexts: plain mean or by Fisher's z.
    resampling : Resampling
        Resampling of items, contexts, systems or both.
    """

    level: Level
    average: Average
    resampling: Resampling

    @classmethod
    def from_request(cls, level: Level, average: Average, settings: Settings, grid: Grid) -> Grouping:
        """Check the request and build the grouping; the default unit is the context, at system level both.

        Pooled scores without contexts of several items are resampled by item.

        Raises
        ------
        InputError
            If the level, the unit or another setting is not known, or the table lacks the column of the unit.

        Examples
        --------
        >>> grid = Grid(("m",), np.empty((1, 1)), ("a",), None, None, None, {})
        >>> Grouping.from_request("pooled", "mean", {}, grid).resampling.unit
        'item'
        """
        if level not in get_args(Level):
            raise InputError(f"level {level!r} is not known; give one of {', '.join(get_args(Level))}")
        if average not in get_args(Average):
            raise InputError(f"average {average!r} is not known; give mean or fisher")
        clustered = grid.context is not None and 1 < len(np.unique(grid.context)) < len(grid.items)
        pooled: Unit = "context" if clustered else "item"
        default_unit: Unit = {"pooled": pooled, "context": "context", "system": "both"}[level]
        units = dict.fromkeys([default_unit, *(["item"] if level == "pooled" else []), "context", "system", "both"])
        resampling = Resampling.from_settings(settings, units)
        problems = []
        if (level != "pooled" or resampling.unit in ("context", "both")) and grid.context is None:
            problems.append(f"level {level!r} with unit {resampling.unit!r} needs a column 'context'")
        if (level == "system" or resampling.unit in ("system", "both")) and grid.system is None:
            problems.append(f"level {level!r} with unit {resampling.unit!r} needs a column 'system'")
        raise_problems(problems)
        return cls(level, average, resampling)

    def grid_resampling(self, grid: Grid) -> tuple[Resampling, IntArray | None]:
        """The settings and groups for `bootstrap`; systems of a grid take the role of its judges."""
        if self.level == "pooled" and self.resampling.unit in ("item", "both"):
            return self.resampling, None
        if self.level == "pooled":
            groups = grid.context if self.resampling.unit == "context" else grid.system
            return replace(self.resampling, unit="context"), groups
        units: dict[Unit | None, Unit] = {"context": "item", "system": "judge", "both": "both"}
        return replace(self.resampling, unit=units[self.resampling.unit]), None

    def bootstrap(self, statistics: Sequence[Statistic | TwoWayStatistic], grid: Grid) -> list[Replicates]:
        """Resample statistics of a grid."""
        resampling, groups = self.grid_resampling(grid)
        return bootstrap(statistics, groups=groups, resampling=resampling)


def correlation_statistic(
    name: str, grid: Grid, metric: FloatArray, human: FloatArray, grouping: Grouping
) -> Statistic | TwoWayStatistic:
    """A coefficient as a statistic to resample.

    Parameters
    ----------
    name : str
        One of `COEFFICIENTS`.
    grid : Grid
        Contexts and systems of the items.
    metric, human : float array, shape (items,)
        Scores, NaN where missing.
    grouping : Grouping
        The level, the average of contexts, and the resampled unit.

    Returns
    -------
    Statistic or TwoWayStatistic
        Statistic for `Grouping.bootstrap`.

    Examples
    --------
    >>> grid = Grid(("m", "h"), np.empty((4, 2)), ("a", "b", "c", "d"), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]),
    ...             None, {})
    >>> x, y = np.array([1.0, 2.0, 5.0, 4.0]), np.array([1.0, 2.0, 1.0, 2.0])
    >>> grouping = Grouping("context", "mean", Resampling(unit="context"))
    >>> of_contexts = correlation_statistic("pearson", grid, x, y, grouping).fixed()
    >>> of_contexts.values(np.ones((1, 2))).tolist()
    [0.0]
    """
    if grouping.level == "pooled":
        pooled = CORRELATIONS[name](metric, human)
        if grouping.resampling.unit == "both":
            assert grid.context is not None
            return crossed_statistic(pooled, grid.context, grid.table_columns())
        return pooled
    x, y = grid.context_system_table(metric), grid.context_system_table(human)
    missing = np.isnan(x) | np.isnan(y)
    x, y = np.where(missing, np.nan, x), np.where(missing, np.nan, y)
    if grouping.level == "system":
        return _system_level(name, x, y)
    if name == "pairwise_accuracy":
        return pairwise_accuracy(x, y)
    return _context_level(name, x, y, grouping.average)


def _context_level(name: str, x: FloatArray, y: FloatArray, average: Average) -> PanelStatistic:
    def context_features(systems: FloatArray) -> FloatArray:
        return context_values(rowwise_coefficient(name, x[None], y[None], systems[:, None, :]), average)

    kernel = partial(average_contexts, average=average)
    return PanelStatistic(x.shape[1], context_features, kernel, work=x.shape[1] ** 2)


def context_values(value: FloatArray, average: Average) -> FloatArray:
    """Three numbers per context: 1 if defined, the coefficient (or Fisher's z), 1 if z is infinite; shape (..., 3)."""
    defined = ~np.isnan(value)
    filled = np.where(defined, value, 0.0)
    perfect = np.abs(filled) >= _PERFECT_CORRELATION
    if average == "fisher":
        filled = np.arctanh(np.where(perfect, 0.0, filled))
    return np.stack([defined, filled, perfect], axis=-1, dtype=np.float64)


def average_contexts(totals: FloatArray, average: Average) -> FloatArray:
    """The mean coefficient from totals of `context_values`."""
    mean = mean_from_totals(totals)
    return np.where(totals[..., 2] > 0, np.nan, np.tanh(mean)) if average == "fisher" else mean


def _system_level(name: str, x: FloatArray, y: FloatArray) -> JointStatistic:
    known = ~np.isnan(x)
    filled = np.where(known, x, 0.0), np.where(known, y, 0.0)

    def correlation_of_means(contexts: FloatArray, systems: FloatArray) -> FloatArray:
        number = contexts @ known
        a, b = (ratio_or_nan(contexts @ column, number) for column in filled)
        return rowwise_coefficient(name, a, b, systems)

    return JointStatistic(len(x), x.shape[1], correlation_of_means, 4 * x.shape[1] ** 2)


def undefined_note(grid: Grid, metric: str, human: str, level: Level) -> str:
    """Explain in a sentence why a coefficient of a metric and people has no value.

    Examples
    --------
    >>> grid = Grid(("m", "h"), np.array([[1.0, 2.0], [1.0, 3.0]]), ("a", "b"), None, None, None, {})
    >>> undefined_note(grid, "m", "h", "pooled")
    "undefined: every score of 'm' is 1"
    """
    x, y = grid.judge_scores(metric), grid.judge_scores(human)
    criterion_text = "" if grid.criterion is None else f" by criterion {grid.criterion!r}"
    for judge, scores in ((metric, x), (human, y)):
        if np.isnan(scores).all():
            return f"undefined: {judge!r} scored nothing{criterion_text}"
    scored = ~(np.isnan(x) | np.isnan(y))
    if not scored.any():
        return f"undefined: no item was scored by both {metric!r} and {human!r}{criterion_text}"
    if scored.sum() == 1:
        return "undefined: a single item was scored by both, and it takes two"
    for judge, scores in ((metric, x[scored]), (human, y[scored])):
        if np.ptp(scores) == 0:
            return f"undefined: every score of {judge!r} is {scores[0]:g}"
    if level == "context":
        a, b = grid.context_system_table(x), grid.context_system_table(y)
        perfect = np.nanmax(np.abs(_context_coefficients("spearman", a, b)), initial=0.0) >= 1 - 1e-12
        if perfect:
            return "undefined: a context has a correlation of exactly 1 or -1, whose Fisher z is infinite; use the mean"
        return "undefined: in every context one side is constant or has a single score"
    return "undefined: the means of the systems do not vary" if level == "system" else "undefined: too few scores"


def small_sample_note(grid: Grid, drawn: str | None) -> str:
    """Warn where contexts or systems are too few for a trustworthy interval; empty otherwise.

    Examples
    --------
    >>> grid = Grid(("m",), np.empty((2, 1)), ("a", "b"), np.array([0, 1]), None, None, {})
    >>> small_sample_note(grid, "context")
    'only 2 contexts to resample: the interval is likely too narrow'
    """
    small = [
        f"{n} {name}s"
        for name, codes in (("context", grid.context), ("system", grid.system))
        if drawn in (name, "both") and codes is not None and (n := int(codes.max()) + 1) < MIN_CLUSTERS
    ]
    return f"only {' and '.join(small)} to resample: the interval is likely too narrow" if small else ""


def count_defined_contexts(name: str, x: FloatArray, y: FloatArray) -> tuple[int, str]:
    """Count the contexts that have a value, and explain in a sentence why others have none.

    Parameters
    ----------
    name : str
        The coefficient.
    x, y : float array, shape (contexts, systems)
        Scores, NaN where missing.

    Examples
    --------
    >>> count_defined_contexts("pearson", np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [1.0, 2.0]]))
    (1, '1 of 2 contexts undefined (one side constant, or fewer than two scores) and left out')
    """
    defined = ~np.isnan(_context_coefficients(name, x, y))
    undefined = int(np.sum(~defined))
    reason = ("" if name == "pairwise_accuracy" else "one side constant, or ") + "fewer than two scores"
    note = f"{undefined} of {len(defined)} contexts undefined ({reason}) and left out" if undefined else ""
    return int(defined.sum()), note


def _context_coefficients(name: str, x: FloatArray, y: FloatArray) -> FloatArray:
    return rowwise_coefficient(name, x, y, np.ones(x.shape))
