"""The human ceiling: the correlation of one annotator with the mean of the others.

No metric can be expected to agree with people better than people agree with each other. Each annotator is
left out in turn and correlated with the mean of the others; the ceiling is the mean over annotators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Row, Task, result_frame, result_rows
from voirdire.agreement.correlation.grid import score_grids, with_human
from voirdire.agreement.correlation.levels import Average, Grouping, Level, correlation_statistic
from voirdire.agreement.correlation.request import read_request
from voirdire.agreement.engine.combine import mean_statistic, with_fixed_judges
from voirdire.agreement.engine.resampling import Settings
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
    measures: str | Iterable[str] | None = None,
    average: Average = "mean",
    phase: str | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Correlate each annotator with the mean of the others, and average.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores of the annotators; other judges are ignored.
    annotators : sequence of str
        Names of the human judges, two or more.
    level, measures, average, phase, **settings
        As in `voirdire.agreement.correlation.verb.metaeval`; unit "item" or "context", by default contexts, and items
        (pooled) where no context has several.

    Returns
    -------
    pandas.DataFrame
        Columns as in `voirdire.agreement.verb.agreement`, and the resampled ``unit``. Each criterion and coefficient
        has one row per annotator (judges: the annotator, "mean of the others") and one for the ceiling (judges:
        "left-out annotator", ...).

    Raises
    ------
    InputError
        If there are fewer than two annotators, or the request is not valid.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["p", "q", "r"] * 4, "item": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
    ...                       "score": [1, 1, 2, 2, 3, 2, 3, 2, 3, 4, 4, 4]})
    >>> human_ceiling(table, ["p", "q", "r"], measures="pearson", resamples=100)["value"].round(3).tolist()
    [0.939, 0.757, 0.853, 0.85]
    """
    if len(set(annotators)) < 2:
        raise InputError(f"a human ceiling needs two annotators or more; there are {len(set(annotators))}")
    scores = read_scores(table)
    request = read_request(scores, annotators[:1], annotators[1:], measures, level, average, phase, None)
    by_default: Settings = {"unit": settings.get("unit") or (None if level == "pooled" else "context")}
    grouping = Grouping.from_request(level, average, settings | by_default, request.grids[0])
    if grouping.resampling.unit in ("system", "both"):
        raise InputError(
            f"unit {grouping.resampling.unit!r} is not offered for the human ceiling; resample items or contexts"
        )
    rows: list[Row] = []
    for grid, name in product(score_grids(scores, phase), request.measures):
        criterion_text = "" if grid.criterion is None else f" by criterion {grid.criterion!r}"
        parts: list[Statistic] = []
        for annotator in annotators:
            others = with_human(grid, [other for other in annotators if other != annotator], OTHERS)
            columns = others.judge_scores(annotator), others.judge_scores(OTHERS)
            parts.append(with_fixed_judges(correlation_statistic(name, others, *columns, grouping)))
        named_parts = [*zip(annotators, parts, strict=True), (CEILING, mean_statistic(parts))]
        shown = Ratings((), np.empty((0, 0), np.int64), (), criterion=grid.criterion)
        tasks = []
        for annotator_name, statistic in named_parts:
            subject = "an annotator" if annotator_name == CEILING else repr(annotator_name)
            reason = f"undefined: too few or constant scores of {subject}{criterion_text}"
            tasks.append(Task(name, (annotator_name, OTHERS), statistic, shown, level, reason))
        rows += result_rows(tasks, *grouping.grid_resampling(grid))
    return result_frame(rows).assign(unit=grouping.resampling.unit)
