"""Counts of a table of scores: repeats, answers of an item, people's scores by cell, and items that nobody scored."""

from __future__ import annotations

import numpy as np

from voirdire.tables.problems import Problems
from voirdire.tables.scores import Scores


def has_repeats(table: Scores) -> bool:
    """True if some judge scored an item more than once under a criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> has_repeats(read_scores(pd.DataFrame({"judge": ["a", "a"], "item": "x", "score": [1, 2]})))
    True
    """
    cell = (table.judge * len(table.criteria) + table.criterion) * len(table.items) + table.item
    return len(np.unique(cell)) < table.rows


def answers_per_cell(table: Scores) -> tuple[float, float]:
    """Judges of an item under a criterion and scores of each, on average, to a tenth.

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


def human_score_shares(people: Scores, sizes: tuple[int, int]) -> tuple[tuple[float, float], ...]:
    """Shares of the cells (criteria, items) that have so many human scores.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> human_score_shares(read_scores(pd.DataFrame({"item": list("xxy"), "score": 1}), judge="people"), (1, 4))
    ((0.25, 1.0), (0.25, 2.0))
    """
    cell = people.criterion * sizes[1] + people.item
    count, cells = np.unique(np.unique(cell, return_counts=True)[1], return_counts=True)
    return tuple((float(n / (sizes[0] * sizes[1])), float(k)) for k, n in zip(count, cells, strict=True))


def report_unrated(table: Scores, problems: Problems) -> None:
    """Report items that no judge scored, or not under every criterion."""
    counts = np.zeros((len(table.items), len(table.criteria)), dtype=np.int64)
    np.add.at(counts, (table.item, table.criterion), 1)
    given = counts > 0
    if len(table.criteria) > 1 and (given.sum(axis=1) == 1).all() and (given.sum(axis=0) > 1).all():
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
        under = f" under criterion {name!r}" if table.has_criteria else ""
        more = f" and {len(missing) - 1} more items have" if len(missing) > 1 else " has"
        problems.table(f"item {missing[0]!r}{more} no score{under}; score every item, or leave it out")
