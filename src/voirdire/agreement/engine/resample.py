"""The bootstrap: one engine for every statistic, unit and interval.

Units are items, contexts (whole clusters of items), judges, or judges and items independently (both ways;
Owen, The pigeonhole bootstrap, Annals of Applied Statistics 2007). Each set of units draws from its own
stream started at the seed, so a result does not depend on the other statistics of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack, get_args

import numpy as np

from voirdire.agreement.engine.combine import (
    TwoWayStatistic,
    group_statistic,
    restrict_to_support,
    value_of_all_units,
    with_fixed_judges,
)
from voirdire.agreement.engine.intervals import Interval, bootstrap_interval, normal_interval, standard_errors
from voirdire.agreement.engine.resampling import (
    ANALYTIC,
    Method,
    Resampling,
    Settings,
    bootstrap_weights,
    leave_one_out_weights,
)
from voirdire.agreement.engine.statistic import FloatArray, IntArray, Statistic
from voirdire.errors import InputError
from voirdire.typing import Bools

# Intervals from fewer clusters than this cover too little (Cameron, Gelbach and Miller, Review of Economics
# and Statistics 90, 2008).
MIN_CLUSTERS = 20

UNITS = ("item", "context", "judge", "both")
INTERVALS = (*get_args(Method), ANALYTIC)

_SINGLE_UNIT = Interval(None, None, "no interval: it rests on a single unit, and resampling takes two")

# Statistics per task of a cluster: their values cost about as much as the draw of their resamples.
_TASK_STATISTICS = 16

# Most numbers that a statistic may need at once: 8 MB.
_MAX_NUMBERS = 2**20


@dataclass(frozen=True, eq=False)
class Replicates:
    """A statistic's value, its values on the resamples, and its interval.

    Attributes
    ----------
    estimate : float
        Value on the data; NaN where undefined.
    draws : float array, shape (resamples,)
        Values on the resamples.
    interval : Interval
        Ends, None where there are none, and a note.
    """

    estimate: float
    draws: FloatArray
    interval: Interval

    @property
    def share_at_least_zero(self) -> float:
        """Share of resamples at or above zero: P(A >= B) of a difference A - B, NaN where undefined."""
        return self._share_of_defined(self.draws >= -1e-12)

    @property
    def share_above_zero(self) -> float:
        """Share of resamples above zero: P(A > B) of a difference A - B, NaN where undefined."""
        return self._share_of_defined(self.draws > 1e-12)

    def _share_of_defined(self, holds: Bools) -> float:
        defined = holds[~np.isnan(self.draws)]
        return float(np.mean(defined)) if len(defined) else float("nan")


def bootstrap(
    statistics: Sequence[Statistic | TwoWayStatistic], *, groups: IntArray | None = None, **settings: Unpack[Settings]
) -> list[Replicates]:
    """Resample several statistics of one set of units.

    Statistics with the same units use the same resamples. A statistic of a single unit has no interval, since every
    resample would be the unit itself. Units that contribute nothing to a
    `CountStatistic` (such as items that one of two judges did not rate) are not resampled for it, so its
    interval is conditional on the number of contributing units.

    Parameters
    ----------
    statistics : sequence of Statistic or TwoWayStatistic
        Statistics to resample; units "judge" and "both" need statistics with judges, such as `PanelStatistic`.
    groups : int array, shape (units,)
        The context of each unit, coded 0, 1, ...; needed for "context" only.
    **settings
        As in `voirdire.agreement.engine.resampling.Resampling`; unit "item" (by default), "context", "judge" or
        "both".

    Returns
    -------
    list of Replicates
        One per statistic.

    Raises
    ------
    InputError
        If a setting is not valid, contexts are missing, or `unit` resamples judges of a statistic without judges.

    Examples
    --------
    >>> from voirdire.agreement.engine.statistic import CountStatistic
    >>> mean = CountStatistic(np.array([[1.0, 0.0], [1.0, 1.0]] * 25), lambda t: t[..., 1] / t[..., 0])
    >>> found = bootstrap([mean], resamples=1000)[0]
    >>> found.estimate, found.interval.low, found.interval.high
    (0.5, 0.38, 0.62)
    """
    resampling = Resampling.from_settings(settings, UNITS, INTERVALS)
    if resampling.unit in ("judge", "both"):
        panels = [statistic for statistic in statistics if isinstance(statistic, TwoWayStatistic)]
        if len(panels) < len(statistics):
            raise InputError(
                f"unit {resampling.unit!r} resamples judges, which only statistics of a whole panel have; use 'item'"
            )
        return resampling.map(partial(_resample_judges, resampling=resampling.without_cluster), panels)
    fixed = [with_fixed_judges(statistic) for statistic in statistics]
    if resampling.unit == "context":
        if groups is None:
            raise InputError("unit 'context' needs a context for every item; the table has no column 'context'")
        fixed = [group_statistic(statistic, groups) for statistic in fixed]
    sets = _group_by_support(fixed)
    if resampling.client is not None:
        # tasks of one set draw from the same stream
        sets = [
            (places[start : start + _TASK_STATISTICS], group[start : start + _TASK_STATISTICS])
            for places, group in sets
            for start in range(0, len(places), _TASK_STATISTICS)
        ]
    results = resampling.map(
        partial(_resample_units, resampling=resampling.without_cluster), [group for _, group in sets]
    )
    by_place = {
        place: replicates
        for (places, _), part in zip(sets, results, strict=True)
        for place, replicates in zip(places, part, strict=True)
    }
    return [by_place[place] for place in range(len(fixed))]


def _group_by_support(statistics: Sequence[Statistic]) -> list[tuple[list[int], list[Statistic]]]:
    sets: dict[bytes, tuple[list[int], list[Statistic]]] = {}
    for place, statistic in enumerate(statistics):
        places, group = sets.setdefault(statistic.support.tobytes(), ([], []))
        places.append(place)
        group.append(restrict_to_support(statistic))
    return list(sets.values())


def _resample_units(statistics: Sequence[Statistic], resampling: Resampling) -> list[Replicates]:
    units = len(statistics[0].support)
    if units == 0:
        undefined = Replicates(float("nan"), np.full(resampling.resamples, np.nan), Interval(None, None))
        return [undefined] * len(statistics)
    all_units, studentised = np.ones((1, units)), resampling.interval == "studentised"
    estimates = [float(_values_in_parts(statistic, all_units)[0]) for statistic in statistics]
    if units == 1:
        return [_one_unit_replicates(estimate, resampling) for estimate in estimates]
    if resampling.interval == ANALYTIC:
        # the variance of the units themselves, without the engine's n / (n - 1)
        spreads = [float(standard_errors(statistic, all_units)[0]) * (1 - 1 / units) ** 0.5 for statistic in statistics]
        ends = [normal_interval(*pair, resampling.prob) for pair in zip(estimates, spreads, strict=True)]
        return [Replicates(estimate, np.empty(0), interval) for estimate, interval in zip(estimates, ends, strict=True)]
    draws: list[list[FloatArray]] = [[] for _ in statistics]
    errors: list[list[FloatArray]] = [[] for _ in statistics]
    for weights in bootstrap_weights(units, resampling.resamples, np.random.default_rng(resampling.seed)):
        for place, member in enumerate(statistics):
            draws[place].append(_values_in_parts(member, weights))
            errors[place] += [standard_errors(member, weights)] if studentised else []
    replicates = []
    for member, estimate, values, spread in zip(statistics, estimates, draws, errors, strict=True):
        needed: dict[str, Any] = {}
        if resampling.interval == "bca":
            left_out = [_values_in_parts(member, weights) for weights in leave_one_out_weights(units)]
            needed = {"jackknife": np.concatenate(left_out)}
        if studentised:
            needed = {"error": float(standard_errors(member, all_units)[0]), "errors": np.concatenate(spread)}
        replicates.append(_with_interval(estimate, np.concatenate(values), resampling, **needed))
    return replicates


def _with_interval(estimate: float, draws: FloatArray, resampling: Resampling, **needed: Any) -> Replicates:
    """Add the interval; ``needed`` are the further arguments of `bootstrap_interval` that its kind needs."""
    interval = bootstrap_interval(estimate, draws, resampling.prob, resampling.interval, **needed)
    return Replicates(estimate, draws, interval)


def _values_in_parts(statistic: Statistic, weights: FloatArray) -> FloatArray:
    """Values under many weights, computed in parts that fit the memory."""
    parts = [statistic.values(weights[rows]) for rows in _row_slices(len(weights), statistic.row_size)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _resample_judges(panel: TwoWayStatistic, resampling: Resampling) -> Replicates:
    used = panel.fixed().support
    units, judges, width = int(used.sum()), panel.judges, panel.row_size
    estimate = value_of_all_units(panel)
    if judges == 1 or (resampling.unit == "both" and units == 1):
        return _one_unit_replicates(estimate, resampling)

    def values_both_ways(weights: FloatArray, judge_weights: FloatArray) -> FloatArray:
        full_weights = np.zeros((len(weights), len(used)))
        full_weights[:, used] = weights
        slices = _row_slices(len(weights), width)
        return np.concatenate([panel.two_way(full_weights[rows], judge_weights[rows]) for rows in slices])

    streams = np.random.SeedSequence(resampling.seed).spawn(2)
    for_units, for_judges = (np.random.default_rng(child) for child in streams)
    judge_draws = np.concatenate(list(bootstrap_weights(judges, resampling.resamples, for_judges)))
    parts: list[FloatArray] = []
    for rows in _row_slices(resampling.resamples, units):
        weights = np.ones((rows.stop - rows.start, units))
        if resampling.unit == "both" and units:
            weights = np.concatenate(list(bootstrap_weights(units, len(weights), for_units)))
        parts.append(values_both_ways(weights, judge_draws[rows]))
    draws = np.concatenate(parts)
    jackknife = None
    if resampling.interval == "bca":
        without = np.concatenate(list(leave_one_out_weights(judges)))
        jackknife = values_both_ways(np.ones((judges, units)), without)
    return _with_interval(estimate, draws, resampling, jackknife=jackknife)


def _one_unit_replicates(estimate: float, resampling: Resampling) -> Replicates:
    interval = Interval(None, None) if np.isnan(estimate) else _SINGLE_UNIT
    return Replicates(estimate, np.full(resampling.resamples, np.nan), interval)


def _row_slices(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _MAX_NUMBERS // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
