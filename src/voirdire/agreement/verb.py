"""The verb `agreement`: agreement of judges by several measures, with intervals, and the dependence of items.

A note names judges who always give the same answer: one model under two names adds agreement, but no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from voirdire.agreement.coefficients.icc import ICC_MEASURES
from voirdire.agreement.coefficients.match import Orientation, Repeats, ratings_by_criterion
from voirdire.agreement.coefficients.panel import LevelCounts
from voirdire.agreement.coefficients.preferences import (
    DEGREE_WIN_RATE,
    HELD_WIN_RATE,
    criterion_preferences,
    ratings_per_vote,
)
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.rows import Row, Task, result_frame, result_rows
from voirdire.agreement.coefficients.tasks import plan_tasks
from voirdire.agreement.engine.combine import (
    TwoWayStatistic,
    group_statistic,
    restrict_to_support,
    value_of_all_units,
    with_fixed_judges,
)
from voirdire.agreement.engine.intervals import Interval, standard_errors
from voirdire.agreement.engine.resample import INTERVALS, MIN_CLUSTERS, UNITS, Replicates
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import CountStatistic, Statistic
from voirdire.agreement.ppi.rows import agreement_with_humans
from voirdire.errors import InputError, raise_problems
from voirdire.settings import read_list
from voirdire.tables.covariates import covariate_columns
from voirdire.tables.detect import read_table
from voirdire.tables.numbers import count_in_words
from voirdire.tables.output_library import convert_to_library, library_of
from voirdire.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANCE_LEVEL = 0.05  # probability of a note where items are independent
MIN_WIDENING = 1.1  # smallest ratio of standard errors worth a note


def dependent_contexts_note(tasks: Sequence[Task], ratings: Ratings) -> str:
    """Say by how much intervals over items are too narrow because items of a context depend; empty where they do not.

    Standard errors over contexts are compared with those over items, both by the delta method, by their median ratio
    over the measures that are functions of totals. Were items independent, the squared ratio of n contexts would have
    a chi-squared distribution with n - 1 degrees of freedom, divided by these.

    Parameters
    ----------
    tasks : sequence of Task
        Measures of one criterion.
    ratings : Ratings
        All answers under that criterion, with the contexts of its units.
    """
    from scipy.stats import chi2

    if ratings.contexts is None:
        return ""
    statistics = [with_fixed_judges(task.statistic) for task in tasks]
    widenings = [_widening(part, ratings.contexts) for part in statistics if isinstance(part, CountStatistic)]
    defined = np.array([pair for pair in widenings if np.isfinite(pair[0])])
    if not len(defined):
        return ""
    ratio, contexts = np.median(defined, axis=0)
    degrees = max(contexts - 1.0, 1.0)
    if ratio < max(MIN_WIDENING, float(chi2.isf(SIGNIFICANCE_LEVEL, degrees) / degrees) ** 0.5):
        return ""
    return (
        f"items of one context are not independent: intervals would be {ratio:.1f} times as wide (median) if whole "
        "contexts were resampled, as they should be to hold for other contexts: give unit='context' (--unit context)"
    )


def _widening(statistic: CountStatistic, contexts: Ints) -> tuple[float, int]:
    """Standard error over contexts, relative to that over items, and the number of contexts; NaN where undefined."""
    used = statistic.support
    count = len(np.unique(contexts[used]))
    if count < 2 or count == used.sum():
        return np.nan, count
    over_contexts, over_items = (_standard_error(part) for part in (group_statistic(statistic, contexts), statistic))
    return (over_contexts / over_items if over_items > 0.0 else np.nan), count


def _standard_error(statistic: Statistic) -> float:
    on_support = restrict_to_support(statistic)
    return float(standard_errors(on_support, np.ones((1, len(on_support.support))))[0])


# On fewer common items two good judges can agree throughout because both are right.
_MIN_COMMON_ITEMS = 20


def identical_judges_note(ratings: Ratings) -> str:
    """Name judges of a panel who gave the same answer to every one of 20 or more common items; empty if there are none.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> identical_judges_note(ratings_from_matrix([["x", "x", "y"], ["y", "y", "y"]] * 10, judges=["a", "b", "c"]))
    "'a' and 'b' gave the same answer to all 20 items they share: copies of one judge pass for agreement"
    """
    answers = LevelCounts(ratings).answers
    rated = ratings.is_rated.astype(float)
    equal_counts, common_counts = answers @ answers.T, rated.T @ rated
    varied = np.array([len(np.unique(column[column >= 0])) > 1 for column in ratings.codes.T])
    first, second = np.nonzero(
        np.triu((equal_counts == common_counts) & (common_counts >= _MIN_COMMON_ITEMS) & varied[:, None], 1)
    )
    if len(first) == 0:
        return ""
    a, b = ratings.judges[first[0]], ratings.judges[second[0]]
    others_note = f" (and {count_in_words(len(first) - 1, 'more pairs')})" if len(first) > 1 else ""
    return (
        f"{a!r} and {b!r} gave the same answer to all {common_counts[first[0], second[0]]:.0f} items they share"
        f"{others_note}: copies of one judge pass for agreement"
    )


def agreement(
    table: object,
    *,
    measures: str | Iterable[str] | None = None,
    judges: Sequence[str] | None = None,
    against: str | None = None,
    pairs: bool | None = None,
    levels: Sequence[object] | None = None,
    repeats: Repeats | None = None,
    orientation: Orientation | None = None,
    humans: object = None,
    hold: object = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Measure how well judges agree.

    Parameters
    ----------
    table : path, dataframe, Votes, Scores, Labels or Rankings
        Votes, scores, labels or rankings, recognised by their columns ``winner``, ``score``, ``label`` and ``rank``.
        Rankings are compared within each context; values are means over contexts.
    measures : str or iterable of str, optional
        Names of measures (`voirdire.agreement.coefficients.measures.MEASURES`); by default those that suit the
        table.
    judges : sequence of str, optional
        The judges to compare; all by default.
    against : str, optional
        Compare each judge with this one only; ``"majority"`` is the majority of the other judges.
    pairs : bool, optional
        True to compare judges two by two, too; by default if there are at most 8.
    levels : sequence, optional
        All possible answers, lowest first. They give words an order and include levels that nobody used.
    repeats, orientation
        As in `voirdire.agreement.coefficients.match.ratings_by_criterion`. Win rates count single votes where
        ``repeats`` is not given, a judge voted on a pair several times in the same order, and there is no column
        ``context``.
    humans : path, dataframe, Votes, Scores or Labels, optional
        Human answers to a random subset of the units, with the table's columns except ``judge``. Agreement with
        humans, and win rates and mean scores by humans, are then estimated for all units; see
        `voirdire.agreement.ppi.rows.agreement_with_humans`.
    hold : str, sequence of str, path or dataframe, optional
        Covariates that ``win_rate_held`` holds fixed, such as "length": columns ``NAME_first`` and ``NAME_second`` of
        the votes, or a table with columns ``item``, optionally ``context``, and numbers. With ``hold`` the default
        measures are ``win_rate_ties_half`` and ``win_rate_held``. ``win_rate_degrees`` uses a column ``degree``.
    **settings
        Settings of resampling: ``resamples``, ``unit``, ``interval``, ``prob``, ``seed`` and ``jobs`` or ``client``,
        or a whole ``resampling``; see `voirdire.agreement.engine.resampling.Resampling`. Unit "context" keeps items
        of a context together. Units "judge" and "both" resample the panel; comparisons of named judges then have no
        interval.

    Returns
    -------
    pandas.DataFrame
        One row per measure, judges, criterion and level, with columns measure, judges (tuple of names),
        criterion (None without), level (the phase, or the item of a win rate; None without), value, low,
        high (NaN where undefined), n (units used) and note (reasons for undefined values, combined or left-out
        answers). ``attrs["notes"]`` names rows that were not listed because they would be too many, and says
        where items of one context depend on each other, so that intervals over items are too narrow.

    Raises
    ------
    InputError
        For an invalid table or request, with every problem found.

    Examples
    --------
    >>> import pandas as pd
    >>> table = {"judge": ["a", "b"] * 4, "item": [1, 1, 2, 2, 3, 3, 4, 4], "label": list("yyynnnnn")}
    >>> found = agreement(pd.DataFrame(table), measures=["agreement_rate", "cohen_kappa"], resamples=500)
    >>> found[["measure", "value", "n"]].values.tolist()
    [['agreement_rate', 0.75, 4], ['cohen_kappa', 0.5, 4]]
    """
    if humans is not None:
        if against is not None or pairs is not None:
            raise InputError("with human answers each judge is compared with the humans; leave out against and pairs")
        if hold is not None:
            raise InputError(f"{HELD_WIN_RATE} is of judges' votes alone; leave out hold or humans")
        powered = agreement_with_humans(
            table, humans, measures=measures, judges=judges, levels=levels, repeats=repeats, **settings
        )
        return convert_to_library(powered, library_of(table))
    if settings.get("interval") in ("t", "wilson", "normal"):
        raise InputError(
            f"interval {settings['interval']!r} is for estimates with human answers; give humans, or another kind"
        )
    resampling = Resampling.from_settings(settings, UNITS, INTERVALS)
    answers = read_table(table, levels=levels, rankings=True, keep=() if hold is None else covariate_columns(hold))
    matched = ratings_by_criterion(answers, repeats=repeats, levels=levels, orientation=orientation)
    votes = ratings_per_vote(answers) if repeats is None else None
    if hold is not None and measures is None:
        measures = ("win_rate_ties_half", HELD_WIN_RATE)
    if measures is not None and not isinstance(measures, str):
        measures = [str(name) for name in read_list("measures", measures)]
    requested = {measures} if isinstance(measures, str) else {*(measures or ())}
    needed = _needs_preferences(answers, requested, hold)
    preferences = criterion_preferences(answers, votes or matched, hold) if needed else []
    tasks_by_criterion, notes = plan_tasks(matched, measures, judges, against, pairs, votes, preferences)
    rows: list[Row] = []
    for ratings, tasks in zip(matched, tasks_by_criterion, strict=True):
        panels = {task.judges: task.ratings for task in tasks if len(task.judges) > 2}
        copies = {judges: identical_judges_note(panel) for judges, panel in panels.items()}
        note = partial(_note_on_resampling, ratings=ratings, resampling=resampling)
        noted = [replace(task, note=partial(note, task=task, copies=copies.get(task.judges, ""))) for task in tasks]
        resampled = [task for task in noted if resampling.unit in ("item", "context") or _is_panel_task(task)]
        row_by_task = dict(zip(map(id, resampled), result_rows(resampled, resampling, ratings.contexts), strict=True))
        rows += [row_by_task.get(id(task)) or task.row(_point_estimate(task)) for task in noted]
        if resampling.unit == "item" and (dependence := dependent_contexts_note(tasks, ratings)):
            under = "" if ratings.criterion is None else f"under {ratings.criterion!r} "
            notes.append(under + dependence)
    frame = result_frame(rows)
    frame.attrs["notes"] = notes
    return convert_to_library(frame, library_of(table))


