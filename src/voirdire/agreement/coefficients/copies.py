"""Judges who always say the same: one model under two names adds agreement, but no evidence."""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.panel import LevelCounts
from voirdire.agreement.coefficients.ratings import Ratings

# On fewer common items two good judges can agree throughout by being right.
_ENOUGH = 20


def copies_note(ratings: Ratings) -> str:
    """Name judges of a panel who gave the same answer to every one of 20 or more common items; empty if there are none.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> copies_note(ratings_from_matrix([["x", "x", "y"], ["y", "y", "y"]] * 10, judges=["a", "b", "c"]))
    "'a' and 'b' gave the same answer to all 20 items they share: copies of one judge pass for agreement"
    """
    answers = LevelCounts(ratings).answers
    rated = ratings.is_rated.astype(float)
    same, both = answers @ answers.T, rated.T @ rated
    varied = np.array([len(np.unique(column[column >= 0])) > 1 for column in ratings.codes.T])
    first, second = np.nonzero(np.triu((same == both) & (both >= _ENOUGH) & varied[:, None], 1))
    if len(first) == 0:
        return ""
    a, b = ratings.judges[first[0]], ratings.judges[second[0]]
    more = f" (and {len(first) - 1} more pairs)" if len(first) > 1 else ""
    return (
        f"{a!r} and {b!r} gave the same answer to all {both[first[0], second[0]]:.0f} items they share{more}: "
        "copies of one judge pass for agreement"
    )
