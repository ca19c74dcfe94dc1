"""Swap consistency: the share of answers that change when the two items change places.

A pair shown in both orders has two answers. The judge is consistent if both answers are the same item (or a
tie). The position bias rate is the share of inconsistent pairs. By the swap rule a changed answer counts as a
tie. Chen, Wen and Zulkernine (MASA, JMIR AI 2025; Table 4 B and C) relate consistency to agreement with experts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from voirdire.agreement.coefficients.majority import add_reference_column, add_tie_level
from voirdire.agreement.coefficients.match import ratings_by_criterion
from voirdire.agreement.coefficients.ratings import Ratings, unknown_names
from voirdire.agreement.coefficients.rows import Task, result_frame, result_rows
from voirdire.agreement.coefficients.two import agreement_rate
from voirdire.agreement.engine.resampling import Resampling, Settings
from voirdire.agreement.engine.statistic import IntArray, mean_over_units
from voirdire.errors import raise_problems
from voirdire.settings import read_list
from voirdire.tables.counts import Votes
from voirdire.tables.encode import level_positions
from voirdire.tables.votes import read_votes

if TYPE_CHECKING:
    import pandas as pd

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
