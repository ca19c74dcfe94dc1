"""Tables of systems over contexts: an item is the answer of a system in a context."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior, summary_of_draws
from voirdire.kinds.columns import Columns, to_records
from voirdire.kinds.kind import Entrants
from voirdire.kinds.results import rank_columns, scope_words
from voirdire.tables.ratings import Rated
from voirdire.typing import Floats, Ints


class Placement(NamedTuple):
    """System and context of every item, as codes of shape (items,)."""

    system: Ints
    context: Ints


def systems_and_contexts(table: Rated) -> Placement | None:
    """Find system and context of every item; None if the table does not have several systems in several contexts.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [("a", x, s, 1) for x in ("p", "q") for s in ("one", "two")]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "context", "system", "score"]))
    >>> systems_and_contexts(table).system.tolist(), systems_and_contexts(table).context.tolist()
    ([0, 1, 0, 1], [0, 0, 1, 1])
    """
    if table.system is None or table.context is None or min(len(table.systems), len(table.contexts)) < 2:
        return None
    codes = []
    for code in (table.system, table.context):
        item_code = np.zeros(len(table.items), dtype=np.int64)
        item_code[table.item] = code
        if (item_code[table.item] != code).any():
            return None  # an item of two systems is not one system's answer
        codes.append(item_code)
    return Placement(*codes)


def members_by_context(placement: Placement, systems: int) -> list[Ints]:
    """List codes of the items of each system, by context; empty for a system without exactly one item in each."""
    order, contexts = np.lexsort((placement.context, placement.system)), np.unique(placement.context)
    members = [order[placement.system[order] == system] for system in range(systems)]
    return [items if np.array_equal(placement.context[items], contexts) else items[:0] for items in members]


def require_systems(table: Rated, posterior: Posterior, answers: str) -> Placement:
    """Find system and context of every item, for draws of systems.

    Raises
    ------
    InputError
        The table does not have several systems in several contexts, or the posterior has no draws.
    """
    placement = systems_and_contexts(table)
    if placement is None:
        raise InputError(
            f"systems() needs {answers} of several systems over several contexts: columns context and system"
        )
    if posterior.values is None:
        raise InputError("systems() needs draws; fit with another method than 'map'")
    return placement


def rank_systems(table: Rated, placement: Placement, drawn: Floats, posterior: Posterior, prob: float) -> Columns:
    """Table of systems in the order of their codes: system, contexts, and the columns of :func:`.results.rank_columns`.

    Parameters
    ----------
    drawn : array, shape (draws, systems)
        Scores of the systems.
    """
    contexts = np.unique(np.stack(placement), axis=1)[0]
    return {
        "system": np.array(table.systems, dtype=object),
        "contexts": np.bincount(contexts, minlength=len(table.systems)),
        **rank_columns(summary_of_draws(posterior, drawn, prob), drawn, prob),
    }


def system_entrants(problem: Any, drawn: Floats, table: Columns) -> Entrants:
    """Make the entrants of a leaderboard from systems, draws of their scores, and their table."""
    rows = [{"item": row.pop("system"), **row} for row in to_records(table)]
    contexts = len(problem.table.contexts) if problem.over == "new" else 0
    return Entrants(problem.table.systems, drawn, rows, contexts)


def check_context_scope(placement: Placement | None, over: str, answers: str, suffix: str = "") -> None:
    """Refuse ``over="these"`` for a table without systems in contexts; ``suffix`` names other tables that allow it.

    Raises
    ------
    InputError
    """
    if placement is None and over != "new":
        raise InputError(
            f"over {over!r} is for {answers} of several systems over several contexts (columns context and "
            f"system){suffix}; leave it out"
        )


def systems_note(table: Rated, over: str) -> str:
    """Write a note on a fit of systems in contexts."""
    return (
        f"Items are answers of {len(table.systems)} systems in {len(table.contexts)} contexts: systems() "
        f"and the report compare the systems over {scope_words(over)}."
    )
