"""Stability of a judge: over repeated runs, and when the two items change places.

Stability of a judge over repeated runs.

The run-to-run standard deviation of scores is computed on each item and averaged over items (MAREval, Table 2).

The flip rate of votes and labels is computed on each unit (for votes: a pair in one order) with n >= 2 answers of a
judge: the share of the n (n - 1) / 2 pairs of answers that differ. It is averaged over units.

Swap consistency: the share of answers that change when the two items change places.

A pair shown in both orders has two answers. The judge is consistent if both answers are the same item (or a
tie). The position bias rate is the share of inconsistent pairs. By the swap rule a changed answer counts as a
tie. Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Table 4 B and C) relate consistency to agreement with experts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from voirdire.agreement.coefficients.majority import add_reference_column, add_tie_level
from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings, unknown_names
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.combine import mean_statistic
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import FloatArray, IntArray, mean_over_units
from voirdire.errors import InputError, raise_problems
from voirdire.settings import read_list
from voirdire.tables.counts import Votes
from voirdire.tables.detect import read_table
from voirdire.tables.encode import level_positions
from voirdire.tables.scores import Scores, read_scores
from voirdire.tables.votes import read_votes
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
        For scores the result of `run_deviation`; else one row of measure ``flip_rate`` per judge and criterion.

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


REFERENCE = "majority of the reference"
NO_PAIR = "undefined: there is no such pair"


def swap_consistency(
    table: object,
    reference: str | Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    **settings: Unpack[Settings],
) -> pd.DataFrame:
    """Estimate the share of answers that change with the order, and agreement with a reference by consistency.

    Parameters
    ----------
    table : path, dataframe or Votes
        Votes; several votes on a pair in one order are first combined by majority.
    reference : str or sequence of str, optional
        A judge, or experts; their majority is then the reference. It combines votes in both orders by majority.
    judges : sequence of str, optional
        The judges to examine; by default all (except the reference) who saw a pair in both orders.
    **settings
        As in `voirdire.agreement.verb.agreement`; pairs are resampled.

    Returns
    -------
    pandas.DataFrame
        Rows as in `voirdire.agreement.verb.agreement`: per judge and criterion the ``position_bias_rate``
        and, with a reference, the ``agreement_rate`` of the swap rule's answer with the reference at levels "all",
        "answer changed" and "answer kept". Pairs seen in one order only are not used; the note counts them.

    Raises
    ------
    InputError
        If a name is not in the table, or a judge saw no pair in both orders.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"judge": "gpt", "context": [1, 1, 2, 2], "first": ["x", "y"] * 2,
    ...                       "second": ["y", "x"] * 2, "winner": ["x", "x", "x", "y"]})
    >>> swap_consistency(table, resamples=100)[["measure", "value", "n"]].values.tolist()
    [['position_bias_rate', 0.5, 2]]
    """
    resampling = Resampling.from_settings(settings)
    votes = read_votes(table)
    experts = [] if reference is None else [reference] if isinstance(reference, str) else list(reference)
    chosen = _choose_judges(votes, experts, judges)
    combined = ratings_by_criterion(votes, repeats="majority", orientation="name")
    shown = [_ratings_in_order(votes, alphabetical) for alphabetical in (True, False)]
    tasks: list[Task] = []
    for number, ratings in enumerate(combined):
        ratings = replace(add_tie_level(ratings), notes={})
        tie = ratings.levels.index(ratings.tie or "tie") if ratings.tie in ratings.levels else -1
        codes_forward, codes_backward = (_align_codes(add_tie_level(orders[number]), ratings) for orders in shown)
        if experts:
            with_reference, column, _ = add_reference_column(ratings, experts, REFERENCE)
        for judge in chosen:
            a, b = (codes_forward[:, ratings.judges.index(judge)], codes_backward[:, ratings.judges.index(judge)])
            answered, changed = (a >= 0) & (b >= 0), (a >= 0) & (b >= 0) & (a != b)
            one_order = int(np.sum((a >= 0) ^ (b >= 0)))
            note = f"pairs shown in one order only, not used: {one_order}" if one_order else ""
            rate = mean_over_units(answered, changed)
            tasks.append(Task("position_bias_rate", (judge,), rate, ratings, None, NO_PAIR, note))
            parts = (("all", answered), ("answer changed", changed), ("answer kept", answered & ~changed))
            for level, used in parts if experts else ():
                rule = np.where(used, np.where(changed, tie, a), -1)
                codes = np.column_stack([rule, with_reference.codes[:, with_reference.judges.index(column)]])
                pair = replace(ratings, judges=(judge, column), codes=codes)
                rate = agreement_rate(pair)
                tasks.append(Task("agreement_rate", (judge, column), rate, ratings, level, NO_PAIR))
    return result_frame(result_rows(tasks, resampling))


def _ratings_in_order(votes: Votes, alphabetical: bool) -> list[Ratings]:
    """Ratings from the votes with pairs shown in one of the two orders."""
    cell = votes.row_cell
    return ratings_by_criterion(
        votes.subset((votes.first[cell] < votes.second[cell]) == alphabetical), repeats="majority", orientation="name"
    )


def _align_codes(part: Ratings, all_ratings: Ratings) -> IntArray:
    """Recode the answers of a part of the votes to the units and levels of all votes; -1 where missing."""
    codes = np.full(all_ratings.codes.shape, -1, np.int64)
    recode = np.append(level_positions(part.levels, all_ratings.levels), -1)
    codes[level_positions(part.units, all_ratings.units)] = recode[part.codes]
    return codes


def _choose_judges(votes: Votes, experts: Sequence[str], judges: Sequence[str] | None) -> list[str]:
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    keys = np.column_stack([votes.judge, votes.criterion, low, high])
    ordered = {order: set(map(tuple, keys[(votes.first < votes.second) == order])) for order in (True, False)}
    swapped = {votes.judges[key[0]] for key in ordered[True] & ordered[False]}
    eligible = [name for name in votes.judges if name in swapped and name not in experts]
    chosen = eligible if judges is None else list(read_list("judges", judges))
    problems = unknown_names("judge", [*experts, *chosen], votes.judges)
    problems += [
        f"judge {name!r} saw no pair in both orders; collect its votes with the items swapped, too"
        for name in chosen
        if name in votes.judges and name not in swapped
    ]
    if not chosen:
        problems.append("no judge saw a pair in both orders; collect votes with the items swapped, too")
    raise_problems(problems)
    return chosen
