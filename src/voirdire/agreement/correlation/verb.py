"""The verb `metaeval`: how well metrics and judges agree with people, and which of them agrees best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.agreement.coefficients.pairwise import tie_threshold
from voirdire.agreement.coefficients.rows import COLUMNS
from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import Average, Drawn, Level, check_level, coefficient, resampling
from voirdire.agreement.correlation.notes import context_note, few_note, undefined_note
from voirdire.agreement.correlation.posterior import over_draws
from voirdire.agreement.correlation.request import Request, request
from voirdire.agreement.engine.combine import TwoWayStatistic
from voirdire.agreement.engine.intervals import Method, bootstrap_interval
from voirdire.agreement.engine.resample import RESAMPLES, Replicates, bootstrap, check_request
from voirdire.agreement.engine.statistic import FloatArray, Statistic
from voirdire.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

#: Columns beside those of every result: the place among the metrics, and how far behind the best one.
MORE = ("place", "behind", "behind_low", "behind_high", "same_as_best")


def metaeval(
    table: object,
    human: str | Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    level: Level = "pooled",
    coefficients: str | Iterable[str] | None = None,
    average: Average = "mean",
    unit: Drawn | None = None,
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
    phase: str | None = None,
    draws: object | None = None,
) -> pd.DataFrame:
    """Correlate the scores of metrics and judges with those of people.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores of people and of metrics.
    human : str or sequence of str
        The judge who is people, or annotators whose mean score is taken.
    metrics : sequence of str, optional
        The judges to examine; all others by default.
    level : {"pooled", "context", "system"}
        Correlate over all items; within each context, then average; or the means of systems.
    coefficients : str or iterable of str, optional
        Some of pearson, spearman, kendall_tau_b, kendall_tau_c, pairwise_accuracy (ties calibrated, except
        at system level) and concordance_index.
    average : {"mean", "fisher"}
        How the coefficients of contexts are averaged: plainly, or by Fisher's z.
    unit : {"item", "context", "system", "both"}, optional
        What is resampled: by default items (pooled), contexts (context), contexts and systems (system).
    interval, resamples, prob, seed
        As in `voirdire.agreement.verb.agreement`.
    phase : str, optional
        Which phase of the scores to use; needed if there are phases.
    draws : path, dataframe, Scores, Fit, or mapping of str to Fit, optional
        Posterior draws of further metrics: fits (their items are the table's), or a table of scores whose
        column ``run`` numbers the draws. Their uncertainty enters the interval; the value is that of the
        mean scores. Percentile and basic intervals only.

    Returns
    -------
    pandas.DataFrame
        One row per metric, criterion and coefficient: measure, judges (metric, human), criterion, level,
        value, low, high, n (items, contexts or systems used) and note; then place (1 is the best metric by
        that coefficient), behind (the best's value minus this one's, on the same items), its percentile
        interval behind_low and behind_high, and same_as_best: whether that interval reaches 0, so that the
        best cannot be told from this one.

    Raises
    ------
    InputError
        For a table or a request that is wrong, with every problem found.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["human", "metric"] * 5, "item": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...                       "score": [1, 0.2, 2, 0.1, 3, 0.5, 4, 0.6, 5, 0.9]})
    >>> found = metaeval(table, "human", coefficients="spearman", resamples=200)
    >>> found[["measure", "value", "n"]].values.tolist()
    [['spearman', 0.9, 5]]
    """
    import pandas as pd

    asked = request(table, human, metrics, coefficients, level, average, phase, draws)
    drawn = check_level(level, unit, asked.grids[0])
    check_request(resamples, "both" if drawn == "both" else "item", prob, interval)
    if draws is not None and interval not in ("percentile", "basic"):
        raise InputError(f"a {interval} interval has no room for posterior draws; use percentile or basic")
    settings = _Settings(level, drawn, average, interval, resamples, prob, seed)
    rows: list[dict[str, object]] = []
    for number in range(len(asked.grids)):
        for name in asked.coefficients:
            rows += _compare(asked, number, name, settings)
    text = {"measure", "judges", "criterion", "level", "note"}
    return pd.DataFrame(
        {
            key: pd.Series([row[key] for row in rows], dtype=object if key in text else None)
            for key in (*COLUMNS, *MORE)
        }
    )


@dataclass(frozen=True)
class _Settings:
    level: Level
    drawn: Drawn
    average: Average
    interval: Method
    resamples: int
    prob: float
    seed: int


def _compare(asked: Request, number: int, name: str, settings: _Settings) -> list[dict[str, object]]:
    """The rows of one criterion and coefficient, with the metrics' places."""
    grid, draws = asked.grids[number], asked.draws[number]
    human = grid.column(asked.human)
    columns = {metric: grid.column(metric) for metric in asked.metrics}
    found = {
        metric: _resample(name, grid, column, human, draws.get(metric), settings)
        for metric, column in columns.items()
    }
    ranked = sorted(
        (metric for metric, one in found.items() if not np.isnan(one.estimate)),
        key=lambda metric: -found[metric].estimate,
    )
    rows = []
    for metric in asked.metrics:
        row = _row(name, grid, metric, asked.human, found[metric], settings)
        row |= {
            "place": None,
            "behind": np.nan,
            "behind_low": np.nan,
            "behind_high": np.nan,
            "same_as_best": None,
        }
        if metric in ranked:
            best = ranked[0]
            values = [found[one].estimate for one in ranked]
            row["place"] = 1 + int(np.sum(np.array(values) > found[metric].estimate + 1e-12))
            row |= _behind(name, grid, columns, human, draws, best, metric, found, settings)
            row["note"] = "; ".join(filter(None, [_mark(row, len(ranked)), str(row["note"])]))
        rows.append(row)
    return rows


