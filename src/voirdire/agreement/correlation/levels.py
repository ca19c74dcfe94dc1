"""The grouping of a correlation: over all items, within contexts and averaged, or over systems.

With x and y the scores of a metric and of people for system s in context c,

- pooled   the coefficient of all pairs (x_cs, y_cs)
- context  the coefficient of (x_cs, y_cs) over s, averaged over c ("summary level"); or the tanh of the
           mean of artanh (Fisher's z). Contexts where it is undefined, since one side is constant, are
           counted and left out.
- system   the coefficient over s of (mean_c x_cs, mean_c y_cs)
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.correlation import kendall, pearson, spearman
from voirdire.agreement.coefficients.pairwise import concordance, pairwise_accuracy
from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.rowwise import rowwise
from voirdire.agreement.engine.combine import CrossedStatistic, JointStatistic, TwoWayStatistic
from voirdire.agreement.engine.resample import Unit
from voirdire.agreement.engine.statistic import (
    FloatArray,
    IntArray,
    PanelStatistic,
    Statistic,
    WeightedStatistic,
    ratio,
)
from voirdire.errors import InputError

Level: TypeAlias = Literal["pooled", "context", "system"]
Drawn: TypeAlias = Literal["item", "context", "system", "both"]
Average: TypeAlias = Literal["mean", "fisher"]

COEFFICIENTS = (
    "pearson",
    "spearman",
    "kendall_tau_b",
    "kendall_tau_c",
    "pairwise_accuracy",
    "concordance_index",
)

# A correlation this near to 1 is 1, whose Fisher z is infinite.
_PERFECT = 1 - 1e-12


def coefficient(
    name: str,
    grid: Grid,
    metric: FloatArray,
    human: FloatArray,
    level: Level,
    drawn: Drawn,
    average: Average = "mean",
) -> Statistic | TwoWayStatistic:
    """A coefficient as a statistic to resample.

    Parameters
    ----------
    name : str
        One of `COEFFICIENTS`.
    grid : Grid
        Where the items belong.
    metric, human : float array, shape (items,)
        Scores, NaN where missing.
    level : {"pooled", "context", "system"}
        The grouping.
    drawn : {"item", "context", "system", "both"}
        What will be resampled.
    average : {"mean", "fisher"}
        How the coefficients of contexts are averaged.

    Returns
    -------
    Statistic or TwoWayStatistic
        For `voirdire.agreement.engine.resample.bootstrap` with the unit and groups that `resampling` gives.

    Examples
    --------
    >>> grid = Grid(("m", "h"), np.empty((4, 2)), ("a", "b", "c", "d"), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]),
    ...             None, {})
    >>> x, y = np.array([1.0, 2.0, 5.0, 4.0]), np.array([1.0, 2.0, 1.0, 2.0])
    >>> of_contexts = coefficient("pearson", grid, x, y, "context", "context").fixed()
    >>> of_contexts.values(np.ones((1, 2))).tolist()
    [0.0]
    """
    if level == "pooled":
        pooled = _pooled(name, metric, human)
        if drawn == "both":
            assert grid.context is not None
            return CrossedStatistic(pooled, grid.context, grid.places())
        return pooled
    x, y = grid.square(metric), grid.square(human)
    either = np.isnan(x) | np.isnan(y)
    x, y = np.where(either, np.nan, x), np.where(either, np.nan, y)
    if level == "system":
        return _system_level(name, x, y)
    if name == "pairwise_accuracy":
        return pairwise_accuracy(x, y)
    return _context_level(name, x, y, average)


def resampling(grid: Grid, level: Level, drawn: Drawn) -> tuple[Unit, IntArray | None]:
    """The unit and groups for `bootstrap`: grids resample systems where panels resample judges."""
    if level == "pooled":
        if drawn == "item":
            return "item", None
        if drawn == "both":
            return "both", None
        return "context", grid.context if drawn == "context" else grid.system
    units: dict[Drawn, Unit] = {"context": "item", "system": "judge", "both": "both"}
    return units[drawn], None


def check_level(level: str, drawn: str | None, grid: Grid) -> Drawn:
    """What is resampled (by default items, contexts, or both for system level), after checking that it can be.

    Raises
    ------
    InputError
        If the level or unit is not known, or the table has no such column.

    Examples
    --------
    >>> check_level("pooled", None, Grid(("m",), np.empty((1, 1)), ("a",), None, None, None, {}))
    'item'
    """
    if level not in get_args(Level):
        raise InputError(f"level {level!r} is not known; give one of {', '.join(get_args(Level))}")
    chosen = {"pooled": "item", "context": "context", "system": "both"}[level] if drawn is None else drawn
    problems = []
    if chosen not in get_args(Drawn):
        problems.append(f"unit {chosen!r} is not known; give one of {', '.join(get_args(Drawn))}")
    if level != "pooled" and chosen == "item":
        problems.append(
            f"unit 'item' is for level 'pooled'; at level {level!r} resample context, system or both"
        )
    if (level != "pooled" or chosen in ("context", "both")) and grid.context is None:
        problems.append(f"level {level!r} with unit {chosen!r} needs a column 'context'")
    if (level == "system" or chosen in ("system", "both")) and grid.system is None:
        problems.append(f"level {level!r} with unit {chosen!r} needs a column 'system'")
    if problems:
        raise InputError(problems)
    return chosen  # type: ignore[return-value]


def _pooled(name: str, x: FloatArray, y: FloatArray) -> Statistic:
    if name == "pearson":
        return pearson(x, y)
    if name == "spearman":
        return spearman(x, y)
    if name == "kendall_tau_b":
        return kendall(x, y, "b")
    if name == "kendall_tau_c":
        return kendall(x, y, "c")
    if name == "concordance_index":
        return concordance(x, y)
    both = ~(np.isnan(x) | np.isnan(y))
    joint = pairwise_accuracy(x[None], y[None])
    return WeightedStatistic(both, lambda w: joint.two_way(np.ones((len(w), 1)), w), joint.row_size)


def _context_level(name: str, x: FloatArray, y: FloatArray, average: Average) -> PanelStatistic:
    """Features of a context: defined, its coefficient (or Fisher's z), and whether that is infinite."""

    def features(systems: FloatArray) -> FloatArray:
        value = rowwise(name, x[None], y[None], systems[:, None, :])
        defined = ~np.isnan(value)
        filled = np.where(defined, value, 0.0)
        perfect = np.abs(filled) >= _PERFECT
        if average == "fisher":
            filled = np.arctanh(np.where(perfect, 0.0, filled))
        return np.stack([defined, filled, perfect], axis=-1, dtype=np.float64)

    def kernel(t: FloatArray) -> FloatArray:
        mean = ratio(t[..., 1], t[..., 0])
        return np.where(t[..., 2] > 0, np.nan, np.tanh(mean)) if average == "fisher" else mean

    return PanelStatistic(x.shape[1], features, kernel, work=x.shape[1] ** 2)


def _system_level(name: str, x: FloatArray, y: FloatArray) -> JointStatistic:
    known = ~np.isnan(x)
    filled = np.where(known, x, 0.0), np.where(known, y, 0.0)

    def function(contexts: FloatArray, systems: FloatArray) -> FloatArray:
        number = contexts @ known
        a, b = (ratio(contexts @ one, number) for one in filled)
        return rowwise(name, a, b, systems)

    return JointStatistic(len(x), x.shape[1], function, 4 * x.shape[1] ** 2)