def _needs_preferences(answers: Any, measures: set[str], hold: object) -> bool:
    """True where a measure needs degrees or covariates of votes; raises `InputError` where they are missing."""
    problems = []
    if hold is not None and HELD_WIN_RATE not in measures:
        problems.append(f"hold is for {HELD_WIN_RATE}; name it among the measures, or leave hold out")
    if HELD_WIN_RATE in measures and hold is None:
        problems.append(f"{HELD_WIN_RATE} needs hold (--hold): what is held fixed, such as length")
    compares = answers.compares_items
    if compares and DEGREE_WIN_RATE in measures and (answers.details is None or answers.details.degree is None):
        problems.append(
            f"{DEGREE_WIN_RATE} needs a column 'degree': how sure the judge was of each winner, from 0.5 to 1"
        )
    raise_problems(problems)
    return compares and not measures.isdisjoint((HELD_WIN_RATE, DEGREE_WIN_RATE))


def _is_panel_task(task: Task) -> bool:
    """True for a task about a panel whose judges can be resampled."""
    return isinstance(task.statistic, TwoWayStatistic) and len(task.judges) > 2


def _point_estimate(task: Task) -> Replicates:
    reason = "no interval: it compares named judges, which resampling the panel would exchange"
    return Replicates(value_of_all_units(task.statistic), np.empty(0), Interval(None, None, reason))


