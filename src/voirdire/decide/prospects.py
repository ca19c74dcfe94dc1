"""Cost of a choice, places where every item may stand, and answers needed to distinguish two items."""

from __future__ import annotations

import math

import numpy as np

from voirdire.typing import Floats

HOPELESS = 100.0  # times the votes there are: beyond it nothing is promised


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


def times_more(median: float, deviation: float, t: float) -> float | None:
    """By what factor information must grow until a difference is ``t`` deviations; None beyond all hope.

    The deviation (:class:`.Pairs`) of a difference falls with the root of the votes (of the contexts, where they are
    what is uncertain); the difference is taken to be what it is now.

    Examples
    --------
    >>> times_more(1.0, 0.5, 3.0)
    2.25
    """
    if not deviation or math.isclose(median, 0.0):
        return None
    factor = (t * deviation / median) ** 2
    return factor if factor <= HOPELESS else None
