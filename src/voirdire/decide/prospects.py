"""Cost of a choice, places where every item may stand, and answers needed to distinguish two items.

Where scores are about people, the gap between these and a panel is in the deviation s of a difference with the median
m, and no answer of the panel takes it away. n answers of people to which of the two is better, each with the
information i of the difference (:class:`voirdire.kinds.preference.Preference`), leave the deviation
(1 / s^2 + n i)^(-1/2): the two are t deviations apart from

    n = (t^2 / m^2 - 1 / s^2) / i(m)

answers on, the difference being what it seems now.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.kinds.preference import Preference
from voirdire.typing import Floats

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


def information_factor(median: float, deviation: float, t: float) -> float | None:
    """By what factor information must grow until a difference is ``t`` deviations; None beyond all hope.

    The deviation (:class:`.Pairs`) of a difference falls with the root of the votes (of the contexts, where they are
    what is uncertain); the difference is taken to be what it is now.

    Examples
    --------
    >>> information_factor(1.0, 0.5, 3.0)
    2.25
    """
    if not deviation or math.isclose(median, 0.0):
        return None
    factor = (t * deviation / median) ** 2
    return factor if factor <= HOPELESS else None


def people_needed(median: float, deviation: float, t: float, preference: Preference) -> float | None:
    """Count people's answers until a difference is ``t`` deviations; None beyond :data:`MOST_PEOPLE`.

    Examples
    --------
    >>> round(people_needed(1.0, 0.5, 3.0, Preference()), 1)  # 9 - 4 over sigmoid(1) sigmoid(-1)
    25.4
    """
    information = preference.information(abs(median))
    if not deviation or not information or math.isclose(median, 0.0):
        return None
    needed = max((t / median) ** 2 - deviation**-2.0, 0.0) / information
    return needed if needed <= MOST_PEOPLE else None
