"""Which items are told apart, all statements together being right with a stated probability.

Of draws of all scores, two items are told apart where their mean difference is more than t standard deviations of it, t
the quantile of the largest such deviation of any pair from its own mean (max-t: Hothorn, Bretz and Westfall 2008,
Biometrical Journal 50). So the chance that any statement of the board is wrong is at most 1 - ``level``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats, Ints

LEVEL = 0.95
MOST = 2_000_000  # numbers held at once


class Apart(NamedTuple):
    """What is told apart, items in the order of their draws.

    Attributes
    ----------
    apart : bool array, shape (items, items)
    t : float
        Standard deviations of a difference from which it is said.
    mean, sd : array, shape (items, items)
        Of the differences, item by row less item by column.
    """

    apart: Bools
    t: float
    mean: Floats
    sd: Floats


def told_apart(draws: Floats, level: float = LEVEL) -> Apart:
    """Which items are told apart by draws of their scores, shape (draws, items).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = told_apart(rng.normal(size=(4000, 3)) * 0.1 + [0.0, 0.05, 2.0])
    >>> found.apart.tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    items = draws.shape[1]
    draws = draws[:: max(1, items * len(draws) // MOST)]
    centre = draws.mean(axis=0)
    mean = centre[:, None] - centre
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    variance = np.diag(covariance)
    sd = np.sqrt(np.maximum(variance[:, None] + variance - 2.0 * covariance, 1e-300))
    away = draws - centre
    largest = np.zeros(len(draws))
    for i in range(items - 1):
        t = np.abs(away[:, i : i + 1] - away[:, i + 1 :]) / sd[i, i + 1 :]
        largest = np.maximum(largest, t.max(axis=1))
    t = float(np.quantile(largest, level))
    return Apart((np.abs(mean) > t * sd) & ~np.eye(items, dtype=bool), t, mean, sd)


def tied_sets(apart: Bools, order: Ints) -> list[list[int]]:
    """Sets of items, neighbours in ``order``, no two of which are told apart; none within another.

    Together they say everything that is told: items that share no set are apart, or stand beyond one that is.

    Examples
    --------
    >>> apart = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> tied_sets(apart, np.array([0, 1, 2]))
    [[0, 1], [1, 2]]
    """
    found: list[list[int]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not apart[order[stop], order[start:stop]].any():
            stop += 1
        if stop > reached:
            found.append([int(one) for one in order[start:stop]])
            reached = stop
    return found
