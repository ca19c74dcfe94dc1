"""The cheapest item that is not worse than the best by more than a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from voirdire.tables.covariates import number_column
from voirdire.tables.encode import encode_column
from voirdire.tables.problems import Problems, nearest_name
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
            problems.table(
                f"item {item!r} is none of the {len(items)} items{nearest_name(item, list(items))}"
            )
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
