"""Counts of a table of scores: repeats, answers per item, human scores per cell, unscored items; groups of judges."""

from __future__ import annotations

import numpy as np

from voirdire.tables.problems import Problems
from voirdire.tables.scores import Scores
from voirdire.typing import Ints

ONE_GROUP = "all"


def group_per_judge(table: Scores, problems: Problems) -> tuple[tuple[str, ...], Ints]:
    """Names of the groups, and the group of each judge; report a judge with two groups, or none where others have one.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = pd.DataFrame({"judge": ["a", "b"], "group": ["g", "h"], "item": "x", "score": [1, 2]})
    >>> group_per_judge(read_scores(table), Problems("scores"))
    (('g', 'h'), array([0, 1]))
    """
    judge_group = np.zeros(len(table.judges), dtype=np.int64)
    if table.group is None or not table.groups:
        return (ONE_GROUP,), judge_group
    for judge, name in enumerate(table.judges):
        rows = np.flatnonzero(table.judge == judge)
        if not len(rows):
            continue
        judge_group[judge] = table.group[rows[0]]
        other = rows[table.group[rows] != judge_group[judge]]
        if len(other):
            problems.rows(
                other + 1,
                f"judge {name!r} is of {_describe_group(table, table.group[other[0]])} here and of "
                f"{_describe_group(table, judge_group[judge])} before; give judges of different groups different names",
            )
        elif judge_group[judge] < 0:
            problems.table(f"judge {name!r} is of no group, but others are of one; name it, or leave out the column")
    return table.groups, judge_group


def _describe_group(table: Scores, code: int) -> str:
    return "no group" if code < 0 else f"group {table.groups[code]!r}"


def has_repeats(table: Scores, contexts: bool = False) -> bool:
    """True if some judge scored an item more than once under a criterion, and, with ``contexts``, in one context.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> has_repeats(read_scores(pd.DataFrame({"judge": ["a", "a"], "item": "x", "score": [1, 2]})))
    True
    """
    cell = (table.judge * len(table.criteria) + table.criterion) * len(table.items) + table.item
    if contexts and table.context is not None:
        cell = cell * len(table.contexts) + table.context
    return len(np.unique(cell)) < table.rows


def answers_per_cell(table: Scores) -> tuple[float, float]:
    """Mean number of judges of an item under a criterion, and of scores of each, rounded to a tenth.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> answers_per_cell(read_scores(pd.DataFrame({"judge": list("aab"), "item": list("xyx"), "score": [1, 2, 1]})))
    (1.5, 1.0)
    """
    unit = table.criterion * len(table.items) + table.item
    cells = len(np.unique(table.judge * (len(table.criteria) * len(table.items)) + unit))
    return round(cells / max(len(np.unique(unit)), 1), 1), round(table.rows / max(cells, 1), 1)


def human_scores_per_cell(people: Scores, sizes: tuple[int, int]) -> tuple[tuple[float, float], ...]:
    """Share of the cells (criterion, item) with each count of human scores, as (share, count).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> human_scores_per_cell(read_scores(pd.DataFrame({"item": list("xxy"), "score": 1}), judge="people"), (1, 4))
    ((0.25, 1.0), (0.25, 2.0))
    """
    cell = people.criterion * sizes[1] + people.item
    count, cells = np.unique(np.unique(cell, return_counts=True)[1], return_counts=True)
    return tuple((float(n / (sizes[0] * sizes[1])), float(k)) for k, n in zip(count, cells, strict=True))


def report_unscored_items(table: Scores, problems: Problems) -> None:
    """Report items without a score under some criterion."""
    counts = np.zeros((len(table.items), len(table.criteria)), dtype=np.int64)
    np.add.at(counts, (table.item, table.criterion), 1)
    has_score = counts > 0
    if len(table.criteria) > 1 and (has_score.sum(axis=1) == 1).all() and (has_score.sum(axis=0) > 1).all():
        problems.table(
            f"every item has scores under one criterion alone, such as {table.items[0]!r} under "
            f"{table.criteria[int(counts[0].argmax())]!r}: the column criterion is then a category of items; give it "
            "another name (category), or leave it out (--leave-out criterion, in Python read(..., leave_out=...))"
        )
        return
    for criterion, name in enumerate(table.criteria):
        missing = [table.items[item] for item in np.flatnonzero(counts[:, criterion] == 0)]
        if not missing:
            continue
        note = f" under criterion {name!r}" if table.has_criteria else ""
        further = f" and {len(missing) - 1} more items have" if len(missing) > 1 else " has"
        problems.table(f"item {missing[0]!r}{further} no score{note}; score every item, or leave it out")
