"""Columns of a table for which the model has no term, and the consequence of leaving them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.model.panel_density import STEP
from voirdire.model.problem import Problem
from voirdire.typing import Ints

SAME_AT_ALL_TIMES = "judges are taken to answer alike at all times"
OMISSION_COSTS = {
    "context": "intervals are too narrow for other contexts, as strengths of items may differ there",
    "run": "effects of a run are taken as noise of single answers",
    "time": SAME_AT_ALL_TIMES,
    "time or run": SAME_AT_ALL_TIMES,  # runs of votes are times if there are no others
    "group": "judges of all groups are taken as alike",
}


def unused_columns(problem: Problem, table: Any, sums: bool) -> list[str]:
    """Write a note for each of the columns context, run, time and group without a parameter in the model.

    There is no note for a column of one value, or for contexts if no item is in two of them.

    Parameters
    ----------
    table : Votes, or a table with one row per answer
        Table of the problem.
    sums : bool
        True if the kind takes ``terms=``, which can name the context.

    Examples
    --------
    >>> import pandas as pd
    >>> import voirdire
    >>> rows = [(judge, "x", "y", context, "x") for judge in "ab" for context in "pq"]
    >>> votes = pd.DataFrame(rows, columns=["judge", "first", "second", "context", "winner"])
    >>> voirdire.fit(votes, model="bradley-terry", method="map").notes[0][:61]
    'Column context (2 values) is not part of model bradley-terry:'
    """
    used = {dim for parameter in problem.density.parameters for dim in parameter.dims}
    values = {
        "context": len(table.contexts) if has_recurring_items(table) else 0,
        "run": len(getattr(table, "runs", ())),
        "group": len(getattr(table, "groups", ())),
    }
    details = getattr(table, "details", None)
    moments = details.time if details is not None else getattr(table, "time", None)
    if moments is not None and values["run"] < 2:  # runs are times if a table has no others
        values["time" if details is None else "time or run"] = len(np.unique(moments))
    if STEP in used:
        used |= {"time", "run", "time or run"}
    costs = OMISSION_COSTS | (
        {"context": f"{OMISSION_COSTS['context']}; terms='item + item:context' has it"} if sums else {}
    )
    return [
        f"Column {name} ({count:,} values) is not part of model {problem.model.name}: {costs[name]}."
        for name, count in values.items()
        if count > 1 and name not in used
    ]


def contexts_per_item(table: Any) -> Ints:
    """Number of contexts of each item, shape (items,); 0 without contexts."""
    context, items = context_codes(table), len(table.items)
    if context is None:
        return np.zeros(items, dtype=np.int64)
    votes = hasattr(table, "row_context")
    item = np.stack([table.first, table.second])[:, table.row_cell] if votes else table.item[None]
    return np.bincount(np.unique(item * len(table.contexts) + context) // len(table.contexts), minlength=items)


def has_recurring_items(table: Any) -> bool:
    """True if some item is in two contexts."""
    return bool((contexts_per_item(table) > 1).any())


def context_codes(table: Any) -> Ints | None:
    """Context of each answer, shape (answers,); None if the table has no such column."""
    codes: Ints | None = table.row_context if hasattr(table, "row_context") else table.context
    return codes
