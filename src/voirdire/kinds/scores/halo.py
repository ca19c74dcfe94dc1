"""Reasons not to learn tastes of judges, errors shared by families, or strengths per context from a table of scores."""

from __future__ import annotations

from collections import Counter

import numpy as np

from voirdire.kinds.column_checks import contexts_per_item, has_recurring_items
from voirdire.kinds.further_terms import ONE_FAMILY_REASON
from voirdire.kinds.scores.score_counts import has_repeats
from voirdire.tables.numbers import count_in_words
from voirdire.tables.scores import Scores
from voirdire.typing import Bools

# Limits of default models, which must end within minutes.
MAX_LATENT_VALUES = 20_000  # strengths and tastes
MAX_SCORES = 50_000
MAX_NOISES = 200  # judges times criteria, each with a noise
#: Judges with repeated scores; each has a spread of its effects on items.
MAX_REPEATING_JUDGES = 60
#: Smallest share of (judge, item) pairs scored under several criteria, and of items with several judges.
MIN_OVERLAP_SHARE = 0.5
MIN_PEOPLE_ITEMS = 5  # items that people scored, from which these show how large tastes are


def reason_without_shared_errors(table: Scores, families: dict[str, str]) -> str | None:
    """Return a reason not to learn shared errors of families by default; None without reason, "" without families.

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
    """Return a reason not to learn the spread of items by default, or None.

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


def _is_large(table: Scores, values_per_item: int, contexts: int = 0) -> bool:
    """True if a table would take minutes, with ``values_per_item`` latent values and those for repeated scores."""
    opinions = _values_of_repeats(table, contexts)
    return (
        (values_per_item + opinions) * len(table.items) > MAX_LATENT_VALUES
        or table.rows > MAX_SCORES
        or (opinions > 0 and len(table.judges) > MAX_REPEATING_JUDGES)
    )


def _values_of_repeats(table: Scores, contexts: int = 0) -> int:
    """Number of effects of judges on each item that repeated scores identify, over ``contexts`` if there are any."""
    if len(np.unique(table.judge)) < 2 or not has_repeats(table, contexts > 0):
        return 0
    return len(table.judges) * len(table.criteria) * max(contexts, 1)


def reason_without_halo(table: Scores, by_people: Bools | None = None) -> str | None:
    """Return a reason not to learn tastes (halo) by default; None without reason, "" where tastes do not apply.

    Parameters
    ----------
    table : Scores
    by_people : bool array, shape (items,), optional
        Items that people scored, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, criterion, 1) for judge in "ab" for item in "xy" for criterion in "cd"]
    >>> reason_without_halo(read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])))
    """
    criteria, items, judges = len(table.criteria), len(table.items), len(table.judges)
    people = np.zeros(items, dtype=bool) if by_people is None else by_people
    if criteria < 2 or judges + people.any() < 2:
        return ""
    pair = table.judge * items + table.item
    cells = np.unique(pair * criteria + table.criterion)
    if (np.unique(cells // criteria, return_counts=True)[1] > 1).mean() <= MIN_OVERLAP_SHARE:
        return "most items have a judge's scores under one criterion alone"
    are_shared = (np.bincount(np.unique(pair) % items, minlength=items) + people > 1).mean() > MIN_OVERLAP_SHARE
    if not are_shared and people.sum() < MIN_PEOPLE_ITEMS:
        return "most items have one judge, so that taste and strength cannot be distinguished"
    if _is_large(table, criteria + judges):
        return f"{count_in_words(judges, 'judges')} and {items:,} items would take many minutes"
    return None


def reason_without_continuous_halo(table: Scores, by_people: Bools | None = None) -> str | None:
    """As :func:`reason_without_halo`, for continuous scores: each judge has a noise to learn under each criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(f"j{n}", item, criterion, 1.5) for n in range(101) for item in "xy" for criterion in "cd"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]))
    >>> reason_without_halo(table), reason_without_continuous_halo(table)
    (None, '101 judges under 2 criteria would take many minutes')
    """
    reason, judges, criteria = reason_without_halo(table, by_people), len(table.judges), len(table.criteria)
    if reason is None and judges * criteria > MAX_NOISES:
        return f"{count_in_words(judges, 'judges')} under {criteria:,} criteria would take many minutes"
    return reason


MAX_FACTOR_WORK = 2e9  # operations of a factor of the latent values
MIN_ITEM_OVERLAP = 0.5  # more than this share of the items must be scored in several contexts


def reason_contexts_unknown(table: Scores) -> str | None:
    """Return the reason why strengths in each context are not identified; None if they are.

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
    return None if has_recurring_items(table) else "no item is scored in two contexts"


def count_recurring_contexts(table: Scores) -> int:
    """Count the contexts in which items recur; 0 if strengths in contexts are not identified."""
    if reason_contexts_unknown(table) is not None:
        return 0
    assert table.context is not None  # else no contexts
    return len(np.unique(table.context[(contexts_per_item(table) > 1)[table.item]]))


def reason_without_contexts(table: Scores, learns_noise: bool = False) -> str | None:
    """Return a reason not to use contexts by default; None without reason, "" where contexts do not apply.

    With a context for each score, or most items in one context, the term would only widen intervals; and a default must
    end within minutes.

    Parameters
    ----------
    learns_noise : bool
        True if the model learns judges' noise. Only items with several scores in a context then distinguish strength in
        the context from noise.

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
    several = (contexts_per_item(table) > 1).sum()
    if several <= MIN_ITEM_OVERLAP * items:
        return f"{several:,} of {items:,} items are scored in several of them"
    values_per_item = criteria * (1 + contexts) + judges + 1
    if learns_noise and has_one_score_per_context(table):
        return "most items have one score in a context, where strength and noise cannot be distinguished"
    work = float(items) * (values_per_item + _values_of_repeats(table, contexts)) ** 3
    if _is_large(table, values_per_item, contexts) or work > MAX_FACTOR_WORK:
        judge_words = count_in_words(judges, "judges")
        return f"{judge_words} and {items:,} items in {contexts:,} contexts would take many minutes"
    return None


def has_one_score_per_context(table: Scores) -> bool:
    """True if most items have one score in a context, so that learned noise includes variation over contexts.

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
    """True if a table identifies judges' tastes: by several criteria, or by ``contexts`` if the model has them.

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
    columns = [pair, table.criterion, *([] if table.context is None else [table.context])]
    return bool(np.unique(np.stack(columns), axis=1).shape[1] > len(np.unique(pair)))
