"""Cost of a choice, places where every item may stand, and answers needed to distinguish two items.

The difference of two items has the posterior median m and the deviation s (of :class:`voirdire.decide.pairs.Pairs`), of
which a part e stays however many answers are added (of votes in the same contexts, or of more judges there, what
contexts leave open). With f times the answers the deviation is s_f = (e^2 + (s^2 - e^2) / f)^(1/2), and, as a posterior
mean is a martingale, the new median is distributed as Normal(m, s^2 - s_f^2). So they are distinguishable with
probability

    P(f) = Phi((|m| - t s_f) / v) + Phi((-|m| - t s_f) / v),   v = (s^2 - s_f^2)^(1/2)

(expected power: O'Hagan, Stevens and Campbell 2005, Pharmaceutical Statistics 4), which knows that the difference
may be smaller than it seems. With a margin d, the smallest difference that matters, answers are enough, too, where the
difference is surely no larger, |median| + t s_f <= d, which adds Phi((a - |m|) / v) - Phi((-a - |m|) / v) with
a = d - t s_f, and is certain, one way or the other, from 2 t s_f <= d on. Where scores are about people all of s stays,
whatever the panel answers, and people's answers to which of the two is better, each with the information i
(:class:`voirdire.kinds.preference.Preference`), multiply what is known by f = 1 + n s^2 i.

The cheapest item that is not worse than the best by more than a margin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from voirdire.kinds.preference import Preference
from voirdire.tables.covariates import number_column
from voirdire.tables.encode import encode_column
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.rated import known_names
from voirdire.tables.read import read_columns
from voirdire.typing import Floats


class Choice(NamedTuple):
    """The cheapest item that is good enough.

    Attributes
    ----------
    item : str or None
        None where no item is.
    price : float or None
        In the unit of the prices.
    probability : float
        That it is not worse than the best by more than the margin; without an item, the largest of any.
    margin : float
        In the unit of scores.
    """

    item: str | None
    price: float | None
    probability: float
    margin: float

    def sentence(self) -> str:
        """The choice, in words.

        Examples
        --------
        >>> Choice("x", 2.0, 0.971, 0.5).sentence()
        'x (price 2) is the cheapest item that is not worse than the best by more than 0.5 (probability 97%).'
        """
        if self.item is None:
            return (
                f"No item is surely within {self.margin:g} of the best (at most with probability "
                f"{self.probability:.0%}): a larger margin or more answers would name one."
            )
        return (
            f"{self.item} (price {self.price:g}) is the cheapest item that is not worse than the best by more than "
            f"{self.margin:g} (probability {self.probability:.0%})."
        )


def read_prices(prices: object, margin: float, items: Sequence[str] | None = None) -> dict[str, float]:
    """Price of every item that is named, those of ``items`` where they are known.

    Parameters
    ----------
    prices : mapping, dataframe or path
        Item to price, or a table with the columns ``item`` and ``price``.
    margin : float
        In the unit of scores.
    items : sequence of str, optional

    Raises
    ------
    InputError
        An item with two prices, a price that is negative or no number, a margin that is not above 0; an item without a
        price, or a price of an item that is none of them.

    Examples
    --------
    >>> read_prices({"y": 1, "x": 2.5}, 0.1)
    {'y': 1.0, 'x': 2.5}
    """
    problems = Problems("prices")
    if isinstance(prices, Mapping):
        cells: dict[str, Any] = {"item": [str(item) for item in prices], "price": list(prices.values())}
    else:
        cells = read_columns(prices, ("item", "price"), (), problems)
        problems.raise_any()
    named = encode_column(cells["item"], "item", problems)
    values = number_column("price", cells["price"], problems)
    found: dict[str, float] = {}
    for code, price in zip(named.codes, values, strict=True):
        item = named.levels[code]
        if items is not None and item not in items:
            hint = nearest_name(item, list(items)) or f"; known are {known_names(list(items))}"
            problems.table(f"item {item!r} is none of the {len(items)} items{hint}")
        elif item in found:
            problems.table(f"item {item!r} is given two prices; keep one")
        elif price < 0.0:
            problems.table(f"item {item!r} has the price {price:g}; give 0 or more")
        found.setdefault(item, float(price))
    lacking = [item for item in items or () if item not in found]
    if lacking:
        more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        problems.table(f"no price of {', '.join(map(repr, lacking[:5]))}{more}; give one for every item")
    if not (isfinite(margin) and margin > 0.0):
        problems.table(
            f"margin {margin:g}: an item that may cost less must be allowed to be a little worse; give a margin above 0"
        )
    problems.raise_any()
    return found


def cheapest_choice(
    draws: Floats, prices: Mapping[str, float], items: Sequence[str], margin: float, level: float
) -> Choice:
    """The cheapest item that is within ``margin`` of the best with probability ``level``; the better of two as cheap.

    Parameters
    ----------
    draws : array, shape (draws, items)
        Of scores.
    prices : mapping of str to float
        Price of each item.
    items : sequence of str
    margin, level : float

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal([1.0, 0.9, -3.0], 0.05, (1000, 3))
    >>> cheapest_choice(draws, {"a": 5.0, "b": 2.0, "c": 1.0}, ["a", "b", "c"], 0.5, 0.95)[:2]
    ('b', 2.0)
    """
    within: Floats = (draws.max(axis=1, keepdims=True) - draws <= margin).mean(axis=0)
    enough = np.flatnonzero(within >= level)
    if not len(enough):
        return Choice(None, None, float(within.max()), margin)
    at = min(enough.tolist(), key=lambda one: (prices[items[one]], -draws[:, one].mean()))
    return Choice(items[at], prices[items[at]], float(within[at]), margin)


HOPELESS = 100.0  # times the votes there are: beyond it nothing is promised
MOST_PEOPLE = 10_000  # people's answers about two items, likewise


def rank_probabilities(draws: Floats) -> Floats:
    """Probability of every rank, shape (items, ranks), from draws of scores, shape (draws, items).

    Examples
    --------
    >>> rank_probabilities(np.array([[2.0, 1.0], [3.0, 1.0], [0.0, 1.0], [4.0, 1.0]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    items = draws.shape[1]
    rank = np.argsort(np.argsort(-draws, axis=1, kind="stable"), axis=1, kind="stable")
    place = np.arange(items) * items + rank
    found = np.bincount(place.ravel(), minlength=items * items) / len(draws)
    return np.asarray(found.reshape(items, items))


def expected_loss(draws: Floats) -> Floats:
    """Mean loss against the best item, shape (items,): what choosing each item costs.

    Examples
    --------
    >>> expected_loss(np.array([[2.0, 1.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    return np.asarray((draws.max(axis=1, keepdims=True) - draws).mean(axis=0))


POWER = 0.8
CAUTION = 0.9  # probability planned for: the same t and a normal posterior are taken for the larger table


def least_growth_factor(
    median: float, deviation: float, t: float, stays: float = 0.0, margin: float = 0.0, most: float = HOPELESS
) -> tuple[float | None, float]:
    """Least factor of what is known at which two items are distinguishable with probability `POWER`; see the module.

    Parameters
    ----------
    median, deviation : float
        Of the difference (:class:`.Pairs`).
    t : float
        Deviations from which a difference is said.
    stays : float
        Part of the deviation that stays however many answers are added.
    margin : float
        Smallest difference that matters: items that are surely no further apart are settled, too.
    most : float
        Largest factor that is looked at.

    Returns
    -------
    factor : float or None
        None where none up to ``most`` is enough.
    probability : float
        With it; without one the highest.

    Examples
    --------
    >>> factor, probability = least_growth_factor(1.0, 0.5, 3.0)
    >>> round(factor, 1), round(probability, 2), least_growth_factor(1.0, 0.5, 3.0, stays=0.4)[0]
    (15.1, 0.9, None)
    """
    from scipy.special import ndtr

    m, s = abs(median), deviation
    f = np.geomspace(min(1.01, most), most, 2000)
    left = np.sqrt(stays**2 + (s**2 - stays**2) / f)
    v = np.sqrt(np.maximum(s**2 - left**2, 1e-300))
    p = ndtr((m - t * left) / v) + ndtr((-m - t * left) / v)
    inside = np.maximum(margin - t * left, 0.0)
    p = np.where(inside >= t * left, 1.0, p + ndtr((inside - m) / v) - ndtr((-inside - m) / v))
    reached = np.flatnonzero(p >= CAUTION)
    return (float(f[reached[0]]), float(p[reached[0]])) if len(reached) else (None, float(p.max()))


def people_needed(
    median: float, deviation: float, t: float, preference: Preference, margin: float = 0.0
) -> tuple[float | None, float]:
    """Count people's answers until two items are distinguishable, None beyond :data:`MOST_PEOPLE`; the probability.

    Examples
    --------
    >>> count, probability = people_needed(1.0, 0.5, 3.0, Preference())
    >>> round(count), round(probability, 2)
    (286, 0.9)
    """
    of_one = deviation**2 * preference.information(abs(median))  # what an answer adds to what is known
    if not of_one:
        return None, 0.0
    most = 1.0 + MOST_PEOPLE * of_one
    factor, probability = least_growth_factor(median, deviation, t, 0.0, margin, most)
    return None if factor is None else (factor - 1.0) / of_one, probability
