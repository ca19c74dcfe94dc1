"""Flip rate of a judge: how often it answers otherwise when it is asked the same again.

Of a unit (of votes in one order of the pair) with n answers of a judge, the share of the n (n - 1) / 2 pairs of them
that differ; the mean over units with two answers at the least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Row, Task, result_frame, result_rows
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic, ratio_or_nan
from voirdire.agreement.experts.runs import NO_CODES, run_deviation
from voirdire.errors import InputError
from voirdire.tables.detect import read_table

if TYPE_CHECKING:
    import pandas as pd


def run_to_run(table: object, **settings: Unpack[Settings]) -> pd.DataFrame:
    """Change of answers between runs: of scores their deviation, of votes and labels the flip rate.

    Parameters
    ----------
    table : path, dataframe, Votes, Labels or Scores
        With several answers of a judge to the same: a ``run`` column, or repeated rows.
    **settings
        As in `voirdire.agreement.verb.agreement`; units are resampled.

    Returns
    -------
    pandas.DataFrame
        Of scores as `voirdire.agreement.experts.runs.run_deviation`; else one row of measure ``flip_rate`` per judge
        and criterion.

    Raises
    ------
    InputError
        If no judge answered anything more than once.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "item": [1, 1, 2, 2], "run": [1, 2, 1, 2], "label": list("yyyn")})
    >>> run_to_run(table, resamples=100)[["measure", "value", "n"]].values.tolist()
    [['flip_rate', 0.5, 2]]
    """
    read: Any = read_table(table)
    if read.is_numeric:
        return run_deviation(read, **settings)
    how = Resampling.of(settings)
    unit = read.unit_codes()
    judge, criterion = unit["judge"], unit["criterion"]
    _, cell = np.unique(np.column_stack([judge, *read.asked]), axis=0, return_inverse=True)
    cell = cell.ravel()
    number = np.bincount(cell)
    same = np.unique(
        np.column_stack([cell, np.unique(read.answers, return_inverse=True)[1]]), axis=0, return_counts=True
    )
    alike = np.bincount(same[0][:, 0], same[1] * (same[1] - 1), minlength=len(number))
    if not (number > 1).any():
        raise InputError("no judge answered anything more than once; add the answers of further runs")
    first = np.unique(cell, return_index=True)[1]
    several = number > 1
    differ = np.where(several, 1 - alike / np.maximum(number * (number - 1), 1), 0.0)
    rows: list[Row] = []
    for place, name in enumerate(read.judges):
        tasks = []
        for at, of in enumerate(read.criteria):
            mine = (judge[first] == place) & (criterion[first] == at)
            features = np.column_stack([several, differ])[mine].astype(float)
            shown = Ratings((name,), NO_CODES, (), criterion=of if read.has_criteria else None)
            once = int((~several[mine]).sum())
            note = f"answered once only, not used: {once}" if once else ""
            why = f"undefined: {name!r} answered nothing more than once"
            statistic = CountStatistic(features, lambda t: ratio_or_nan(t[..., 1], t[..., 0]))
            tasks.append(Task("flip_rate", (name,), statistic, shown, None, why, note))
        rows += result_rows(tasks, how)
    return result_frame(rows)
