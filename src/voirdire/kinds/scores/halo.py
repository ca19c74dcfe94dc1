"""Tastes of judges and errors shared by families: reasons not to learn them from a table of scores.

Contexts of a table of scores: reasons not to learn strengths and tastes in each.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from voirdire.kinds.further_terms import ONE_FAMILY_REASON
from voirdire.kinds.scores.score_counts import has_repeats
from voirdire.tables.scores import Scores
from voirdire.tables.words import count_in_words
from voirdire.typing import Ints

MAX_LATENT_VALUES = 20_000  # strengths and tastes of a default
MAX_SCORES = 50_000
MAX_NOISES = 200  # of judges under each criterion, likewise
#: Judges with repeated scores, each with a spread of what it makes of items in all its runs.
MAX_REPEATING_JUDGES = 60
#: Share of judges' items that must be scored under several criteria, and of items that need several judges.
MIN_OVERLAP_SHARE = 0.5


def reason_without_shared_errors(table: Scores, families: dict[str, str]) -> str | None:
    """Reason not to learn shared errors of families by default; None if there is none, "" without families.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, 1) for judge in "abc" for item in "xy"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    >>> reason_without_shared_errors(table, {"a": "f", "b": "f", "c": "c"})
    """
    members = Counter(families.values())
    if not families or max(members.values()) < 2:
        return ""
    if len(members) < 2:
        return ONE_FAMILY_REASON
    tastes = len(table.judges) if len(table.criteria) > 1 else 0
    if _is_large(table, len(table.criteria) + tastes + len(members)):
        return f"{count_in_words(len(table.judges), 'judges')} and {len(table.items):,} items would take many minutes"
    return None


def reason_for_fixed_spread(table: Scores) -> str | None:
    """Reason not to learn the spread of items by default; None if there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame([(judge, item, 1) for judge in "ab" for item in "xy"], columns=["judge", "item", "score"])
    >>> reason_for_fixed_spread(read_scores(rows)), reason_for_fixed_spread(read_scores(pd.concat([rows] * 20_000)))
    (None, '80,000 scores of 2 items would take minutes')
    """
    if _is_large(table, len(table.criteria)):
        return f"{table.rows:,} scores of {len(table.items):,} items would take minutes"
    return None


def _is_large(table: Scores, each: int, contexts: int = 0) -> bool:
    """True if a table would take minutes, with so many latent values of each item and those that repeats tell."""
    opinions = _values_of_repeats(table, contexts)
    return (
        (each + opinions) * len(table.items) > MAX_LATENT_VALUES
        or table.rows > MAX_SCORES
        or (opinions > 0 and len(table.judges) > MAX_REPEATING_JUDGES)
    )


def _values_of_repeats(table: Scores, contexts: int = 0) -> int:
    """Values that tell what judges make of each item in all their runs, in so many contexts if there are any."""
    if len(np.unique(table.judge)) < 2 or not has_repeats(table, contexts > 0):
        return 0
    return len(table.judges) * len(table.criteria) * max(contexts, 1)


def reason_without_halo(table: Scores) -> str | None:
    """Reason not to learn tastes (halo) by default; None if there is none, "" where there is nothing to say.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, criterion, 1) for judge in "ab" for item in "xy" for criterion in "cd"]
    >>> reason_without_halo(read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])))
    """
    criteria, items, judges = len(table.criteria), len(table.items), len(table.judges)
    if criteria < 2 or judges < 2:
        return ""
    pair = table.judge * items + table.item
    cells = np.unique(pair * criteria + table.criterion)
    if (np.unique(cells // criteria, return_counts=True)[1] > 1).mean() <= MIN_OVERLAP_SHARE:
        return "most items have a judge's scores under one criterion alone"
    if (np.bincount(np.unique(pair) % items, minlength=items) > 1).mean() <= MIN_OVERLAP_SHARE:
        return "most items have one judge, whose taste is then no other thing than what they are worth"
    if _is_large(table, criteria + judges):
        return f"{count_in_words(judges, 'judges')} and {items:,} items would take many minutes"
    return None


def reason_without_continuous_halo(table: Scores) -> str | None:
    """As :func:`reason_without_halo`, of scores between levels: each judge has a noise to learn under each criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(f"j{n}", item, criterion, 1.5) for n in range(101) for item in "xy" for criterion in "cd"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]))
    >>> reason_without_halo(table), reason_without_continuous_halo(table)
    (None, '101 judges under 2 criteria would take many minutes')
    """
    reason, judges, criteria = reason_without_halo(table), len(table.judges), len(table.criteria)
    if reason is None and judges * criteria > MAX_NOISES:
        return f"{count_in_words(judges, 'judges')} under {criteria:,} criteria would take many minutes"
    return reason


MAX_FACTOR_WORK = 2e9  # of a factor of the latent values, in numbers times numbers in a row
MIN_ITEM_OVERLAP = 0.5  # share of the items above which must be scored in several contexts


def reason_contexts_unknown(table: Scores) -> str | None:
    """Reason why strengths in each context are not identified; None where they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame({"judge": "a", "item": ["x", "x", "y"], "context": ["p", "q", "p"], "score": [1, 2, 3]})
    >>> reason_contexts_unknown(read_scores(rows)), reason_contexts_unknown(read_scores(rows.tail(2)))
    (None, 'no item is scored in two contexts')
    """
    if table.context is None:
        return "the table has no column context"
    if not table.has_items or table.systems:
        return "items are answers of systems, each in one context"
    return None if (_contexts_per_item(table) > 1).any() else "no item is scored in two contexts"


def count_recurring_contexts(table: Scores) -> int:
    """Number of contexts in which items recur, where they can be told; else 0."""
    if reason_contexts_unknown(table) is not None:
        return 0
    assert table.context is not None  # else no contexts
    return len(np.unique(table.context[(_contexts_per_item(table) > 1)[table.item]]))


def _contexts_per_item(table: Scores) -> Ints:
    """Number of contexts in which each item is scored."""
    assert table.context is not None  # else no contexts
    pairs = np.unique(table.item * len(table.contexts) + table.context)
    return np.bincount(pairs // len(table.contexts), minlength=len(table.items))


def reason_without_contexts(table: Scores, learns_noise: bool = False) -> str | None:
    """Reason not to use contexts by default; None if there is none, "" where there is nothing to say.

    A context for each score, or items most of which stand in one context, would only widen everything; and a default
    must end within minutes.

    Parameters
    ----------
    learns_noise : bool
        Whether the model learns judges' noise, from which what an item is worth in a context is told by those alone
        that have several scores there.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, context, 1) for judge in "ab" for item in "xy" for context in "pq"]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    >>> reason_without_contexts(read_scores(table)), reason_without_contexts(read_scores(table.drop(columns="context")))
    (None, '')
    >>> reason_without_contexts(read_scores(table.drop_duplicates("context")))
    '2 scores in 2 contexts are fewer than two each'
    """
    if reason_contexts_unknown(table) is not None:
        return ""
    contexts, items, judges, criteria = map(len, (table.contexts, table.items, table.judges, table.criteria))
    if table.rows < 2 * contexts:
        return f"{table.rows:,} scores in {contexts:,} contexts are fewer than two each"
    several = (_contexts_per_item(table) > 1).sum()
    if several <= MIN_ITEM_OVERLAP * items:
        return f"{several:,} of {items:,} items are scored in several of them"
    values_per_item = criteria * (1 + contexts) + judges + 1
    if learns_noise and has_one_score_per_context(table):
        return "most items have one score in a context, where its worth there is no other thing than noise"
    work = float(items) * (values_per_item + _values_of_repeats(table, contexts)) ** 3
    if _is_large(table, values_per_item, contexts) or work > MAX_FACTOR_WORK:
        judge_words = count_in_words(judges, "judges")
        return f"{judge_words} and {items:,} items in {contexts:,} contexts would take many minutes"
    return None


def has_one_score_per_context(table: Scores) -> bool:
    """True if most items have one score in a context, so that noise, where it is learned, is over contexts, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, context, 1) for judge in "ab" for item in "xy" for context in "pq"]
    >>> table = pd.DataFrame(rows, columns=["judge", "item", "context", "score"])
    >>> has_one_score_per_context(read_scores(table)), has_one_score_per_context(read_scores(table.head(4)))
    (False, True)
    """
    assert table.context is not None  # else there are none
    cell = (table.criterion * len(table.items) + table.item) * len(table.contexts) + table.context
    return bool((np.unique(cell, return_counts=True)[1] > 1).mean() <= MIN_ITEM_OVERLAP)


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
