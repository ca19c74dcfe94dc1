"""Tastes of judges, and errors that families share: whether the scores of a table can tell them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from voirdire.tables.scores import Scores

MOST_LATENT = 20_000  # strengths and tastes of a default
MOST_SCORES = 50_000
MOST_NOISES = 200  # of judges under each criterion, likewise
SHARED = 0.5  # share of judges' items above which must be scored under several criteria, of items by several judges


def why_no_shared_errors(table: Scores, families: dict[str, str]) -> str | None:
    """Why the model with errors that families share is no default for the table; None if it is, "" of no families.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, 1) for judge in "abc" for item in "xy"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "score"]))
    >>> why_no_shared_errors(table, {"a": "f", "b": "f", "c": "c"})
    """
    members = Counter(families.values())
    if not families or max(members.values()) < 2:
        return ""
    if len(members) < 2:
        return "all judges are of one family, whose errors are then no other thing than what items are worth"
    if table.rows > len(
        {*zip(table.judge.tolist(), table.criterion.tolist(), table.item.tolist(), strict=True)}
    ):
        return "judges score items repeatedly"
    tastes = len(table.judges) if len(table.criteria) > 1 else 0
    if (len(table.criteria) + tastes + len(members)) * len(
        table.items
    ) > MOST_LATENT or table.rows > MOST_SCORES:
        return f"{len(table.judges):,} judges and {len(table.items):,} items would take many minutes"
    return None


def why_spread_given(table: Scores) -> str | None:
    """Why the model that learns how far items are apart is no default for the table; None if it is.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = pd.DataFrame([(judge, item, 1) for judge in "ab" for item in "xy"], columns=["judge", "item", "score"])
    >>> why_spread_given(read_scores(rows)), why_spread_given(read_scores(pd.concat([rows, rows])))
    (None, 'judges score items repeatedly')
    """
    criteria, items = len(table.criteria), len(table.items)
    cell = (table.judge * criteria + table.criterion) * items + table.item
    if len(np.unique(cell)) < table.rows:
        return "judges score items repeatedly"
    if criteria * items > MOST_LATENT or table.rows > MOST_SCORES:
        return f"{table.rows:,} scores of {items:,} items would take minutes"
    return None


def why_no_halo(table: Scores) -> str | None:
    """Why the model with tastes is no default for the table; None if it is, "" where there is nothing to say.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(judge, item, criterion, 1) for judge in "ab" for item in "xy" for criterion in "cd"]
    >>> why_no_halo(read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])))
    """
    criteria, items, judges = len(table.criteria), len(table.items), len(table.judges)
    if criteria < 2 or judges < 2:
        return ""
    pair = table.judge * items + table.item
    cells, times = np.unique(pair * criteria + table.criterion, return_counts=True)
    if times.max() > 1:
        return "judges score items repeatedly"
    if (np.unique(cells // criteria, return_counts=True)[1] > 1).mean() <= SHARED:
        return "most items have a judge's scores under one criterion alone"
    if (np.bincount(np.unique(pair) % items, minlength=items) > 1).mean() <= SHARED:
        return "most items have one judge, whose taste is then no other thing than what they are worth"
    if criteria * items + judges * items > MOST_LATENT or table.rows > MOST_SCORES:
        return f"{judges:,} judges and {items:,} items would take many minutes"
    return None


def why_no_continuous_halo(table: Scores) -> str | None:
    """As :func:`why_no_halo`, of scores between levels: each judge has a noise to be learned under each criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.scores import read_scores
    >>> rows = [(f"j{n}", item, criterion, 1.5) for n in range(101) for item in "xy" for criterion in "cd"]
    >>> table = read_scores(pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"]))
    >>> why_no_halo(table), why_no_continuous_halo(table)
    (None, '101 judges under 2 criteria would take many minutes')
    """
    why, judges, criteria = why_no_halo(table), len(table.judges), len(table.criteria)
    if why is None and judges * criteria > MOST_NOISES:
        return f"{judges:,} judges under {criteria:,} criteria would take many minutes"
    return why
