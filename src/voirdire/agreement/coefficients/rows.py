"""Rows of results, in one form for tables, JSON and the command line; reasons for undefined values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.agreement.coefficients.icc import ICC_MEASURES, icc_interval
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.combine import TwoWayStatistic, with_fixed_judges
from voirdire.agreement.engine.intervals import Interval
from voirdire.agreement.engine.resample import Replicates, bootstrap
from voirdire.agreement.engine.resampling import ANALYTIC, Resampling
from voirdire.agreement.engine.statistic import IntArray, Statistic
from voirdire.tables.numbers import count_in_words

if TYPE_CHECKING:
    import pandas as pd


def reason_undefined(ratings: Ratings, measure: str) -> str:
    """Explain in a sentence why a measure of the ratings is undefined.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the compared judges.
    measure : str
        The measure's name.

    Returns
    -------
    str
        One sentence, starting with "undefined".

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> reason_undefined(ratings_from_matrix([["a", None], [None, "a"]], judges=["p", "q"]), "cohen_kappa")
    "undefined: no item was answered by both 'p' and 'q'"
    >>> reason_undefined(ratings_from_matrix([["a", "a"], ["a", "a"]]), "cohen_kappa")
    "undefined: every answer is 'a', so nothing could have disagreed"
    """
    if measure.startswith("win_rate"):
        return "undefined: no unit counts: there is no vote on this item, or only ties"
    rated = ratings.is_rated
    silent = [judge for place, judge in enumerate(ratings.judges) if not rated[:, place].any()]
    if len(silent) == len(ratings.judges):
        return "undefined: nobody answered"
    if len(ratings.judges) == 2:
        if silent:
            return f"undefined: {silent[0]!r} answered nothing here"
        used = rated.all(axis=1)
        if not used.any():
            first, second = ratings.judges
            return f"undefined: no item was answered by both {first!r} and {second!r}"
    else:
        complete = measure.startswith(("icc", "kendall_w", "all_agree", "at_least"))
        complete &= not measure.endswith("_mixed")
        used = rated.all(axis=1) if complete else rated.sum(axis=1) > 1
        if not used.any():
            return f"undefined: no item was answered by {'all' if complete else 'two or more'} judges"
    number = int(used.sum())
    answers = ratings.codes[used]
    levels_given = np.unique(answers[answers >= 0])
    if len(levels_given) == 1:
        level = ratings.levels[levels_given[0]]
        if measure.startswith("gwet"):
            return f"undefined: {level!r} is the only level; declare the levels there could have been"
        return f"undefined: every answer is {level!r}, so nothing could have disagreed"
    if number == 1:
        return "undefined: a single item was answered, and it takes two"
    if len(ratings.judges) == 2:
        for judge, column in zip(ratings.judges, answers.T, strict=True):
            if len(np.unique(column)) == 1:
                return f"undefined: every answer of {judge!r} is {ratings.levels[column[0]]!r}, so it cannot correlate"
    if measure.startswith("icc") and np.ptp(ratings.numeric_answers()[used], axis=0).any():
        return "undefined: judges disagree so much that their means of the items show no variance"
    return "undefined: the answers do not vary as the measure needs"


# Ranges of measures by the beginning of their names: shares 0 to 1, correlations -1 to 1, spreads from 0; others to 1.
_SHARE_PREFIXES = (
    *("agreement", "all_agree", "at_least", "miss_", "win_rate", "position_bias", "flip", "accuracy"),
    *("precision", "sensitivity", "specificity", "f1", "pairwise", "concordance"),
)
_CORRELATION_PREFIXES = ("pearson", "spearman", "kendall_tau", "cohen_kappa", "difference")
_SPREAD_PREFIXES = ("run_deviation",)


def clip_to_range(interval: Interval, measure: str, *, difference: bool = False) -> Interval:
    """Cut an interval to the range of the measure, or of a difference of two values.

    Examples
    --------
    >>> [clip_to_range(Interval(-1.1, 1.2), measure).ends for measure in ("f1", "pearson", "icc_3_k", "run_deviation")]
    [(0.0, 1.0), (-1.0, 1.0), (-1.1, 1.0), (0.0, 1.2)]
    >>> clip_to_range(Interval(-1.1, 1.2), "f1", difference=True).ends
    (-1.0, 1.0)
    """
    if interval.low is None or interval.high is None:
        return interval
    shares, spreads = measure.startswith(_SHARE_PREFIXES), measure.startswith(_SPREAD_PREFIXES)
    min_value = 0.0 if shares or spreads else -1.0 if measure.startswith(_CORRELATION_PREFIXES) else -math.inf
    max_value = math.inf if spreads else 1.0
    if difference:
        min_value, max_value = min_value - max_value, max_value - min_value
    return replace(
        interval, low=min(max(interval.low, min_value), max_value), high=max(min(interval.high, max_value), min_value)
    )


# Most judges whose notes are given one by one.
_MAX_NOTES = 3

_NAMES = ("measure", "judges", "criterion", "level", "note")
COLUMNS = ("measure", "judges", "criterion", "level", "value", "low", "high", "n", "note")


@dataclass(frozen=True, slots=True)
class Row:
    """One value with its interval.

    Attributes
    ----------
    measure : str
        Name of the measure.
    judges : tuple of str
        The compared judges.
    criterion, level : str or None
        The criterion; the phase, item, or grouping.
    value, low, high : float
        Value and ends of its interval; NaN where undefined.
    n : int
        Number of units used.
    note : str
        Reason for an undefined value, combined or left-out answers; may be empty.
    """

    measure: str
    judges: tuple[str, ...]
    criterion: str | None
    level: str | None
    value: float
    low: float
    high: float
    n: int
    note: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """One value to compute.

    Attributes
    ----------
    measure, judges, level
        As in `Row`; the phase of the ratings replaces a level of None.
    statistic : Statistic or TwoWayStatistic
        The statistic to resample; the size of its support is the row's n.
    ratings : Ratings
        Source of criterion, phase and notes on the judges.
    undefined : str
        Reason for an undefined value; by default that of `reason_undefined`.
    note : str, or callable of Replicates
        Further note on a defined value.
    is_difference : bool
        True for a difference of two values of the measure.
    """

    measure: str
    judges: tuple[str, ...]
    statistic: Statistic | TwoWayStatistic
    ratings: Ratings
    level: str | None = None
    undefined: str = ""
    note: str | Callable[[Replicates], str] = ""
    is_difference: bool = False

    def row(self, replicates: Replicates) -> Row:
        """Build the row of a result."""
        if math.isnan(replicates.estimate):
            notes = [self.undefined or reason_undefined(self.ratings, self.measure)]
        else:
            notes = [replicates.interval.note, self.note if isinstance(self.note, str) else self.note(replicates)]
        notes_by_judge = self.ratings.notes
        noted = [f"{judge}: {notes_by_judge[judge]}" for judge in self.judges if judge in notes_by_judge]
        if len(noted) > _MAX_NOTES:
            noted = [*noted[:2], f"the like for {count_in_words(len(noted) - 2, 'more judges')}"]
        notes += noted
        level = self.level if self.level is not None else self.ratings.phase
        about = (self.measure, self.judges, self.ratings.criterion, level)
        n = int(with_fixed_judges(self.statistic).support.sum())
        interval = clip_to_range(replicates.interval, self.measure, difference=self.is_difference)
        return Row(*about, replicates.estimate, *interval.ends, n, "; ".join(filter(None, notes)))


def result_rows(tasks: Sequence[Task], resampling: Resampling, groups: IntArray | None = None) -> list[Row]:
    """Resample all tasks at once and build a row of each.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> from voirdire.agreement.coefficients.two import agreement_rate
    >>> ratings = ratings_from_matrix([["a", None], ["a", None]])
    >>> task = Task("agreement_rate", ("1", "2"), agreement_rate(ratings), ratings, undefined="no overlap")
    >>> result_rows([task], Resampling())[0].note
    'no overlap'
    """
    results = bootstrap([task.statistic for task in tasks], groups=groups, resampling=resampling)
    if resampling.interval == ANALYTIC:
        results = [
            _with_closed_form_interval(task, result, resampling) for task, result in zip(tasks, results, strict=True)
        ]
    return [task.row(result) for task, result in zip(tasks, results, strict=True)]


def _with_closed_form_interval(task: Task, replicates: Replicates, resampling: Resampling) -> Replicates:
    """Replace the interval of an intraclass correlation by its F interval; leave other results as they are."""
    if replicates.interval.high is None or task.measure not in ICC_MEASURES:
        return replicates
    if resampling.unit == "context":
        reason = "no interval: F intervals take items as independent; leave interval out"
        return replace(replicates, interval=Interval(None, None, reason))
    return replace(replicates, interval=icc_interval(task.ratings, task.measure, resampling.prob))


def result_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Put rows into a data frame with the columns of `COLUMNS`.

    Examples
    --------
    >>> result_frame([Row("agreement_rate", ("a", "b"), None, None, 0.5, 0.3, 0.7, 20)]).shape
    (1, 9)
    """
    return frame_of_rows([asdict(row) for row in rows])


def frame_of_rows(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] = COLUMNS) -> pd.DataFrame:
    """Put rows into a data frame; names are objects, so that None is kept."""
    import pandas as pd

    kinds: dict[str, Any] = {"value": float, "low": float, "high": float, "n": int} | dict.fromkeys(_NAMES, object)
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=kinds.get(name)) for name in columns})


def json_rows(frame: pd.DataFrame, columns: Iterable[str] = COLUMNS) -> list[dict[str, Any]]:
    """Convert rows of a result to JSON values: undefined numbers are null, judges a list.

    Examples
    --------
    >>> row = Row("agreement_rate", ("a", "b"), None, None, float("nan"), float("nan"), float("nan"), 0, "no overlap")
    >>> json_rows(result_frame([row]))[0]["value"] is None
    True
    """
    return [
        {name: _plain_value(value) for name, value in zip(columns, values, strict=True)}
        for values in frame[list(columns)].itertuples(index=False, name=None)
    ]


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
