"""Contexts of a table of scores: whether the worth of items in each can be told, and judges' tastes then."""

from __future__ import annotations

import numpy as np

from voirdire.kinds.scores.halo import MOST_LATENT, MOST_SCORES
from voirdire.tables.scores import Scores
from voirdire.typing import Ints

MOST_WORK = 2e9  # of a factor of the latent values, in numbers times numbers in a row
SHARED = 0.5  # share of the items above which must be scored in several contexts


def why_no_contexts(table: Scores) -> str | None:
    """Why what items are worth in each context cannot be told, in words; None where it can.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame({"judge": "a", "item": ["x", "x", "y"], "context": ["p", "q", "p"], "score": [1, 2, 3]})
    >>> why_no_contexts(read_scores(rows)), why_no_contexts(read_scores(rows.tail(2)))
    (None, 'no item is scored in two contexts')
    """
    if table.context is None:
        return "the table has no column context"
    if not table.has_items or table.systems:
        return "items are answers of systems, each in one context"
    return None if (_contexts_per_item(table) > 1).any() else "no item is scored in two contexts"


def count_recurring_contexts(table: Scores) -> int:
    """Number of contexts in which items recur, where they can be told; else 0."""
    if why_no_contexts(table) is not None:
        return 0
    assert table.context is not None  # else no contexts
    return len(np.unique(table.context[(_contexts_per_item(table) > 1)[table.item]]))


def _contexts_per_item(table: Scores) -> Ints:
    """In how many contexts each item is scored."""
    assert table.context is not None  # else no contexts
    pairs = np.unique(table.item * len(table.contexts) + table.context)
    return np.bincount(pairs // len(table.contexts), minlength=len(table.items))


def why_contexts_left_out(table: Scores) -> str | None:
    """Why the model with contexts is no default for the table; None if it is, "" where there is nothing to say.

    A context for each score, or items most of which stand in one context, would only widen everything; and a default
    must end within minutes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, context, 1) for judge in "ab" for item in "xy" for context in "pq"]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    >>> why_contexts_left_out(read_scores(table)), why_contexts_left_out(read_scores(table.drop(columns="context")))
    (None, '')
    >>> why_contexts_left_out(read_scores(table.drop_duplicates("context")))
    '2 scores in 2 contexts are fewer than two each'
    """
    if why_no_contexts(table) is not None:
        return ""
    contexts, items, judges, criteria = map(len, (table.contexts, table.items, table.judges, table.criteria))
    if table.rows < 2 * contexts:
        return f"{table.rows:,} scores in {contexts:,} contexts are fewer than two each"
    several = (_contexts_per_item(table) > 1).sum()
    if several <= SHARED * items:
        return f"{several:,} of {items:,} items are scored in several of them"
    each = criteria * (1 + contexts) + judges + 1
    large = items * each > MOST_LATENT or table.rows > MOST_SCORES or float(items) * each**3 > MOST_WORK
    if large:
        return f"{judges:,} judges and {items:,} items in {contexts:,} contexts would take many minutes"
    return None


def can_learn_tastes(table: Scores, contexts: bool) -> bool:
    """True if a table says something of judges' tastes: by criteria, or by ``contexts`` that are told apart.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, "x", context, 1) for judge in "ab" for context in "pq"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "context", "score"]))
    >>> can_learn_tastes(table, contexts=True), can_learn_tastes(table, contexts=False)
    (True, False)
    """
    if not contexts:
        return len(table.criteria) > 1
    if len(np.unique(table.judge)) < 2:
        return False
    pair = table.judge * len(table.items) + table.item
    about = [pair, table.criterion, *([] if table.context is None else [table.context])]
    return bool(np.unique(np.stack(about), axis=1).shape[1] > len(np.unique(pair)))
