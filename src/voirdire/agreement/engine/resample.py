"""The bootstrap: one engine for every statistic, unit and interval.

Units are items, contexts (whole clusters of items), judges, or judges and items independently (both ways;
Owen, The pigeonhole bootstrap, Annals of Applied Statistics 2007). Each set of units draws from its own
stream started at the seed, so a result does not depend on what else is computed in the same call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.engine.combine import TwoWayStatistic, by_group, on_support
from voirdire.agreement.engine.draws import bootstrap_weights, leave_one_out_weights
from voirdire.agreement.engine.intervals import Interval, Method, bootstrap_interval, check_method, check_prob
from voirdire.agreement.engine.standard_error import standard_errors
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, IntArray, Statistic
from voirdire.errors import InputError

Unit: TypeAlias = Literal["item", "context", "judge", "both"]

RESAMPLES = 10_000

# OpenBLAS multiplies up to this many numbers in the calling thread.
_ONE_THREAD = 2**18
# How many numbers a statistic may need at once: 8 MB.
_NUMBERS = 2**20


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
        defined = self.draws[~np.isnan(self.draws)]
        return float(np.mean(defined >= -1e-12)) if len(defined) else float("nan")


def bootstrap(
    statistics: Sequence[Statistic | TwoWayStatistic],
    *,
    unit: Unit = "item",
    groups: IntArray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    prob: float = 0.95,
    method: Method = "percentile",
) -> list[Replicates]:
    """Resample several statistics of one set of units.

    Statistics with the same units see the same resamples. Units that contribute nothing to a
    `CountStatistic` (such as items that one of two judges did not rate) are not resampled for it, so its
    interval is conditional on the number of units that do.

    Parameters
    ----------
    statistics : sequence of Statistic or TwoWayStatistic
        What to resample; units "judge" and "both" need statistics with judges, such as `PanelStatistic`.
    unit : {"item", "context", "judge", "both"}
        What is drawn with replacement.
    groups : int array, shape (units,)
        The context of each unit, coded 0, 1, ...; needed for "context" only.
    resamples : int
        Number of resamples, at least 1.
    seed : int
        Seed of the generator.
    prob, method
        As in `bootstrap_interval`.

    Returns
    -------
    list of Replicates
        One per statistic.

    Raises
    ------
    InputError
        If `resamples`, `unit`, `prob` or `method` is out of range, contexts are missing, or judges of a
        statistic without judges are to be resampled.

    Examples
    --------
    >>> mean = CountStatistic(np.array([[1.0, 0.0], [1.0, 1.0]] * 25), lambda t: t[..., 1] / t[..., 0])
    >>> found = bootstrap([mean], resamples=1000)[0]
    >>> found.estimate, found.interval.low, found.interval.high
    (0.5, 0.36, 0.64)
    """
    check_request(resamples, unit, prob, method)
    if unit in ("judge", "both"):
        panels = [one for one in statistics if isinstance(one, TwoWayStatistic)]
        if len(panels) < len(statistics):
            raise InputError(
                f"unit {unit!r} resamples judges, which only statistics of a whole panel have; use 'item'"
            )
        return [_over_judges(panel, unit, resamples, seed, prob, method) for panel in panels]
    fixed = [one.fixed() if isinstance(one, TwoWayStatistic) else one for one in statistics]
    if unit == "context":
        if groups is None:
            raise InputError(
                "unit 'context' needs a context for every item; the table has no column 'context'"
            )
        fixed = [by_group(one, groups) for one in fixed]
    found: list[Replicates | None] = [None] * len(fixed)
    for places, alike in _by_support(fixed):
        results = _over_units(alike, resamples, seed, prob, method)
        for place, result in zip(places, results, strict=True):
            found[place] = result
    return [one for one in found if one is not None]


def check_request(resamples: int, unit: str, prob: float, method: str) -> None:
    """Raise `InputError` unless the settings of a bootstrap make sense.

    Examples
    --------
    >>> check_request(0, "item", 0.95, "bca")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: resamples 0 is not a positive whole number; 10000 is usual
    """
    if not isinstance(resamples, int | np.integer) or resamples < 1:
        raise InputError(f"resamples {resamples!r} is not a positive whole number; 10000 is usual")
    if unit not in get_args(Unit):
        raise InputError(f"unit {unit!r} is not known; give one of {', '.join(get_args(Unit))}")
    check_prob(prob)
    check_method(method)
    if unit == "both" and method in ("bca", "studentised"):
        raise InputError(
            f"a {method} interval is not defined when judges and items are resampled together; "
            "use percentile or basic"
        )
    if unit == "judge" and method == "studentised":
        raise InputError(
            "a studentised interval is not offered when judges are resampled; use percentile, basic or bca"
        )


def _by_support(statistics: Sequence[Statistic]) -> list[tuple[list[int], list[Statistic]]]:
    sets: dict[bytes, tuple[list[int], list[Statistic]]] = {}
    for place, one in enumerate(statistics):
        places, alike = sets.setdefault(one.support.tobytes(), ([], []))
        places.append(place)
        alike.append(on_support(one))
    return list(sets.values())


def _over_units(
    statistics: Sequence[Statistic], resamples: int, seed: int, prob: float, method: Method
) -> list[Replicates]:
    units = len(statistics[0].support)
    if units == 0:
        nothing = Replicates(float("nan"), np.full(resamples, np.nan), Interval(None, None))
        return [nothing] * len(statistics)
    evaluate = _together(statistics)
    estimates = evaluate(np.ones((1, units)))[0]
    rng = np.random.default_rng(seed)
    errors: list[FloatArray] = []
    parts: list[FloatArray] = []
    for weights in bootstrap_weights(units, resamples, rng):
        parts.append(evaluate(weights))
        if method == "studentised":
            errors.append(np.column_stack([standard_errors(one, weights) for one in statistics]))
    draws = np.concatenate(parts)
    jackknife = error = spread = None
    if method == "bca":
        jackknife = np.concatenate([evaluate(weights) for weights in leave_one_out_weights(units)])
    if method == "studentised":
        spread = np.concatenate(errors)
        error = [float(standard_errors(one, np.ones((1, units)))[0]) for one in statistics]
    return [
        Replicates(
            float(estimates[s]),
            draws[:, s],
            bootstrap_interval(
                float(estimates[s]),
                draws[:, s],
                prob,
                method,
                jackknife=None if jackknife is None else jackknife[:, s],
                error=None if error is None else error[s],
                errors=None if spread is None else spread[:, s],
            ),
        )
        for s in range(len(statistics))
    ]


def _together(statistics: Sequence[Statistic]) -> Callable[[FloatArray], FloatArray]:
    """Evaluate all statistics on a chunk of weights, the count statistics by one matrix product."""
    counted = [one for one in statistics if isinstance(one, CountStatistic)]
    empty = np.empty((len(statistics[0].support), 0))
    stacked = np.hstack([empty, *(one.features for one in counted)])
    ends = np.cumsum([0, *(one.row_size for one in counted)])
    width = max(stacked.shape[1], *(one.row_size for one in statistics))

    def evaluate(weights: FloatArray) -> FloatArray:
        values = np.empty((len(weights), len(statistics)))
        for rows in _slices(len(weights), width):
            totals = _product(weights[rows], stacked)
            column = 0
            for s, one in enumerate(statistics):
                if isinstance(one, CountStatistic):
                    values[rows, s] = one.kernel(totals[:, ends[column] : ends[column + 1]])
                    column += 1
                else:
                    values[rows, s] = one.values(weights[rows])
        return values

    return evaluate


def _product(weights: FloatArray, features: FloatArray) -> FloatArray:
    """Matrix product in blocks too small for BLAS to start threads, which cost more than they save here."""
    rows = _ONE_THREAD // max(1, features.size)
    if rows < 16:
        return weights @ features
    totals = np.empty((len(weights), features.shape[1]))
    for start in range(0, len(weights), rows):
        np.matmul(weights[start : start + rows], features, out=totals[start : start + rows])
    return totals


def _over_judges(
    panel: TwoWayStatistic, unit: Unit, resamples: int, seed: int, prob: float, method: Method
) -> Replicates:
    fixed = panel.fixed()
    used = fixed.support
    units, judges, width = int(used.sum()), panel.judges, panel.row_size
    estimate = float(fixed.values(np.ones((1, len(used))))[0])

    def values(weights: FloatArray, judge_weights: FloatArray) -> FloatArray:
        everywhere = np.zeros((len(weights), len(used)))
        everywhere[:, used] = weights
        parts = [
            panel.two_way(everywhere[rows], judge_weights[rows]) for rows in _slices(len(weights), width)
        ]
        return np.concatenate(parts)

    for_units, for_judges = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    judge_draws = np.concatenate(list(bootstrap_weights(judges, resamples, for_judges)))
    parts: list[FloatArray] = []
    for rows in _slices(resamples, units):
        count = rows.stop - rows.start
        if unit == "both" and units:
            weights = np.concatenate(list(bootstrap_weights(units, count, for_units)))
        else:
            weights = np.ones((count, units))
        parts.append(values(weights, judge_draws[rows]))
    draws = np.concatenate(parts)
    jackknife = None
    if method == "bca":
        without = np.concatenate(list(leave_one_out_weights(judges)))
        jackknife = values(np.ones((judges, units)), without)
    return Replicates(estimate, draws, bootstrap_interval(estimate, draws, prob, method, jackknife=jackknife))


def _slices(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _NUMBERS // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
