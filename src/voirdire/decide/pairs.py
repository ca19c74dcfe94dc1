"""Distinguishable items, with a stated probability that all statements together are right.

From draws of all scores, an item is distinguishably better than another where zero lies more than t deviations below
the median of their difference; t is the quantile of the largest deviation of any pair from its own median (max-t:
Hothorn, Bretz and Westfall 2008, Biometrical Journal 50). The probability that any statement is wrong is at most
1 - ``level``. Draws with a reversed order (a panel that may be wrong as a whole) are one error, not one for each pair:
their share is subtracted from the allowed error, and the other draws are compared. Deviations are normal scores within
a pair's own draws, as in simultaneous bands by ranks (Besag, Green, Higdon and Mengersen 1995, Statistical Science 10):
the z with the same lower probability in a normal distribution. For normal differences this equals max-t. For skewed or
heavy-tailed differences, as where the scale of all scores is almost unknown (which does not affect their order), equal
deviations are equally rare. Beyond the outermost quantile that the draws determine, tails are normal.

Items share the first place where none is distinguishably better, and the statements bound the rank of each item
(Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91). It follows from the statements, and holds
with the same probability, that the best item shares the first place and every rank is within its bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from voirdire.typing import Bools, Floats, Ints

MAX_PAIR_DRAWS = 20_000_000  # largest number of draws times pairs of items
MIN_DRAWS = 400  # smallest number of draws, for any number of items
#: Normal scores between which those of draws are interpolated.
SCORE_KNOTS = (0.5, 1.0, 1.2816, 1.6449, 1.96, 2.3263)
MAX_KNOT = 3.0  # largest normal score that is taken from draws
# largest number of draws between the two orders, relative to the reversed ones, for a separate mode
MAX_BETWEEN_SHARE = 0.2
MIN_TAIL_DRAWS = 20  # smallest number of draws beyond the largest knot: with fewer, equal items are separated too often


class Pairs(NamedTuple):
    """Pairs of items, in the order of their draws.

    Attributes
    ----------
    better : bool array, shape (items, items)
        True where the row's item is distinguishably better than the column's item.
    t : float
        Smallest deviation of zero from the median of a difference for such a statement.
    median, deviation : array, shape (items, items)
        Median and deviation of the differences, row's item minus column's item, in the unit of scores: 0 is
        ``median / deviation`` deviations away.
    """

    better: Bools
    t: float
    median: Floats
    deviation: Floats

    def gap_between(self, first: int, second: int) -> tuple[float, float, float]:
        """Median and deviation of the difference of two items, and the number of deviations required."""
        return float(self.median[first, second]), float(self.deviation[first, second]), self.t

    @property
    def in_first_place(self) -> Bools:
        """Items that share the first place, shape (items,)."""
        return np.asarray(~self.better.any(axis=0))

    @property
    def ranks(self) -> tuple[Ints, Ints]:
        """Highest and lowest possible rank, from 1, shape (items,) each."""
        return 1 + self.better.sum(axis=0), len(self.better) - self.better.sum(axis=1)


def compare_pairs(draws: Floats, level: float) -> Pairs:
    """Find the pairs of items that are distinguishable.

    Parameters
    ----------
    draws : array, shape (draws, items)
        Draws of the items' scores.
    level : float
        Probability that all statements are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pairs = compare_pairs(rng.normal(size=(4000, 3)) * 0.1 + [0.0, 0.05, 2.0], 0.95)
    >>> pairs.better.tolist()
    [[False, False, False], [False, False, False], [True, True, False]]
    >>> pairs.in_first_place.tolist(), pairs.ranks[1].tolist()
    ([False, False, True], [3, 3, 1])
    """
    items = draws.shape[1]
    mirrored = _mirrored_draws(draws)
    share = float(mirrored.mean())
    # these draws make all statements wrong together, so that the others get the higher level
    if 0.0 < share < 0.5 * (1.0 - level):
        draws, level = draws[~mirrored], level / (1.0 - share)
    max_draws = max(MIN_DRAWS, 2 * MAX_PAIR_DRAWS // max(items * items, 1))
    # centred, so that single precision, which sorts five times as fast, is exact enough for differences
    item_draws = np.ascontiguousarray(
        (draws - draws.mean(axis=0).mean())[:: max(1, len(draws) // max_draws)].T, np.float32
    )
    median, deviation = np.zeros((items, items)), np.ones((items, items))
    largest = np.zeros(item_draws.shape[1])
    z = _score_knots(item_draws.shape[1])
    knot_index = np.round(ndtr(z) * (item_draws.shape[1] - 1)).astype(int)
    for i in range(items - 1):
        difference = item_draws[i] - item_draws[i + 1 :]
        knots = np.sort(difference, axis=1)[:, knot_index]
        zero = -normal_scores(np.zeros((len(difference), 1), np.float32), knots, z)[:, 0]
        scores = normal_scores(difference, knots, z)
        np.maximum(largest, np.abs(scores, out=scores).max(axis=0), out=largest)
        centre = knots[:, len(z) // 2]
        median[i, i + 1 :] = centre
        above, below = len(z) // 2 + 1, len(z) // 2 - 1
        spread = (knots[:, above] - knots[:, below]) / (z[above] - z[below])  # for pairs with a median near zero
        clear = np.abs(zero) > 1e-3
        deviation[i, i + 1 :] = np.where(clear, np.abs(centre) / np.where(clear, np.abs(zero), 1.0), spread)
    median, deviation = median - median.T, np.maximum(np.triu(deviation, 1), np.triu(deviation, 1).T)
    t = float(np.quantile(largest, level))
    return Pairs((median > t * deviation) & ~np.eye(items, dtype=bool), t, median, deviation)


def average_tied_pairs(pairs: Pairs, groups: Sequence[Sequence[int]]) -> Pairs:
    """Replace the comparisons of items in one group by their mean over the group.

    Parameters
    ----------
    pairs : Pairs
    groups : sequence of sequence of int
        Indices of items with identical votes.

    Examples
    --------
    >>> median = np.array([[0.0, 0.1, 2.0], [-0.1, 0.0, 1.0], [-2.0, -1.0, 0.0]])
    >>> evened = average_tied_pairs(Pairs(median > 1.5, 1.5, median, np.ones((3, 3))), [[0, 1]])
    >>> evened.median[:, 2].tolist(), evened.better[:, 2].tolist()
    ([1.5, 1.5, 0.0], [False, False, False])
    """
    median, deviation = pairs.median.copy(), pairs.deviation.copy()
    for group in groups:
        for matrix in (median, deviation):
            matrix[group] = matrix[group].mean(axis=0)
            matrix[:, group] = matrix[:, group].mean(axis=1, keepdims=True)
    better = (median > pairs.t * deviation) & ~np.eye(len(median), dtype=bool)
    return Pairs(better, pairs.t, median, deviation)


def _mirrored_draws(draws: Floats) -> Bools:
    """Mask of draws with a reversed ranking; empty unless they form a separate mode.

    Reversed draws have scores with a correlation below -1/2 with the medians; almost no draws lie in between.
    """
    centred = draws - draws.mean(axis=1, keepdims=True)
    centre = np.median(centred, axis=0)
    size = np.sqrt((centred * centred).sum(axis=1) * float(centre @ centre))
    cosine = centred @ centre / np.maximum(size, 1e-300)
    mirrored = cosine < -0.5
    separate_mode = draws.shape[1] > 2 and int((abs(cosine) <= 0.5).sum()) <= MAX_BETWEEN_SHARE * int(mirrored.sum())
    return np.asarray(mirrored & separate_mode)


def normal_scores(values: NDArray[Any], knots: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    """Normal scores of values within the draws of their pair, shape (pairs, values).

    Parameters
    ----------
    values : array, shape (pairs, values)
    knots : array, shape (pairs, knots)
        Quantiles of the draws of each pair, ascending.
    z : array, shape (knots,)
        Their normal scores, 0 in the middle.

    Examples
    --------
    >>> z = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    >>> normal_scores(np.array([[0.5, 3.25, 20.0]]), np.array([[-2.0, -1.0, 0.0, 1.0, 10.0]]), z).tolist()
    [[0.5, 1.5, 6.0]]
    """
    tiny = np.float32(1e-30)
    middle = knots[:, len(z) // 2, None]
    scores = np.full(values.shape, z[0], np.float32)
    part = np.empty(values.shape, np.float32)
    for k in range(len(z) - 1):
        width = np.maximum(knots[:, k + 1, None] - knots[:, k, None], tiny)
        np.subtract(values, knots[:, k, None], out=part)
        part *= np.float32(z[k + 1] - z[k]) / width
        np.clip(part, 0.0, np.float32(z[k + 1] - z[k]), out=part)
        scores += part
    below, above = knots[:, :1], knots[:, -1:]
    under, over = values < below, values > above
    if under.any():
        np.copyto(scores, z[0] * (middle - values) / np.maximum(middle - below, tiny), where=under)
    if over.any():
        np.copyto(scores, z[-1] * (values - middle) / np.maximum(above - middle, tiny), where=over)
    return scores


def _score_knots(draws: int) -> NDArray[np.float32]:
    """Normal scores of the quantiles that a number of draws determines, ascending."""
    outermost = min(MAX_KNOT, float(-ndtri(min(MIN_TAIL_DRAWS / draws, 0.1))))
    inner = [knot for knot in SCORE_KNOTS if knot < outermost - 0.25]
    half = np.array([*inner, outermost])
    return np.asarray(np.concatenate([-half[::-1], [0.0], half]), np.float32)
