"""Rankings as lists: ranks of the items of each context by each judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import InputError, raise_problems
from voirdire.tables.rankings import Rankings

RANKED = ("ranked",)  # the one answer: there is a ranking


def ratings_from_rankings(
    table: Rankings, *, repeats: str | None = None, levels: object = None, orientation: object = None
) -> list[Ratings]:
    """Build ratings of each criterion with contexts as units; one unit if the table has no contexts.

    Parameters
    ----------
    repeats : {"mean", "error"}, optional
        Treatment of several rankings of one list by one judge: combine by mean ranks (the default), or raise.
    levels, orientation
        Arguments for other tables; must be None.

    Raises
    ------
    InputError
        For repeated rankings under "error", rankings of different items by one judge in one context, and arguments
        for other tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.rankings import read_rankings
    >>> table = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2, 3, 1]})
    >>> ratings_from_rankings(read_rankings(table))[0].ranks[0].tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    """
    if levels is not None or orientation is not None:
        raise InputError("levels and orientation are for other tables than rankings; leave them out")
    if repeats not in (None, "mean", "error"):
        raise InputError(f"repeats {repeats!r} does not fit rankings; give one of mean, error")
    context = np.zeros(table.rows, np.int64) if table.context is None else table.context
    results, problems, uneven = [], list[str](), list[str]()
    for number, criterion in enumerate(table.criteria):
        in_criterion = table.criterion == number
        units, ranks, repeated = np.unique(context[in_criterion]), [], np.zeros(len(table.judges), np.int64)
        for unit in units:
            rows = np.flatnonzero(in_criterion & (context == unit))
            items = np.unique(table.item[rows])
            matrix = np.full((len(items), len(table.judges)), np.nan)
            for judge in np.unique(table.judge[rows]):
                judge_ranks = _ranks_by_ranking(table, rows[table.judge[rows] == judge], items)
                repeated[judge] += len(judge_ranks) > 1
                if (np.isnan(judge_ranks) != np.isnan(judge_ranks[0])).any():
                    uneven.append(
                        f"judge {table.judges[judge]!r}"
                        + (f" in context {table.contexts[unit]!r}" if table.contexts else "")
                    )
                matrix[:, judge] = judge_ranks.mean(axis=0)
            ranks.append(matrix)
        if repeats == "error":
            problems += [
                f"judge {judge!r} ranked {times} lists more than once; say by repeats how to combine them"
                for judge, times in zip(table.judges, repeated, strict=True)
                if times
            ]
        names = [table.contexts[unit] for unit in units] if table.contexts else ["all items"]
        results.append(
            Ratings(
                judges=table.judges,
                codes=np.array([np.where(np.isnan(list_ranks).all(axis=0), -1, 0) for list_ranks in ranks], np.int64),
                levels=RANKED,
                contexts=np.arange(len(units)) if table.contexts else None,
                units=tuple(names),
                criterion=criterion if table.has_criteria else None,
                notes=_notes_on_repeats(table.judges, repeated),
                ranks=tuple(ranks),
            )
        )
    if uneven:
        others_note = f" (and {len(uneven) - 1} more)" if len(uneven) > 1 else ""
        problems.append(
            f"{uneven[0]}{others_note} ranked other items in one ranking than in another, and their ranks cannot be "
            "compared; compare the votes between items (--table votes)"
        )
    raise_problems(problems)
    return results


def _ranks_by_ranking(table: Rankings, rows: np.ndarray, items: np.ndarray) -> FloatArray:
    """Mid-ranks of all items in each ranking of one judge, shape (rankings, items); NaN for items left out."""
    import pandas as pd

    rankings, place = np.unique(table.ranking[rows], return_inverse=True)
    ranks = np.full((len(rankings), len(items)), np.nan)
    ranks[place, np.searchsorted(items, table.item[rows])] = pd.Series(table.rank[rows]).groupby(place).rank()
    return ranks


def _notes_on_repeats(judges: Sequence[str], repeated: np.ndarray) -> dict[str, str]:
    return {
        judge: f"{times} list{'' if times == 1 else 's'} ranked more than once, combined by mean ranks"
        for judge, times in zip(judges, repeated, strict=True)
        if times
    }
