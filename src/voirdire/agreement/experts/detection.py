"""Detection: accuracy of a judge's classes against reference classes.

With n_ck the number of items of true class c that the judge puts into class k, n the number of items,

    accuracy         sum_c n_cc / n
    precision of c   n_cc / sum_k n_kc          sensitivity of c   n_cc / sum_k n_ck
    specificity of c sum_{d,k != c} n_dk / sum_{d != c} n_d.        F1 of c   2 n_cc / (sum_k n_ck + sum_k
    n_kc)

Macro averages are plain means over the classes. Macro sensitivity is balanced accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings, other_judges
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.engine.combine import mean_statistic
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, Statistic, ratio_or_nan
from voirdire.errors import InputError
from voirdire.tables.labels import read_labels

if TYPE_CHECKING:
    import pandas as pd

MACRO = "macro"

_PARTS: dict[str, Callable[[FloatArray, int], tuple[FloatArray, FloatArray]]] = {
    "precision": lambda n, c: (n[..., c, c], n[..., :, c].sum(axis=-1)),
    "sensitivity": lambda n, c: (n[..., c, c], n[..., c, :].sum(axis=-1)),
    "specificity": lambda n, c: (
        n.sum(axis=(-1, -2)) - n[..., c, :].sum(axis=-1) - n[..., :, c].sum(axis=-1) + n[..., c, c],
        n.sum(axis=(-1, -2)) - n[..., c, :].sum(axis=-1),
    ),
    "f1": lambda n, c: (2 * n[..., c, c], n[..., c, :].sum(axis=-1) + n[..., :, c].sum(axis=-1)),
}


def detection(
    table: object,
    truth: str,
    judges: Sequence[str] | None = None,
    *,
    levels: Sequence[object] | None = None,
    empty: Literal["undefined", "zero"] = "undefined",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compute accuracy, and precision, sensitivity, specificity and F1 by class and macro-averaged.

    Parameters
    ----------
    table : path, dataframe or Labels
        Labels of the judges and of the truth.
    truth : str
        The judge whose labels are the truth.
    judges : sequence of str, optional
        The judges to examine; all others by default.
    levels : sequence, optional
        All possible classes; by default those that occur.
    empty : {"undefined", "zero"}
        Value of a share of no items, such as the precision for a class that the judge never gave. "zero" lets
        rare classes pull the intervals down (as in Table 5 of MASA); "undefined" leaves such resamples out.
    **settings
        As in `voirdire.agreement.verb.agreement`; items are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows as in `voirdire.agreement.verb.agreement`; the level is the class, or "macro".

    Raises
    ------
    InputError
        If a name is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["gold"] * 4 + ["gpt"] * 4, "item": [1, 2, 3, 4] * 2,
    ...                       "label": ["bad", "bad", "ok", "ok", "bad", "ok", "ok", "ok"]})
    >>> found = detection(table, "gold", resamples=100)
    >>> found[found.measure == "sensitivity"][["level", "value"]].values.tolist()
    [['bad', 0.5], ['ok', 1.0], ['macro', 0.75]]
    """
    resampling = Resampling.from_settings(settings)
    if empty not in ("undefined", "zero"):
        raise InputError(f"empty {empty!r} is not known; give 'undefined' or 'zero'")
    tasks = [
        task
        for ratings in ratings_by_criterion(read_labels(table, levels=levels))
        for judge in other_judges(ratings.judges, [truth], "the truth", judges, least=1)
        for task in _detection_tasks(ratings.select_judges([truth, judge]), zero=empty == "zero")
    ]
    return result_frame(result_rows(tasks, resampling))


def _detection_tasks(pair: Ratings, zero: bool) -> list[Task]:
    size = len(pair.levels)
    true, answer = pair.codes.T
    features = np.zeros((len(true), size * size))
    used = np.flatnonzero(pair.is_fully_rated)
    features[used, true[used] * size + answer[used]] = 1.0

    def share_of_class(part: Callable[[FloatArray, int], tuple[FloatArray, FloatArray]], c: int) -> CountStatistic:
        def share_of_totals(t: FloatArray) -> FloatArray:
            hits, base = part(t.reshape(*t.shape[:-1], size, size), c)
            value = ratio_or_nan(hits, base)
            # Only an empty class gives zero; without any items the share is undefined.
            return np.where((base == 0) & (t.sum(axis=-1) > 0), 0.0, value) if zero else value

        return CountStatistic(features, share_of_totals)

    def accuracy_of_totals(t: FloatArray) -> FloatArray:
        n = t.reshape(*t.shape[:-1], size, size)
        return ratio_or_nan(np.trace(n, axis1=-2, axis2=-1), n.sum(axis=(-1, -2)))

    truth, judge = pair.judges

    def task_of_measure(measure: str, statistic: Statistic, level: str | None = None) -> Task:
        class_name = "a class" if level == MACRO else repr(level)
        by_whom = f"by both {truth!r} and {judge!r}"
        reason = f"no item counts for {class_name}" if len(used) else f"no item was answered {by_whom}"
        return Task(measure, (judge, truth), statistic, pair, level, f"undefined: {reason}")

    tasks = [task_of_measure("accuracy", CountStatistic(features, accuracy_of_totals))]
    for measure, part in _PARTS.items():
        class_statistics = [share_of_class(part, c) for c in range(size)]
        tasks += [
            task_of_measure(measure, statistic, level)
            for level, statistic in zip(pair.levels, class_statistics, strict=True)
        ]
        tasks.append(task_of_measure(measure, mean_statistic(class_statistics), MACRO))
    return tasks
