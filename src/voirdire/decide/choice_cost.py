"""Cost of a choice, rank probabilities of every item, and number of answers needed to distinguish two items.

Where scores are about people, the standard deviation s of a difference with median m includes the discrepancy between
people and the panel, which more panel answers do not reduce. n answers of people to which of the two is better, each
with the information i of the difference (:class:`voirdire.kinds.people.Preference`), leave the standard deviation
(1 / s^2 + n i)^(-1/2): the two items are t standard deviations apart after

    n = (t^2 / m^2 - 1 / s^2) / i(m)

answers, if the difference stays as it is.

The module also finds the cheapest item that is not worse than the best by more than a margin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.kinds.people import Preference
from voirdire.settings import is_number
from voirdire.tables.covariates import number_column
from voirdire.tables.encode import encode_column
from voirdire.tables.problems import Problems, nearest_name
from voirdire.tables.ratings import known_names
from voirdire.tables.read import read_columns
from voirdire.typing import Floats


class Choice(NamedTuple):
    """The cheapest item that is good enough.

    Attributes
    ----------
    item : str or None
        None where no item is good enough.
    price : float or None
        In the unit of the prices.
    probability : float
        Probability that the item is within the margin of the best; without an item, the largest of all items.
    margin : float
        Largest acceptable difference from the best, in the unit of scores.
    """

    item: str | None
    price: float | None
    probability: float
    margin: float

    def sentence(self) -> str:
        """Describe the choice in words.

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
    """Read the price of every item, and check them against ``items`` where given.

    Parameters
    ----------
    prices : mapping, dataframe or path
        Item to price, or a table with the columns ``item`` and ``price``.
    margin : float
        Largest acceptable difference from the best, in the unit of scores.
    items : sequence of str, optional

    Raises
    ------
    InputError
        An item with two prices, a price that is negative or not a number, a margin that is not above 0; an item without
        a price, or a price of an unknown item.

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
    encoded = encode_column(cells["item"], "item", problems)
    values = number_column("price", cells["price"], problems)
    price_by_item: dict[str, float] = {}
    for code, price in zip(encoded.codes, values, strict=True):
        item = encoded.levels[code]
        if items is not None and item not in items:
            hint = nearest_name(item, list(items)) or f"; known are {known_names(list(items))}"
            problems.table(f"item {item!r} is none of the {len(items)} items{hint}")
        elif item in price_by_item:
            problems.table(f"item {item!r} is given two prices; keep one")
        elif price < 0.0:
            problems.table(f"item {item!r} has the price {price:g}; give 0 or more")
        price_by_item.setdefault(item, float(price))
    lacking = [item for item in items or () if item not in price_by_item]
    if lacking:
        others_note = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        problems.table(f"no price of {', '.join(map(repr, lacking[:5]))}{others_note}; give one for every item")
    if not (is_number(margin) and margin > 0.0):
        shown = f"{margin:g}" if isinstance(margin, float) else repr(margin)
        problems.table(
            f"margin {shown}: an item that may cost less must be allowed to be a little worse; give a margin above 0"
        )
    problems.raise_any()
    return price_by_item


def cheapest_choice(
    draws: Floats, prices: Mapping[str, float], items: Sequence[str], margin: float, level: float
) -> Choice:
    """The cheapest item within ``margin`` of the best with probability ``level``; of equal prices the better item.

    Parameters
    ----------
    draws : array, shape (draws, items)
        Draws of scores.
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
    choice = min(enough.tolist(), key=lambda item: (prices[items[item]], -draws[:, item].mean()))
    return Choice(items[choice], prices[items[choice]], float(within[choice]), margin)


MAX_GROWTH_FACTOR = 100.0  # largest factor on the present number of votes that is reported
MAX_PEOPLE = 10_000  # largest number of people's answers about two items that is reported


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
    shares = np.bincount(place.ravel(), minlength=items * items) / len(draws)
    return np.asarray(shares.reshape(items, items))


def expected_loss(draws: Floats) -> Floats:
    """Mean loss of choosing each item instead of the best, shape (items,).

    Examples
    --------
    >>> expected_loss(np.array([[2.0, 1.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    return np.asarray((draws.max(axis=1, keepdims=True) - draws).mean(axis=0))


def information_growth_factor(median: float, deviation: float, t: float, irreducible: float = 0.0) -> float | None:
    """Factor on the information that makes a difference ``t`` deviations; None above `MAX_GROWTH_FACTOR`.

    The standard deviation (:class:`.Pairs`) of a difference falls with the root of the number of votes (of contexts
    where these are the uncertain part), except for the part ``irreducible``; the difference is assumed to stay.

    Examples
    --------
    >>> information_growth_factor(1.0, 0.5, 3.0), information_growth_factor(1.0, 0.5, 3.0, irreducible=0.4)
    (2.25, None)
    """
    if not deviation or math.isclose(median, 0.0):
        return None
    target = (median / t) ** 2 - irreducible**2  # required size of the reducible part of the variance
    factor = (deviation**2 - irreducible**2) / target if target > 0.0 else math.inf
    return factor if factor <= MAX_GROWTH_FACTOR else None


def people_needed(median: float, deviation: float, t: float, preference: Preference) -> float | None:
    """Count people's answers until a difference is ``t`` deviations; None beyond :data:`MAX_PEOPLE`.

    Examples
    --------
    >>> round(people_needed(1.0, 0.5, 3.0, Preference()), 1)  # 9 - 4 over sigmoid(1) sigmoid(-1)
    25.4
    """
    information = preference.information_per_answer(abs(median))
    if not deviation or not information or math.isclose(median, 0.0):
        return None
    needed = max((t / median) ** 2 - deviation**-2.0, 0.0) / information
    return needed if needed <= MAX_PEOPLE else None
