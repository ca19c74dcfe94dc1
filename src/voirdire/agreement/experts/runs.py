"""Stability of a judge over repeated runs.

The run-to-run standard deviation of scores is computed on each item and averaged over items (MAREval, Table 2).

The flip rate of votes and labels is computed on each unit (for votes: a pair in one order) with n >= 2 answers of a
judge: the share of the n (n - 1) / 2 pairs of answers that differ. It is averaged over units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.engine.combine import mean_statistic
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import FloatArray, IntArray, mean_over_units
from voirdire.errors import InputError
from voirdire.tables.detect import read_table
from voirdire.tables.scores import Scores, read_scores
from voirdire.typing import Bools

if TYPE_CHECKING:
    import pandas as pd


MEAN_OF_CRITERIA = "mean of the criteria"
NO_CODES = np.empty((0, 1), np.int64)


def run_deviation(table: object, *, ddof: int = 1, **settings: Unpack[Settings]) -> pd.DataFrame:
    """Estimate the run-to-run standard deviation of each judge by each criterion, averaged over items.

    Parameters
    ----------
    table : path, dataframe or Scores
        Scores with several answers of a judge to an item: a ``run`` column, or repeated rows.
    ddof : {0, 1}
        The sum of squares is divided by the number of runs minus ``ddof``.
    **settings
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows of measure ``run_deviation``, one per judge and criterion, and with several criteria one for
        their mean (level "mean of the criteria"). Items with one run are not used; the note counts them.

    Raises
    ------
    InputError
        If no judge scored any item more than once, or `ddof` is neither 0 nor 1.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "item": [1, 1, 2, 2], "run": [1, 2, 1, 2], "score": [3, 5, 4, 4]})
    >>> run_deviation(table, ddof=0, resamples=100)[["value", "n"]].values.tolist()
    [[0.5, 2.0]]
    """
    resampling = Resampling.from_settings(settings)
    scores = read_scores(table)
    if ddof not in (0, 1):
        raise InputError(f"ddof {ddof!r} is neither 0 nor 1")
    if scores.phase is not None:
        raise InputError("run_deviation would mix phases; keep the rows of one phase and leave the column out")
    deviations, single = _deviations_over_runs(scores, ddof)
    if np.isnan(deviations).all():
        raise InputError("no judge scored an item more than once; add the scores of further runs")
    tasks = []
    for place, judge in enumerate(scores.judges):
        parts = [mean_over_units(~np.isnan(deviation), deviation) for deviation in deviations[place]]
        reason = f"undefined: {judge!r} scored no item more than once"
        for number, (name, part) in enumerate(zip(scores.criteria, parts, strict=True)):
            shown = Ratings((judge,), NO_CODES, (), criterion=name if scores.has_criteria else None)
            single_runs = single[place, number]
            note = f"items with a single run, not used: {single_runs}" if single_runs else ""
            tasks.append(Task("run_deviation", (judge,), part, shown, None, reason, note))
        if len(parts) > 1:
            shown = Ratings((judge,), NO_CODES, ())
            tasks.append(Task("run_deviation", (judge,), mean_statistic(parts), shown, MEAN_OF_CRITERIA, reason))
    return result_frame(result_rows(tasks, resampling))


def _deviations_over_runs(scores: Scores, ddof: int) -> tuple[FloatArray, IntArray]:
    """Standard deviation over runs, shape (judges, criteria, units), NaN below two runs; counts of units with one."""
    unit, codes, _ = scores.units(np.ones(scores.rows, bool))
    shape = (len(scores.judges), len(scores.criteria), len(codes))
    cell = (scores.judge, scores.criterion, unit)
    number, total, squares = (np.zeros(shape) for _ in range(3))
    np.add.at(number, cell, 1)
    np.add.at(total, cell, scores.score)
    # Deviations from each cell's mean, so that large scores lose no digits.
    mean = total / np.maximum(number, 1)
    np.add.at(squares, cell, (scores.score - mean[cell]) ** 2)
    enough = number > 1
    variance = np.divide(squares, number - ddof, out=np.full(shape, np.nan), where=enough)
    return np.sqrt(variance), np.sum(number == 1, axis=-1)


def shares_differing(cell: IntArray, answer: IntArray) -> tuple[Bools, FloatArray]:
    """For each cell of answers: True if it has several answers, and the share of differing pairs of them, else 0.

    Examples
    --------
    >>> several, differ = shares_differing(np.array([0, 0, 0, 1]), np.array([4, 4, 7, 4]))
    >>> several.tolist(), differ.round(3).tolist()
    ([True, False], [0.667, 0.0])
    """
    number = np.bincount(cell)
    levels = int(answer.max(initial=0)) + 1
    pairs, kind = np.unique(cell * levels + answer, return_counts=True)
    equal_pairs = np.bincount(pairs // levels, kind * (kind - 1), minlength=len(number))
    several = number > 1
    return several, np.where(several, 1 - equal_pairs / np.maximum(number * (number - 1), 1), 0.0)


def run_to_run(table: object, **settings: Unpack[Settings]) -> pd.DataFrame:
    """Measure the change of answers between runs: the deviation of scores, the flip rate of votes and labels.

    Parameters
    ----------
    table : path, dataframe, Votes, Labels or Scores
        Repeated answers of a judge to the same question: a ``run`` column, or repeated rows.
    **settings
        As in `voirdire.agreement.verb.agreement`; units are resampled.

    Returns
    -------
    pandas.DataFrame
        For scores the result of `voirdire.agreement.experts.runs.run_deviation`; else one row of measure ``flip_rate``
        per judge and criterion.

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
    answers_table: Any = read_table(table)
    if answers_table.is_numeric:
        return run_deviation(answers_table, **settings)
    resampling = Resampling.from_settings(settings)
    unit = answers_table.unit_codes()
    judge, criterion = unit["judge"], unit["criterion"]
    cell = np.unique(np.column_stack([judge, *answers_table.shown_codes]), axis=0, return_inverse=True)[1].ravel()
    several, differ = shares_differing(cell, np.unique(answers_table.answers, return_inverse=True)[1])
    if not several.any():
        raise InputError("no judge answered anything more than once; add the answers of further runs")
    first = np.unique(cell, return_index=True)[1]
    tasks = []
    for place, name in enumerate(answers_table.judges):
        for number, criterion_name in enumerate(answers_table.criteria):
            judged = (judge[first] == place) & (criterion[first] == number)
            shown = Ratings((name,), NO_CODES, (), criterion=criterion_name if answers_table.has_criteria else None)
            answered_once = int((~several[judged]).sum())
            note = f"answered once only, not used: {answered_once}" if answered_once else ""
            reason = f"undefined: {name!r} answered nothing more than once"
            statistic = mean_over_units(several[judged], differ[judged])
            tasks.append(Task("flip_rate", (name,), statistic, shown, None, reason, note))
    return result_frame(result_rows(tasks, resampling))
