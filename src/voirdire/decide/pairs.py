"""Distinguishable items, all statements together being right with a stated probability.

Of draws of all scores, an item is distinguishably better than another where the median of their difference is more than
t of its deviations above zero, t the quantile of the largest deviation of any pair from its own median (max-t: Hothorn,
Bretz and Westfall 2008, Biometrical Journal 50). So the chance that any statement is wrong is at most 1 - ``level``. A
deviation above the median is in parts of the distance to the quantile that a normal distribution has at one standard
deviation, one below it in parts of that on the other side: how far items are apart is often known by its lower end
alone, which would make the standard deviation large and the statement weak.

Items than which none is distinguishably better share the first place, and an item's rank is among those that statements
leave open (Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91): that the best is among the first,
and every rank within its bounds, follows from the statements, and holds with the same probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.typing import Bools, Floats, Ints

WORK = 20_000_000  # draws times pairs of items
LEAST = 400  # draws, whatever the number of items
SIDES = (0.15865525393145707, 0.5, 0.8413447460685429)  # quantiles of a normal distribution at -1, 0 and 1


class Pairs(NamedTuple):
    """Pairs of items, in the order of their draws.

    Attributes
    ----------
    better : bool array, shape (items, items)
        Item by row distinguishably better than item by column.
    t : float
        Deviations of a difference from which it is said.
    median, deviation : array, shape (items, items)
        Of the differences, item by row less item by column, in the unit of scores; the deviation on the side of zero.
    """

    better: Bools
    t: float
    median: Floats
    deviation: Floats

    @property
    def first(self) -> Bools:
        """Items that share the first place, shape (items,)."""
        return np.asarray(~self.better.any(axis=0))

    @property
    def ranks(self) -> tuple[Ints, Ints]:
        """Highest and lowest rank left open, from 1, shape (items,) each."""
        return 1 + self.better.sum(axis=0), len(self.better) - self.better.sum(axis=1)


def rescale_draws(draws: Floats, scale: Floats | None) -> Floats:
    """Draws without a scale that all differences share in each, in the unit of its median.

    Which of two items is better in a draw does not depend on it; the largest deviation of any pair would be that of the
    scale, and nothing distinguishable.

    Examples
    --------
    >>> found = rescale_draws(np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 10.0]]), np.array([1.0, 2.0, 5.0]))
    >>> (found[:, 1] - found[:, 0]).tolist()
    [2.0, 3.0, 4.0]
    """
    if scale is None:
        return draws
    return np.asarray(
        (draws - draws.mean(axis=1, keepdims=True)) * (np.median(scale) / np.maximum(scale, 1e-300))[:, None]
    )


def compare_pairs(draws: Floats, level: float) -> Pairs:
    """Find the pairs of items that are distinguishable.

    Parameters
    ----------
    draws : array, shape (draws, items)
        Of the items' scores.
    level : float
        Probability that all statements are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pairs = compare_pairs(rng.normal(size=(4000, 3)) * 0.1 + [0.0, 0.05, 2.0], 0.95)
    >>> pairs.better.tolist()
    [[False, False, False], [False, False, False], [True, True, False]]
    >>> pairs.first.tolist(), pairs.ranks[1].tolist()
    ([False, False, True], [3, 3, 1])
    """
    items = draws.shape[1]
    most = max(LEAST, 2 * WORK // max(items * items, 1))
    # from their mean, so that single precision, which is sorted in a fifth of the time, holds their differences
    each = np.ascontiguousarray(
        (draws - draws.mean(axis=0).mean())[:: max(1, len(draws) // most)].T, np.float32
    )
    median, deviation = np.zeros((items, items)), np.ones((items, items))
    largest = np.zeros(each.shape[1])
    at = [round(side * (each.shape[1] - 1)) for side in SIDES]
    for i in range(items - 1):
        away = each[i] - each[i + 1 :]
        below, middle, above = np.sort(away, axis=1)[:, at].T
        below, above = np.maximum(middle - below, 1e-30), np.maximum(above - middle, 1e-30)
        away -= middle[:, None]
        np.divide(away, np.where(away < 0.0, -below[:, None], above[:, None]), out=away)
        np.maximum(largest, away.max(axis=0), out=largest)
        median[i, i + 1 :], deviation[i, i + 1 :] = middle, np.where(middle > 0.0, below, above)
    median, deviation = median - median.T, np.maximum(np.triu(deviation, 1), np.triu(deviation, 1).T)
    t = float(np.quantile(largest, level))
    return Pairs((median > t * deviation) & ~np.eye(items, dtype=bool), t, median, deviation)
