"""Win rates against a reference, where every vote compares the same item with another.

The rate of an item is the mean of its votes, 1 for a win, 1/2 for a tie (for a vote with a degree, the degree), as in
leaderboards with a fixed baseline. Its variance is clustered by contexts (prompts): the sum over contexts of the
squared sum of residuals, times G / (G - 1) over n^2; without contexts, votes are the clusters. The interval is
Wilson's (1927, Journal of the American Statistical Association 22) with the number of votes that would have that
variance. The rate describes these votes: unlike the scores of the board, it is not corrected for biases of judges and
lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from voirdire.agreement.engine.intervals import wilson_ends
from voirdire.tables.counts import Votes
from voirdire.typing import Floats, Ints


def reference_rates(votes: Votes | None, prob: float) -> dict[str, Any] | None:
    """Win rate of every item against the item in all votes; None where there is no such item.

    Parameters
    ----------
    votes : Votes or None
        Votes under one criterion; with several the result is None.
    prob : float
        Coverage of the intervals.

    Returns
    -------
    dict or None
        item (the reference) and rates, the highest first: item, value, low, high (None with fewer than two contexts),
        n (votes).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.votes import read_votes
    >>> rows = {"judge": "a", "first": ["x", "x", "y", "y"], "second": "base", "winner": ["x", "x", "y", "base"]}
    >>> found = reference_rates(read_votes(pd.DataFrame(rows)), 0.9)
    >>> found["item"], [(row["item"], row["value"], row["n"]) for row in found["rates"]]
    ('base', [('x', 1.0, 2), ('y', 0.5, 2)])
    """
    if votes is None or len(votes.criteria) > 1 or not len(votes.first):
        return None
    candidates = [
        item
        for item in {int(votes.first[0]), int(votes.second[0])}
        if ((votes.first == item) | (votes.second == item)).all()
    ]
    if len(candidates) != 1:
        return None
    cell, reference = votes.row_cell, candidates[0]
    other = np.where(votes.first == reference, votes.second, votes.first)[cell]
    first_points = np.array([1.0, 0.0, 0.5])[votes.row_outcome]
    if votes.details is not None and votes.details.degree is not None:
        first_points = 0.5 + (first_points - 0.5) * (2.0 * votes.details.degree - 1.0)
    won = np.where(votes.first[cell] == reference, 1.0 - first_points, first_points)
    context = np.arange(len(won)) if votes.row_context is None else votes.row_context
    rows = []
    for item in np.unique(other).tolist():
        of_item = other == item
        row = {"item": votes.items[item], **_mean_vote(won[of_item], context[of_item], prob), "n": int(of_item.sum())}
        rows.append(row)
    return {"item": votes.items[reference], "rates": sorted(rows, key=lambda row: -row["value"])}


def _mean_vote(won: Floats, context: Ints, prob: float) -> dict[str, float | None]:
    """Mean of the votes with its interval."""
    p, groups = float(won.mean()), np.unique(context, return_inverse=True)[1]
    size = int(groups.max()) + 1
    if size < 2:
        return {"value": p, "low": None, "high": None}
    sums = np.bincount(groups, won - p)
    variance = float(sums @ sums) * size / (size - 1) / len(won) ** 2
    n = p * (1.0 - p) / variance if variance > 0.0 else float(size)
    low, high = wilson_ends(p, n, float(ndtri((1.0 + prob) / 2.0)))
    return {"value": p, "low": max(low, 0.0), "high": min(high, 1.0)}
