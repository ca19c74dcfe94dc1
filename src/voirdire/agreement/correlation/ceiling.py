"""The human ceiling: how well one annotator correlates with the mean of the others.

No metric can be expected to agree with people better than people agree with each other. Each annotator is
left out in turn and correlated with the mean of the rest; the ceiling is the mean over annotators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from voirdire.agreement.coefficients.rows import Row, frame_of
from voirdire.agreement.correlation.grid import grids, with_human
from voirdire.agreement.correlation.levels import Average, Drawn, Level, check_level, coefficient, resampling
from voirdire.agreement.correlation.request import request
from voirdire.agreement.engine.combine import TwoWayStatistic, mean_of
from voirdire.agreement.engine.intervals import Method
from voirdire.agreement.engine.resample import RESAMPLES, bootstrap, check_request
from voirdire.agreement.engine.statistic import Statistic
from voirdire.errors import InputError
from voirdire.tables.scores import read_scores

if TYPE_CHECKING:
    import pandas as pd

OTHERS = "mean of the others"
CEILING = "left-out annotator"


def human_ceiling(
    table: object,
    annotators: Sequence[str],
    *,
    level: Level = "pooled",
    coefficients: str | Iterable[str] | None = None,
    average: Average = "mean",
    unit: Drawn | None = None,
    interval: Method = "percentile",
    resamples: int = RESAMPLES,
    prob: float = 0.95,
    seed: int = 0,
    phase: str | None = None,
) -> pd.DataFrame:
    """Correlate each annotator with the mean of the others, and average.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores of the annotators, among others.
    annotators : sequence of str
        The judges who are people, two or more.
    level, coefficients, average, unit, interval, resamples, prob, seed, phase
        As in `voirdire.agreement.correlation.verb.metaeval`; contexts are resampled at every level but the pooled one.

    Returns
    -------
    pandas.DataFrame
        Rows as of `voirdire.agreement.verb.agreement`: per criterion and coefficient one for each
        annotator (judges: the annotator, "mean of the others") and one for the ceiling (judges: "left-out
        annotator", ...).

    Raises
    ------
    InputError
        If there are fewer than two annotators, or the request is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["p", "q", "r"] * 4, "item": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
    ...                       "score": [1, 1, 2, 2, 3, 2, 3, 2, 3, 4, 4, 4]})
    >>> human_ceiling(table, ["p", "q", "r"], coefficients="pearson", resamples=100)["value"].round(3).tolist()
    [0.939, 0.757, 0.853, 0.85]
    """
    if len(set(annotators)) < 2:
        raise InputError(f"a human ceiling needs two annotators or more; there are {len(set(annotators))}")
    scores = read_scores(table)
    asked = request(scores, annotators[:1], annotators[1:], coefficients, level, average, phase, None)
    by_default: Drawn = "item" if level == "pooled" else "context"
    drawn = check_level(level, unit or by_default, asked.grids[0])
    if drawn in ("system", "both"):
        raise InputError(f"unit {drawn!r} is not offered for the human ceiling; resample items or contexts")
    check_request(resamples, "item", prob, interval)
    rows: list[Row] = []
    for grid in grids(scores, phase):
        by = "" if grid.criterion is None else f" by criterion {grid.criterion!r}"
        for name in asked.coefficients:
            parts: list[Statistic] = []
            for annotator in annotators:
                rest = with_human(grid, [one for one in annotators if one != annotator], OTHERS)
                made = coefficient(
                    name, rest, rest.column(annotator), rest.column(OTHERS), level, drawn, average
                )
                parts.append(made.fixed() if isinstance(made, TwoWayStatistic) else made)
            unit_, groups = resampling(grid, level, drawn)
            work = [*zip(annotators, parts, strict=True), (CEILING, mean_of(parts))]
            found = bootstrap(
                [one for _, one in work],
                unit=unit_,
                groups=groups,
                resamples=resamples,
                seed=seed,
                prob=prob,
                method=interval,
            )
            for (who, statistic), one in zip(work, found, strict=True):
                low, high = one.interval.low, one.interval.high
                note = one.interval.note
                if np.isnan(one.estimate):
                    of = "an annotator" if who == CEILING else repr(who)
                    note = f"undefined: too few or constant scores of {of}{by}"
                rows.append(
                    Row(
                        name,
                        (who, OTHERS),
                        grid.criterion,
                        level,
                        one.estimate,
                        np.nan if low is None else low,
                        np.nan if high is None else high,
                        int(statistic.support.sum()),
                        note,
                    )
                )
    return frame_of(rows)
