"""Judges whose rankings are unrelated, or opposed, to those of the others.

Let c be the centred places of the items in a ranking (best highest, tied ones equal), and m the items' mean places in
the other judges' rankings, centred, too. For a judge who orders n items at random, sum c m has mean zero and the
variance sum c^2 sum m^2 / (n - 1) (the permutation distribution of a linear rank statistic: Hajek and Sidak 1967).
Sums over a judge's rankings give a standard normal z, and a correlation with the others. A judge ranks at random where
z does not show agreement though it should, by a clear difference, if the correlation were the median of all judges'.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from voirdire.kinds.checks import names_check
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.problem import Check, list_names
from voirdire.trust.noise import MIN_JUDGES
from voirdire.typing import Floats

SIGNIFICANCE_LEVEL = 0.01  # joint level of the tests of all judges
CLEAR_AGREEMENT = 2.0  # z from which a judge agrees with the others, or below minus which it is opposed to them


def judge_concordance(problem: RankingsProblem) -> tuple[Floats, Floats]:
    """Compute the agreement of each judge's rankings with those of the others; NaN without common items.

    Returns
    -------
    z : array, shape (judges,)
        Standard normal where the judge ranks at random.
    typical : array, shape (judges,)
        Expected z of a judge whose correlation with the others is the median of all judges'.
    """
    table, order = problem.table, problem.order
    place, ranking = np.nonzero(order.row >= 0)
    row = order.row[place, ranking]
    tied = ranking * len(order.row) + order.group[place, ranking]
    mean_place = np.bincount(tied, place) / np.maximum(np.bincount(tied), 1)
    size = np.bincount(ranking)[ranking]
    position = 1.0 - 2.0 * mean_place[tied] / np.maximum(size - 1, 1)
    unit = (table.criterion * len(problem.items) + table.item)[row]
    judge = table.judge[row]
    cell = np.unique(judge.astype(np.int64) * (unit.max() + 1) + unit, return_inverse=True)[1]
    others = np.bincount(unit)[unit] - np.bincount(cell)[cell]
    total = np.bincount(unit, position)[unit] - np.bincount(cell, position)[cell]
    known = others > 0
    ranking, judge, position, mean = ranking[known], judge[known], position[known], total[known] / others[known]
    count = np.maximum(np.bincount(ranking, minlength=table.count), 1)
    c, m = (y - (np.bincount(ranking, y, table.count) / count)[ranking] for y in (position, mean))
    product, squares_c, squares_m = (np.bincount(ranking, y, table.count) for y in (c * m, c * c, m * m))
    ranked_by = np.zeros(table.count, dtype=np.int64)
    ranked_by[ranking] = judge
    judges = len(problem.judges)
    of_judges = (product, squares_c * squares_m / np.maximum(count - 1, 1), np.sqrt(squares_c * squares_m))
    agreed, variance, scale = (np.bincount(ranked_by, y, judges) for y in of_judges)
    tested = variance > 0.0
    agreed, sd, scale = (np.where(tested, y, np.nan) for y in (agreed, np.sqrt(variance), scale))
    typical = np.median((agreed / scale)[tested]) if tested.any() else np.nan
    return agreed / sd, typical * scale / sd


def judge_checks(problem: RankingsProblem) -> list[Check]:
    """Check for judges who rank at random, and for judges who rank against the others.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> orders = {"ann": "wxyz", "bob": "wxyz", "cem": "wxyz", "dan": "zyxw"}
    >>> given = [(judge, run, order) for judge, order in orders.items() for run in range(9)]
    >>> rows = [(judge, run, item, rank) for judge, run, order in given for rank, item in enumerate(order)]
    >>> table = pd.DataFrame(rows, columns=["judge", "run", "item", "rank"])
    >>> [check.level for check in judge_checks(voirdire.fit(table, method="map").problem)]
    ['ok', 'warn']
    """
    if len(problem.judges) < MIN_JUDGES:
        return []
    z, typical = judge_concordance(problem)
    if np.isnan(z).all():
        return []
    bound = -NormalDist().inv_cdf(SIGNIFICANCE_LEVEL / len(z))
    differs = typical - z > bound
    opposed = differs & (z < -CLEAR_AGREEMENT)
    random = [problem.judges[k] for k in np.flatnonzero(differs & ~opposed & (z < CLEAR_AGREEMENT))]
    against = [problem.judges[k] for k in np.flatnonzero(opposed)]
    message = (
        f"{list_names(random)} ranking items nearly at random compared with the others: leave such a judge out, or "
        "read its prompt and answers. The model takes judges as equally good, so items look closer to each other than "
        "they are."
    )
    opposed_message = (
        f"{list_names(against)} ranking items against the order of the others: see whether rank 1 is its best, and "
        "leave such a judge out if it is."
    )
    return [
        names_check("noise", random, "No judge ranks items at random.", message),
        names_check("below-chance", against, "No judge ranks items against the others.", opposed_message),
    ]
