"""The verb `metaeval`: correlation of metrics and judges with people, and comparison with the best metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.pairwise import tie_threshold
from voirdire.agreement.coefficients.rows import COLUMNS, Row, clip_to_range, frame_of_rows
from voirdire.agreement.correlation.draws import statistic_over_draws
from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import (
    Average,
    Grouping,
    Level,
    correlation_statistic,
    count_defined_contexts,
    small_sample_note,
    undefined_note,
)
from voirdire.agreement.correlation.people import combine_score_tables
from voirdire.agreement.correlation.request import Request, read_request
from voirdire.agreement.engine.combine import TwoWayStatistic, value_of_all_units
from voirdire.agreement.engine.intervals import bootstrap_interval
from voirdire.agreement.engine.resample import Replicates
from voirdire.agreement.engine.resampling import Settings
from voirdire.agreement.engine.statistic import FloatArray, Statistic
from voirdire.errors import InputError
from voirdire.tables.output_library import convert_to_library, library_of

if TYPE_CHECKING:
    import pandas as pd

#: Further columns: the resampled unit, the rank among the metrics, and the difference from the best metric.
COMPARISON_COLUMNS = ("unit", "place", "behind", "behind_low", "behind_high", "same_as_best")


def metaeval(
    table: object,
    human: str | Sequence[str] = (),
    *,
    metrics: Sequence[str] | None = None,
    level: Level = "pooled",
    measures: str | Iterable[str] | None = None,
    average: Average = "mean",
    phase: str | None = None,
    draws: object | None = None,
    humans: object = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Correlate the scores of metrics and judges with those of people.

    Parameters
    ----------
    table : path, folder of a run, dataframe, Scores, or list of several
        Scores of people and of metrics. The folder of a run of `voirdire.collect` gives its results. Several tables
        are named by protocol or file.
    human : str or sequence of str
        The human judge, or annotators to average; by default all judges of ``humans``.
    metrics : sequence of str, optional
        The judges to examine; all others by default.
    level : {"pooled", "context", "system"}
        Correlate over all items; within each context, then average; or over the means of systems.
    measures : str or iterable of str, optional
        Some of pearson, spearman, kendall_tau_b, kendall_tau_c, pairwise_accuracy (ties calibrated, except
        at system level) and concordance_index.
    average : {"mean", "fisher"}
        Average of the coefficients of contexts: plain mean, or by Fisher's z.
    phase : str, optional
        The phase of the scores to use; needed if there are phases.
    draws : path, dataframe, Scores, Fit, or mapping of str to Fit, optional
        Posterior draws of further metrics: fits of the table's items, or a table of scores with a column ``run``
        that numbers the draws. The posterior uncertainty enters the interval; the value is that of the mean scores.
        Percentile and basic intervals only.
    humans : path or dataframe, optional
        People's scores in a separate table: item and score, optionally judge, criterion, context, system.
    **settings
        As in `voirdire.agreement.verb.agreement`. Unit "item", "context", "system" or "both". The default is "context"
        (levels pooled and context) and "both" (level system); "item" (pooled) where each context has one item.

    Returns
    -------
    pandas.DataFrame
        One row per metric, criterion and coefficient: measure, judges (metric, human), criterion, level,
        value, low, high, n (items, contexts or systems used) and note; then unit (the resampled unit), place (1 is
        the best metric by that coefficient), behind (the best metric's value minus this value, on the same items), its
        percentile interval behind_low and behind_high, and same_as_best: True if that interval contains 0, so that
        the metric is not distinguishable from the best.

    Raises
    ------
    InputError
        For an invalid table or request, with every problem found.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["human", "metric"] * 5, "item": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...                       "score": [1, 0.2, 2, 0.1, 3, 0.5, 4, 0.6, 5, 0.9]})
    >>> found = metaeval(table, "human", measures="spearman", resamples=200)
    >>> found[["measure", "value", "n"]].values.tolist()
    [['spearman', 0.9, 5]]
    """
    library = library_of(table)
    if humans is not None or isinstance(table, list | tuple):
        tables = table if isinstance(table, list | tuple) else [table]
        table, people_names = combine_score_tables(tables, humans, phase=phase)
        human, phase = human or people_names, None
    request = read_request(table, human, metrics, measures, level, average, phase, draws)
    grouping = Grouping.from_request(level, average, settings, request.grids[0])
    if draws is not None and grouping.resampling.interval not in ("percentile", "basic"):
        raise InputError(
            f"a {grouping.resampling.interval} interval has no room for posterior draws; use percentile or basic"
        )
    parts = product(range(len(request.grids)), request.measures)
    resampling, grouping = grouping.resampling, replace(grouping, resampling=grouping.resampling.without_cluster)
    results = resampling.map(lambda part: _Cell(request, *part, grouping).metric_rows(), parts)
    rows = [row for part in results for row in part]
    return convert_to_library(frame_of_rows(rows, (*COLUMNS, *COMPARISON_COLUMNS)), library)