def _note_on_resampling(
    replicates: Replicates, task: Task, ratings: Ratings, resampling: Resampling, copies: str
) -> str:
    """Note left-out units, too few judges or contexts for a trustworthy interval, and copies of one judge."""
    warning = ""
    if replicates.interval.low is not None and resampling.unit != "item":
        number, name = len(task.judges), "judges"
        if resampling.unit == "context" and ratings.contexts is not None:
            used = with_fixed_judges(task.statistic).support
            number, name = len(np.unique(ratings.contexts[used])), "contexts"
        if number < MIN_CLUSTERS:
            warning = f"only {number} {name} to resample: the interval is likely too narrow"
    return "; ".join(filter(None, [_note_on_left_out(task), warning, copies]))


def _note_on_left_out(task: Task) -> str:
    """Note units with several answers that a measure leaves out: contexts without an order, incomplete units."""
    used = int(with_fixed_judges(task.statistic).support.sum())
    left_out = int((task.ratings.is_rated.sum(axis=1) > 1).sum()) - used
    if left_out <= 0:
        return ""
    if task.ratings.ranks is not None:
        reason = "fewer than two items that all ranked, or all tied by a judge"
        return f"{count_in_words(left_out, 'contexts')} undefined ({reason}) and left out"
    mixed_note = f"; {task.measure}_mixed counts them" if task.measure in ICC_MEASURES else ""
    return f"{count_in_words(left_out, 'units')} that some judges did not answer left out{mixed_note}"
