"""Distinguishable items, all statements together being right with a stated probability.

Of draws of all scores, two items are told apart where the median of their difference is more than t of its deviations
from zero, t the quantile of the largest deviation of any pair from its own median (max-t: Hothorn, Bretz and Westfall
2008, Biometrical Journal 50). So the chance that any statement of the board is wrong is at most 1 - ``level``. A
deviation above the median is in parts of the distance to the quantile that a normal distribution has at one standard
deviation, one below it in parts of that on the other side: how far items are apart is often known by its lower end
alone, which would make the standard deviation large and the statement weak.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats, Ints

LEVEL = 0.95
MOST = 2_000_000  # numbers held at once
SIDES = (0.15865525393145707, 0.5, 0.8413447460685429)  # quantiles of a normal distribution at -1, 0 and 1


class Apart(NamedTuple):
    """Pairs of items that are distinguishable, items in the order of their draws.

    Attributes
    ----------
    apart : bool array, shape (items, items)
    t : float
        Deviations of a difference from which it is said.
    median, deviation : array, shape (items, items)
        Of the differences, item by row less item by column; the deviation on the side of zero.
    """

    apart: Bools
    t: float
    median: Floats
    deviation: Floats


def told_apart(draws: Floats, level: float = LEVEL) -> Apart:
    """Find the pairs of items that are distinguishable by draws of their scores, shape (draws, items).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = told_apart(rng.normal(size=(4000, 3)) * 0.1 + [0.0, 0.05, 2.0])
    >>> found.apart.tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    items = draws.shape[1]
    draws = draws[:: max(1, items * len(draws) // MOST)]
    median, deviation = np.zeros((items, items)), np.ones((items, items))
    largest = np.zeros(len(draws))
    few = np.ascontiguousarray(draws[:: max(1, items**2 * len(draws) // (10 * MOST))].T)
    at = [round(side * (few.shape[1] - 1)) for side in SIDES]
    for i in range(items - 1):
        apart = draws[:, i : i + 1] - draws[:, i + 1 :]
        below, middle, above = np.partition(few[i] - few[i + 1 :], at, axis=1)[:, at].T
        below, above = np.maximum(middle - below, 1e-150), np.maximum(above - middle, 1e-150)
        away = apart - middle
        np.divide(away, np.where(away < 0.0, below, above), out=away)
        largest = np.maximum(largest, np.abs(away).max(axis=1))
        median[i, i + 1 :], deviation[i, i + 1 :] = middle, np.where(middle > 0.0, below, above)
    median, deviation = median - median.T, np.maximum(np.triu(deviation, 1), np.triu(deviation, 1).T)
    t = float(np.quantile(largest, level))
    return Apart((np.abs(median) > t * deviation) & ~np.eye(items, dtype=bool), t, median, deviation)


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
