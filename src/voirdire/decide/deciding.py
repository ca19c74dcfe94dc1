"""Context (prompt) that alone decides what is said of the first place.

Over the contexts asked about, an item is first, and others share its place, by :mod:`.pairs`. A context decides where
all that would be said otherwise without it, and it is no context like the others: the lead of the first over an item
concerned is there many robust standard deviations from that in the others, and surely so, as far as the draws tell.
"""

from __future__ import annotations

import numpy as np

from voirdire.decide.pairs import compare_pairs
from voirdire.typing import Floats

FAR = 3.5  # robust standard deviations from the other contexts
SURE = 3.0  # standard deviations of the draws by which a lead differs from that in the others
NORMAL = 1.4826  # of the median absolute deviation of a normal distribution
MOST = 10  # contexts that are left out in turn: those furthest from the others


def deciding_context(draws: Floats, level: float) -> int | None:
    """The context that alone decides what is said of the first place; None where there is none.

    Parameters
    ----------
    draws : array, shape (draws, contexts, items)
        Strength of each item in each context.
    level : float
        Probability that all statements about pairs of items are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> strength = np.array([[0.0, 0.2]] * 9 + [[0.1, 0.2], [4.0, 0.0]])
    >>> deciding_context(strength + 0.1 * rng.normal(size=(2000, 11, 2)), 0.95)
    10
    >>> deciding_context(strength[:9] + 0.1 * rng.normal(size=(2000, 9, 2)), 0.95)
    """
    contexts = draws.shape[1]
    if contexts < 3:
        return None
    total = draws.sum(axis=1)
    first, sharing = _first_place(total / contexts, level)
    strength = draws.mean(axis=0)
    away = _lead_deviations(strength, first)
    for x in np.argsort(-away.max(axis=1), kind="stable")[:MOST]:
        if away[x].max() <= FAR:
            return None
        left = (total - draws[:, x]) / (contexts - 1)
        other, with_it = _first_place(left, level)
        concerned = (sharing ^ with_it) if other == first else np.arange(len(sharing)) == other
        lead = draws[:, x] - left
        gap = lead[:, [first]] - lead
        sure = np.abs(gap.mean(axis=0)) > SURE * gap.std(axis=0)
        if (concerned & sure & (away[x] > FAR)).any():
            return int(x)
    return None


def _first_place(scores: Floats, level: float) -> tuple[int, np.ndarray]:
    """The highest of the items that share the first place, and the mask of them, by draws of shape (draws, items)."""
    first = compare_pairs(scores, level).first
    return int(np.where(first, scores.mean(axis=0), -np.inf).argmax()), first


def _lead_deviations(strength: Floats, first: int) -> Floats:
    """Robust standard deviations between the first's lead over each item there and elsewhere, (contexts, items)."""
    lead = strength[:, [first]] - strength
    away = np.abs(lead - np.median(lead, axis=0))
    return np.asarray(away / (NORMAL * np.maximum(np.median(away, axis=0), 1e-9)))
