"""Checks of a fit of rankings."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.checks import CheckBasis, linked_items_check, names_check, separation_check, under_some_criterion
from voirdire.kinds.effect_checks import effect_checks
from voirdire.kinds.rankings.judge_checks import judge_checks
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.model.problem import Check, list_names


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
