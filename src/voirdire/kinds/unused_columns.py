"""Columns of a table that a named model has no term for, and the cost of leaving them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.model.panel_density import STEP
from voirdire.model.problem import Problem
from voirdire.typing import Ints

SAME_AT_ALL_TIMES = "judges are taken to answer alike at all times"
OMISSION_COSTS = {
    "context": "intervals are too narrow for other contexts, as items may be worth something else there",
    "run": "what a run shifts as a whole is taken for noise of single answers",
    "time": SAME_AT_ALL_TIMES,
    "time or run": SAME_AT_ALL_TIMES,  # of votes, whose runs are times where they have no other
    "group": "judges of all groups are taken alike",
}


def unused_columns(problem: Problem, table: Any, sums: bool) -> list[str]:
    """A note for each of the columns context, run, time and group that no parameter of a model depends on.

    A context says nothing where no item is in two of them, and a column of one value nothing at all.

    Parameters
    ----------
    table : Votes, or a table with one row per answer
        That the problem was posed over.
    sums : bool
        True if ``terms=`` is for such tables, and could name the context.

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
    if moments is not None and values["run"] < 2:  # runs are times where a table has no other
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


def has_recurring_items(table: Any) -> bool:
    """True if some item is in two contexts."""
    context = context_codes(table)
    if context is None:
        return False
    votes = hasattr(table, "row_context")
    items = np.stack([table.first, table.second])[:, table.row_cell] if votes else table.item[None]
    pairs = np.unique(items * len(table.contexts) + context)
    return len(pairs) > len(np.unique(pairs // len(table.contexts)))


def context_codes(table: Any) -> Ints | None:
    """Context of each answer; None where the table has no such column."""
    codes: Ints | None = table.row_context if hasattr(table, "row_context") else table.context
    return codes
