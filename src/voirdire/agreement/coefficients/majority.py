"""The majority of a panel, and shares of units on which the panel agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.agreement.coefficients.panel import LevelCounts
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import CountStatistic, IntArray, mean_over_units
from voirdire.errors import InputError


def add_tie_level(ratings: Ratings) -> Ratings:
    """Add a level for ties between two items: a majority of forced choices can be a tie.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> forced = replace(ratings_from_matrix([["x", "y"]]), tie="tie")
    >>> add_tie_level(forced).levels, add_tie_level(forced).codes.tolist()
    (('x', 'tie', 'y'), [[0, 2]])
    """
    if ratings.tie is None or ratings.tie in ratings.levels:
        return ratings
    low, high = ratings.levels
    codes = np.where(ratings.codes == 1, 2, ratings.codes)
    return replace(ratings, levels=(low, ratings.tie, high), codes=codes)


def majority_answer(ratings: Ratings) -> IntArray:
    """Answer of more than half of the judges who answered each unit.

    Without such an answer, votes are a tie and labels have no majority (-1). MASA decides this way over experts
    and over the runs of one judge.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the panel; votes need a tie among the levels (see `add_tie_level`).

    Returns
    -------
    int64 array, shape (units,)
        Index into the levels; -1 without an answer or a majority.

    Raises
    ------
    InputError
        For scores with more than 20 levels, where majorities mean little.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> majority_answer(ratings_from_matrix([["a", "a", "b"], ["a", "b", None], [None, None, None]])).tolist()
    [0, -1, -1]
    """
    if len(ratings.levels) > 20 and ratings.values is not None:
        raise InputError(
            f"a majority of scores with {len(ratings.levels)} levels means little; compare judges in pairs"
        )
    counts = LevelCounts(ratings)(np.ones((1, len(ratings.judges))))[0]
    total = counts.sum(axis=1)
    decided = counts.max(axis=1, initial=0.0) * 2 > total
    fallback = np.full(len(total), -1)
    if ratings.tie is not None:
        fallback = np.where(total > 0, ratings.levels.index(ratings.tie), -1)
    return np.where(decided, counts.argmax(axis=1), fallback).astype(np.int64)


def add_reference_column(ratings: Ratings, reference: str | Sequence[str], name: str) -> tuple[Ratings, str, list[str]]:
    """Add the majority of several reference judges as a column; return ratings, reference column and judges.

    Parameters
    ----------
    ratings : Ratings
        Ratings of all judges.
    reference : str or sequence of str
        A judge, or several judges; the majority of several becomes a column.
    name : str
        Name of the new column.

    Raises
    ------
    InputError
        For names that are not in the table.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> whole, column, who = add_reference_column(ratings_from_matrix([["a", "a", "b"]]), ["1", "2", "3"], "majority")
    >>> whole.select_judges([column]).codes.tolist(), who
    ([[0]], ['1', '2', '3'])
    """
    reference_judges = [reference] if isinstance(reference, str) else list(reference)
    if not reference_judges:
        raise InputError("reference is empty; name a judge, or several whose majority is the reference")
    if len(reference_judges) == 1:
        return ratings, reference_judges[0], reference_judges
    ratings = add_tie_level(ratings)
    return (ratings.with_column(name, majority_answer(ratings.select_judges(reference_judges))), name, reference_judges)


def share_agreeing(ratings: Ratings, at_least: int | None = None) -> CountStatistic:
    """Share of units on which all judges, or at least m of them, give the same answer.

    Only units that every judge of the panel answered count.

    Parameters
    ----------
    ratings : Ratings
        Ratings of the panel.
    at_least : int, optional
        m; all judges if not given.

    Returns
    -------
    CountStatistic
        The share; undefined where no unit was answered by all.

    Raises
    ------
    InputError
        If m is not between 2 and the number of judges.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> panel = ratings_from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "b", "c"]])
    >>> share_agreeing(panel, 2).values(np.ones((1, 3))).round(6).tolist()
    [0.666667]
    """
    size = len(ratings.judges)
    m = size if at_least is None else at_least
    if not 2 <= m <= size:
        raise InputError(f"at least {m} of {size} judges cannot be asked for; give a number from 2 to {size}")
    top_count = LevelCounts(ratings)(np.ones((1, size)))[0].max(axis=1, initial=0.0)
    return mean_over_units(ratings.is_fully_rated, top_count >= m)