def _rank_in_words(row: dict[str, object], metrics: int) -> str:
    if metrics < 2:
        return ""
    rank_text = {1: "best", 2: "second best"}.get(int(str(row["place"])), "")
    equal_note = "not distinguishable from the best" if row["same_as_best"] and row["place"] != 1 else ""
    return ", ".join(filter(None, [rank_text, equal_note]))


@dataclass(frozen=True, eq=False)
class _Cell:
    """One criterion and coefficient of a request."""

    request: Request
    number: int
    name: str
    grouping: Grouping

    @property
    def grid(self) -> Grid:
        """Scores by the criterion."""
        return self.request.grids[self.number]

    def metric_rows(self) -> list[dict[str, object]]:
        """Build a row for each metric, with its rank."""
        human = self.grid.judge_scores(self.request.human)
        replicates = {metric: self._resample(metric, human) for metric in self.request.metrics}
        values = {
            name: replicate.estimate for name, replicate in replicates.items() if not np.isnan(replicate.estimate)
        }
        rows = []
        for metric in self.request.metrics:
            row = self._metric_row(metric, replicates[metric])
            unit = self.grouping.resampling.unit
            row |= dict(zip(COMPARISON_COLUMNS, (unit, None, np.nan, np.nan, np.nan, None), strict=True))
            if metric in values:
                better = np.array(list(values.values())) > values[metric] + 1e-12
                row["place"] = 1 + int(better.sum())
                row |= self._distance_behind(max(values, key=values.__getitem__), metric, human, replicates)
                row["note"] = "; ".join(filter(None, [_rank_in_words(row, len(values)), str(row["note"])]))
            rows.append(row)
        return rows

    def _resample(self, metric: str, human: FloatArray) -> Replicates:
        def statistic_of(scores: FloatArray) -> Statistic | TwoWayStatistic:
            return correlation_statistic(self.name, self.grid, scores, human, self.grouping)

        point, resampling = statistic_of(self.grid.judge_scores(metric)), self.grouping.resampling
        draws = self.request.draws[self.number].get(metric)
        if draws is None:
            return self.grouping.bootstrap([point], self.grid)[0]
        drawn = statistic_over_draws(
            lambda draw: statistic_of(draws[draw]), len(draws), resampling.resamples, resampling.seed
        )
        resampled = self.grouping.bootstrap([drawn], self.grid)[0]
        value = value_of_all_units(point)
        return Replicates(
            value, resampled.draws, bootstrap_interval(value, resampled.draws, resampling.prob, resampling.interval)
        )

    def _distance_behind(
        self, best: str, metric: str, human: FloatArray, replicates: dict[str, Replicates]
    ) -> dict[str, object]:
        """Difference of a metric from the best one, on the items of both."""
        if metric == best:
            return dict(zip(COMPARISON_COLUMNS[2:], (0.0, 0.0, 0.0, True), strict=True))
        leader, follower = replicates[best], replicates[metric]
        missing_best, missing_metric = (np.isnan(self.grid.judge_scores(name)) for name in (best, metric))
        if not np.array_equal(missing_best, missing_metric):
            # Different items: resample again on the common items. The same seed gives both the same resamples.
            common = np.where(missing_best | missing_metric, np.nan, human)
            leader, follower = (self._resample(name, common) for name in (best, metric))
        gap = bootstrap_interval(
            leader.estimate - follower.estimate, leader.draws - follower.draws, self.grouping.resampling.prob
        )
        low, high = clip_to_range(gap, self.name, difference=True).ends
        includes_zero = None if gap.low is None else bool(low <= 0 <= high)
        return dict(
            zip(COMPARISON_COLUMNS[2:], (leader.estimate - follower.estimate, low, high, includes_zero), strict=True)
        )

    def _metric_row(self, metric: str, replicates: Replicates) -> dict[str, object]:
        grid, human, level = self.grid, self.request.human, self.grouping.level
        x, y = grid.judge_scores(metric), grid.judge_scores(human)
        scored = ~(np.isnan(x) | np.isnan(y))
        n, notes, x, y = int(scored.sum()), [replicates.interval.note], x[None], y[None]
        if np.isnan(replicates.estimate):
            notes = [undefined_note(grid, metric, human, level)]
        elif level == "system":
            assert grid.system is not None
            n = len(np.unique(grid.system[scored]))
        elif level == "context":
            x, y = (grid.context_system_table(np.where(scored, column[0], np.nan)) for column in (x, y))
            n, note = count_defined_contexts(self.name, x, y)
            notes.append(note)
        if self.name == "pairwise_accuracy" and level != "system" and not np.isnan(replicates.estimate):
            notes.append(f"ties within {tie_threshold(x, y):.3g}")
        if replicates.interval.low is not None:
            notes.append(small_sample_note(grid, self.grouping.resampling.unit))
        notes += [f"{judge}: {grid.notes[judge]}" for judge in (metric, human) if judge in grid.notes]
        about = (self.name, (metric, human), grid.criterion, level)
        interval = clip_to_range(replicates.interval, self.name)
        return asdict(Row(*about, replicates.estimate, *interval.ends, n, "; ".join(filter(None, notes))))
