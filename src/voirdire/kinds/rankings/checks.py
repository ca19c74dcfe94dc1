"""Checks of a fit of rankings.

Judges whose rankings are unrelated, or opposed, to those of the others.

Let c be the centred places of the items in a ranking (best highest, tied ones equal), and m the items' mean places in
the other judges' rankings, centred, too. For a judge who orders n items at random, sum c m has mean zero and the
variance sum c^2 sum m^2 / (n - 1) (the permutation distribution of a linear rank statistic: Hajek and Sidak 1967).
Sums over a judge's rankings give a standard normal z, and a correlation with the others. A judge ranks at random where
z does not show agreement though it should, by a clear difference, if the correlation were the median of all judges'.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from voirdire.kinds.checks import CheckBasis, linked_items_check, names_check, separation_check, under_some_criterion
from voirdire.kinds.column_checks import effect_checks
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


def all_checks(problem: RankingsProblem, basis: CheckBasis) -> list[Check]:
    """Make the checks of a fit of rankings, after those of its method."""
    entries = [connectivity_check(problem), first_or_last_check(problem), constant_judges_check(problem)]
    entries += judge_checks(problem)
    return [*basis.of_method, *entries, *effect_checks(problem, basis.posterior, [problem.table])]


def connectivity_check(problem: RankingsProblem) -> Check:
    """Check that the rankings link all items.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = {"judge": ["a", "a", "b", "b"], "item": list("wxyz"), "rank": [1, 2, 1, 2]}
    >>> connectivity_check(voirdire.fit(pd.DataFrame(rows), method="map").problem).level
    'warn'
    """
    table = problem.table
    ranking, criterion, item = table.ranking, table.criterion, table.item
    if problem.anchors is not None:
        people = problem.anchors.table
        ranking = np.concatenate([ranking, table.count + people.ranking])
        criterion, item = (
            np.concatenate([getattr(source, name) for source in (table, people)]) for name in ("criterion", "item")
        )
    return linked_items_check(
        problem,
        ranking,
        criterion,
        item,
        "Every item can be compared with every other through the rankings.",
        "no ranking has items of both, so their relative strength is the prior's alone (wide intervals). Let judges "
        "rank items of both together.",
    )


def first_or_last_check(problem: RankingsProblem) -> Check:
    """Check for items that come first, or last, in every ranking."""
    order, last = problem.order, problem.order.group.max(axis=0)
    has_order, is_ranked = last > 0, order.row >= 0
    item = order.by_place(problem.table.item)
    names = set()
    for at_end in (order.group == 0, order.group == last):
        for c in range(len(problem.criteria)):
            selected = is_ranked & has_order & (order.by_ranking(problem.table.criterion) == c)
            ranked = np.bincount(item[selected], minlength=len(problem.items))
            at_ends = np.bincount(item[selected & at_end], minlength=len(problem.items))
            names |= {problem.items[i] for i in np.flatnonzero((ranked > 0) & (at_ends == ranked))}
    note = under_some_criterion(len(problem.criteria))
    ok_message = "No item comes first, or last, in every ranking."
    return separation_check(sorted(names), ok_message, f"first or last in every ranking{note}", "rankings")


def constant_judges_check(problem: RankingsProblem) -> Check:
    """Check for judges whose rankings are all ties, or of one item."""
    has_order = problem.order.group.max(axis=0) > 0
    judge = problem.order.by_ranking(problem.table.judge)
    ordered_rankings = np.bincount(judge[has_order], minlength=len(problem.judges))
    names = [problem.judges[k] for k in np.flatnonzero((ordered_rankings == 0) & (problem.judge_votes > 0))]
    return names_check(
        "constant-judges",
        names,
        "Every judge tells some items apart.",
        f"{list_names(names)} telling no items apart: rankings of one item, or with all items tied, have no "
        "information. Leave the judge out, or read its answers.",
    )
