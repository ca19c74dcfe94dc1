"""Unordered pairs of items as numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.tables.counts import Votes

Ints = npt.NDArray[np.int64]


def pair_keys(votes: Votes, *, criteria: bool) -> Ints:
    """One number per cell for its unordered pair (and criterion, if ``criteria``), alike in all tables of one coding.

    It is (criterion * items + smaller code) * items + larger code.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x", "y"], "second": ["y", "x"], "winner": ["x", "y"]})
    >>> pair_keys(read_votes(table), criteria=False)
    array([1, 1])
    """
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    size = len(votes.items)
    row = votes.criterion if criteria else votes.criterion * 0
    return np.asarray((row * size + low) * size + high)