def _mark(row: dict[str, object], metrics: int) -> str:
    if metrics < 2:
        return ""
    place = {1: "best", 2: "second best"}.get(int(str(row["place"])), "")
    same = "not distinguishable from the best" if row["same_as_best"] and row["place"] != 1 else ""
    return ", ".join(filter(None, [place, same]))


def _resample(
    name: str,
    grid: Grid,
    metric: FloatArray,
    human: FloatArray,
    draws: FloatArray | None,
    settings: _Settings,
) -> Replicates:
    def make(scores: FloatArray) -> Statistic | TwoWayStatistic:
        return coefficient(name, grid, scores, human, settings.level, settings.drawn, settings.average)

    point = make(metric)
    statistic = point
    if draws is not None:
        statistic = over_draws(lambda draw: make(draws[draw]), len(draws), settings.resamples, settings.seed)
    unit, groups = resampling(grid, settings.level, settings.drawn)
    found = bootstrap(
        [statistic],
        unit=unit,
        groups=groups,
        resamples=settings.resamples,
        seed=settings.seed,
        prob=settings.prob,
        method=settings.interval,
    )[0]
    if draws is None:
        return found
    fixed = point.fixed() if isinstance(point, TwoWayStatistic) else point
    value = float(fixed.values(np.ones((1, len(fixed.support))))[0])
    return Replicates(
        value, found.draws, bootstrap_interval(value, found.draws, settings.prob, settings.interval)
    )


def _behind(
    name: str,
    grid: Grid,
    columns: dict[str, FloatArray],
    human: FloatArray,
    draws: dict[str, FloatArray],
    best: str,
    metric: str,
    found: dict[str, Replicates],
    settings: _Settings,
) -> dict[str, object]:
    """How far a metric is behind the best one, on the items of both."""
    if metric == best:
        return {"behind": 0.0, "behind_low": 0.0, "behind_high": 0.0, "same_as_best": True}
    one, two = found[best], found[metric]
    if not np.array_equal(np.isnan(columns[best]), np.isnan(columns[metric])):
        # Different items: resampled anew with what both have. The same seed gives both the same resamples.
        common = np.where(np.isnan(columns[best]) | np.isnan(columns[metric]), np.nan, human)
        one, two = (
            _resample(name, grid, columns[each], common, draws.get(each), settings) for each in (best, metric)
        )
    gap = bootstrap_interval(one.estimate - two.estimate, one.draws - two.draws, settings.prob)
    low = np.nan if gap.low is None else gap.low
    high = np.nan if gap.high is None else gap.high
    return {
        "behind": one.estimate - two.estimate,
        "behind_low": low,
        "behind_high": high,
        "same_as_best": None if gap.low is None else bool(low <= 0 <= high),
    }


def _row(
    name: str, grid: Grid, metric: str, human: str, found: Replicates, settings: _Settings
) -> dict[str, object]:
    x, y = grid.column(metric), grid.column(human)
    both = ~(np.isnan(x) | np.isnan(y))
    n, notes = int(both.sum()), [found.interval.note]
    if np.isnan(found.estimate):
        notes = [undefined_note(grid, metric, human, settings.level)]
    elif settings.level == "context":
        a, b = grid.square(np.where(both, x, np.nan)), grid.square(np.where(both, y, np.nan))
        n, note = context_note(name, a, b)
        notes.append(note)
        if name == "pairwise_accuracy":
            notes.append(f"ties within {tie_threshold(a, b):.3g}")
    elif settings.level == "system":
        assert grid.system is not None
        n = len(np.unique(grid.system[both]))
    elif name == "pairwise_accuracy":
        notes.append(f"ties within {tie_threshold(x[None], y[None]):.3g}")
    if found.interval.low is not None:
        notes.append(few_note(grid, settings.drawn))
    notes += [f"{judge}: {grid.notes[judge]}" for judge in (metric, human) if judge in grid.notes]
    low, high = found.interval.low, found.interval.high
    return {
        "measure": name,
        "judges": (metric, human),
        "criterion": grid.criterion,
        "level": settings.level,
        "value": found.estimate,
        "low": np.nan if low is None else low,
        "high": np.nan if high is None else high,
        "n": n,
        "note": "; ".join(filter(None, notes)),
    }
