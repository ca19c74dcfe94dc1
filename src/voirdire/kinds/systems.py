"""Tables about systems over contexts: what is judged is a system's answer in a context, an item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.columns import Columns
from voirdire.kinds.votes.results import rank_values
from voirdire.tables.rated import Rated
from voirdire.typing import Floats, Ints


class Placed(NamedTuple):
    """System and context of every item, as codes of shape (items,)."""

    system: Ints
    context: Ints


def systems_and_contexts(table: Rated) -> Placed | None:
    """System and context of every item; None if the table is not about several systems over several contexts.

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
    found = []
    for code in (table.system, table.context):
        of = np.zeros(len(table.items), dtype=np.int64)
        of[table.item] = code
        if (of[table.item] != code).any():
            return None  # an item of two systems is no answer of one
        found.append(of)
    return Placed(*found)


def why_means(table: Rated) -> str | None:
    """Why systems are to be compared by their mean scores, in words; None where judges tell more than that.

    Of one judge who scores every answer once nothing tells its noise from what single answers are worth, and where
    both are learned the less likely of them vanishes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [("a", x, s, 1.5) for x in ("p", "q") for s in ("one", "two")]
    >>> why_means(read_scores(pd.DataFrame(rows, columns=["judge", "context", "system", "score"])))
    'one judge scores every answer once, so that nothing tells its noise from what the answer is worth'
    """
    if len(table.judges) > 1 or systems_and_contexts(table) is None:
        return None
    asked = np.unique(np.stack([table.item, table.criterion]), axis=1)
    if asked.shape[1] < len(table.item):
        return None
    return "one judge scores every answer once, so that nothing tells its noise from what the answer is worth"


def rank_systems(table: Rated, where: Placed, drawn: Floats, posterior: Posterior, prob: float) -> Columns:
    """Systems as they come: system, contexts, and what :func:`.votes.results.ranking_table` has of items.

    Parameters
    ----------
    drawn : array, shape (draws, systems)
        What each is worth.
    """
    score = np.median(drawn, axis=0)
    low, high = posterior.interval(drawn, prob)
    each = rank_values(drawn)
    ends = [0.5 * (1 - prob), 0.5 * (1 + prob)]
    rank_low, rank_high = np.quantile(each, ends, axis=0, method="inverted_cdf")
    contexts = np.unique(np.stack(where), axis=1)[0]
    return {
        "system": np.array(table.systems, dtype=object),
        "contexts": np.bincount(contexts, minlength=len(table.systems)),
        "score": score,
        "sd": drawn.std(axis=0, ddof=1),
        "low": low,
        "high": high,
        "rank": rank_values(score),
        "rank_low": rank_low,
        "rank_high": rank_high,
        "p_best": (each == 1).mean(axis=0),
    }


def check_context_scope(about: Placed | None, over: str, what: str, more: str = "") -> None:
    """Refuse ``over="these"`` where nothing is over contexts; ``more`` says where else something may be.

    Raises
    ------
    InputError
    """
    if about is None and over != "new":
        raise InputError(
            f"over {over!r} is for {what} of several systems over several contexts (columns context and "
            f"system){more}; leave it out"
        )


def systems_note(table: Rated, over: str) -> str:
    """Note on a fit of a table about systems."""
    like = "contexts like these" if over == "new" else "these contexts alone"
    return (
        f"Items are answers of {len(table.systems)} systems in {len(table.contexts)} contexts: systems() "
        f"and the report compare the systems over {like}."
    )
