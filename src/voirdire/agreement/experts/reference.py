"""Judges beside reference classes: accuracy of each, and comparison of two by paired differences and McNemar's test.

Detection: accuracy of a judge's classes against reference classes.

With n_ck the number of items of true class c that the judge puts into class k, n the number of items,

    accuracy         sum_c n_cc / n
    precision of c   n_cc / sum_k n_kc          sensitivity of c   n_cc / sum_k n_ck
    specificity of c sum_{d,k != c} n_dk / sum_{d != c} n_d.        F1 of c   2 n_cc / (sum_k n_ck + sum_k
    n_kc)

Macro averages are plain means over the classes. Macro sensitivity is balanced accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from voirdire.agreement.coefficients.majority import add_reference_column
from voirdire.agreement.coefficients.match import Orientation, Repeats, ratings_by_criterion
from voirdire.agreement.coefficients.measures import find_measure, misfit_reason, statistic_of
from voirdire.agreement.coefficients.ratings import Ratings, other_judges
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.engine.combine import mean_statistic, with_fixed_judges
from voirdire.agreement.engine.permutation import (
    PERMUTATIONS,
    Adjustment,
    adjust,
    check_permutations,
    paired_comparison,
    swap_test,
)
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, Statistic, ratio_or_nan
from voirdire.errors import InputError
from voirdire.tables.detect import read_table
from voirdire.tables.labels import read_labels

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("measure", "a", "b", "criterion", "value_a", "value_b", "difference", "low", "high"),
    *("p_at_least", "p_ahead", "p_value", "p_adjusted", "n", "note"),
)

REFERENCE = "majority of the reference"
_NO_TEST = "no p-value: a measure of ranks has no swap test here; metaeval compares scores by one (--compare)"


def compare_judges(
    table: object,
    reference: str | Sequence[str],
    judges: Sequence[str] | None = None,
    *,
    measure: str = "agreement_rate",
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    permutations: int = PERMUTATIONS,
    adjustment: Adjustment = "holm",
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Compare judges two by two by their agreement with a reference.

    Only units that both judges and the reference answered are used, so that the comparison is paired.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores or Labels
        Answers of judges and reference.
    reference : str or sequence of str
        A judge, or several judges; their majority is then the reference.
    judges : sequence of str, optional
        The judges to compare; all others by default.
    measure : str
        Name of a measure of two judges.
    adjustment : {"holm", "bh"}
        Adjustment of p-values, over all pairs and criteria of the call.
    permutations : int
        Number of rearrangements of the swap test, which needs a measure of counts; rank correlations have no p-value.
    levels, repeats, orientation, **settings
        As in `voirdire.agreement.verb.agreement`; unit "item" or "context".

    Returns
    -------
    pandas.DataFrame
        One row per pair and criterion: measure, a, b, criterion, value_a, value_b, difference (a - b), low,
        high, p_at_least and p_ahead (shares of resamples with a at least as good as b, and better), p_value (swap
        test), p_adjusted, n, note.

    Raises
    ------
    InputError
        If a name is not in the table, or the measure does not suit the answers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": ["human"] * 6 + ["a"] * 6 + ["b"] * 6, "item": list(range(6)) * 3,
    ...                       "label": list("xxxyyy") + list("xxxyyy") + list("xyxyxy")})
    >>> found = compare_judges(table, "human", resamples=200, permutations=99)
    >>> found[["a", "b", "difference"]].round(6).values.tolist()
    [['a', 'b', 0.333333]]
    """
    import pandas as pd

    resampling = Resampling.from_settings(settings, ("item", "context"))
    check_permutations(permutations)
    chosen_measure = find_measure(measure)
    if chosen_measure.compares == "panel":
        raise InputError(f"{measure} is about a whole panel; give a measure of two judges")
    rows: list[dict[str, Any]] = []
    for ratings in ratings_by_criterion(
        read_table(table, levels=levels), repeats=repeats, levels=levels, orientation=orientation
    ):
        ratings, column, experts = add_reference_column(ratings, reference, REFERENCE)
        others = other_judges(ratings.judges, [*experts, column], "the reference", judges, least=2)
        if problem := misfit_reason(chosen_measure, ratings):
            raise InputError(problem)
        for a, b in combinations(others, 2):
            answered = ratings.select_judges([a, b, column])
            answered = answered.keep_units(answered.is_fully_rated)
            statistic_a, statistic_b = (
                with_fixed_judges(statistic_of(chosen_measure, answered.select_judges([judge, column])))
                for judge in (a, b)
            )
            groups = answered.contexts if resampling.unit == "context" else None
            reason = f"too few answers of {a!r}, {b!r} and {column!r} to the same items, or all alike"
            row: dict[str, Any] = {"measure": measure, "a": a, "b": b, "criterion": ratings.criterion}
            row |= paired_comparison(measure, statistic_a, statistic_b, resampling, reason, groups)
            row |= {"p_value": float("nan"), "n": len(answered.codes)}
            if (
                isinstance(statistic_a, CountStatistic)
                and isinstance(statistic_b, CountStatistic)
                and len(answered.codes)
            ):
                row["p_value"] = swap_test(
                    statistic_a, statistic_b, permutations=permutations, seed=resampling.seed, groups=groups
                )
            elif len(answered.codes):
                row["note"] = "; ".join(filter(None, [str(row["note"]), _NO_TEST]))
            rows.append(row)
    for row, p in zip(rows, adjust([row["p_value"] for row in rows], adjustment), strict=True):
        row["p_adjusted"] = float(p)
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
