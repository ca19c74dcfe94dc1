"""Votes between two versions, as differences: 1 where the new one won, -1 where the old one did, 0 for a tie."""

from __future__ import annotations

import numpy as np

from voirdire.decide.gate_pairs import EARLIEST, Differences, Versions, differences_by_unit
from voirdire.errors import InputError
from voirdire.tables.counts import Votes
from voirdire.typing import Bools


def differences_of_votes(votes: Votes, versions: Versions) -> Differences:
    """Pair votes by judge and context.

    Raises
    ------
    InputError
        A version is no item of the votes, or no vote is between the two.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = {"judge": "gpt", "context": [1, 1, 2], "first": ["a", "b", "a"], "second": ["b", "a", "b"]}
    >>> votes = read_votes(pd.DataFrame({**table, "winner": ["a", "tie", "b"]}))
    >>> differences_of_votes(votes, Versions("a", "b")).values.tolist()
    [0.5, -1.0]
    """
    import pandas as pd

    new, old = (votes.items.index(name) for name in versions.named(votes.items).values())
    first, second = votes.first[votes.row_cell], votes.second[votes.row_cell]
    rows: Bools = ((first == new) & (second == old)) | ((first == old) & (second == new))
    if not rows.any():
        raise InputError(
            f"votes: none is between {versions.new!r} and {versions.old!r}; ask judges to compare these two"
        )
    sure = None if votes.details is None else votes.details.degree
    weight = np.ones(votes.rows) if sure is None else 2.0 * sure - 1.0
    sign = np.select([votes.answers == new, votes.answers == old], [1.0, -1.0], 0.0)
    time = None if votes.details is None else votes.details.time
    frame = pd.DataFrame(
        {
            "judge": np.array(votes.judges, dtype=object)[votes.judge[votes.row_cell]],
            "criterion": np.array(votes.criteria, dtype=object)[votes.criterion[votes.row_cell]],
            "value": sign * weight,
            "time": np.zeros(votes.rows) if time is None else time,
            "place": np.arange(votes.rows),
        }
    )
    unit = "vote" if votes.row_context is None else "context"
    frame[unit] = (
        np.arange(votes.rows).astype(str)
        if votes.row_context is None
        else np.array(votes.contexts, dtype=object)[votes.row_context]
    )
    frame = frame[rows]
    notes = []
    if votes.row_context is None:
        notes.append(
            "no column 'context' says which votes are on one item: each counts as an item of its own"
        )
    shown_first = float(np.mean(first[rows] == new))
    if not votes.order_unknown and not 0.4 <= shown_first <= 0.6:
        notes.append(
            f"the new version was shown first in {100 * shown_first:.0f}% of the votes, so that a preference for a "
            "position counts as a difference; ask in both orders"
        )
    keys = ["criterion", unit]
    mean = frame.groupby(["judge", *keys], sort=False, as_index=False).agg(EARLIEST)
    return differences_by_unit(mean, keys, unit, (0.0, 1.0), "share of votes won", notes, versions)
