"""Groups of judges of a table of scores, such as the stakeholders that they speak for."""

from __future__ import annotations

import numpy as np

from voirdire.tables.problems import Problems
from voirdire.tables.scores import Scores
from voirdire.typing import Ints

ONE_GROUP = "all"


def groups_of(table: Scores, problems: Problems) -> tuple[tuple[str, ...], Ints]:
    """Names of the groups and the group of each judge; a judge of two groups, or of none, is a problem.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> table = pd.DataFrame({"judge": ["a", "b"], "group": ["g", "h"], "item": "x", "score": [1, 2]})
    >>> groups_of(read_scores(table), Problems("scores"))
    (('g', 'h'), array([0, 1]))
    """
    found = np.zeros(len(table.judges), dtype=np.int64)
    if table.group is None or not table.groups:
        return (ONE_GROUP,), found
    for judge, name in enumerate(table.judges):
        rows = np.flatnonzero(table.judge == judge)
        if not len(rows):
            continue
        found[judge] = table.group[rows[0]]
        other = rows[table.group[rows] != found[judge]]
        if len(other):
            problems.rows(
                other + 1,
                f"judge {name!r} is of {_describe_group(table, table.group[other[0]])} here and of "
                f"{_describe_group(table, found[judge])} before; give judges of different groups different names",
            )
        elif found[judge] < 0:
            problems.table(
                f"judge {name!r} is of no group, but others are of one; name it, or leave out the column"
            )
    return table.groups, found


def _describe_group(table: Scores, code: int) -> str:
    return "no group" if code < 0 else f"group {table.groups[code]!r}"
