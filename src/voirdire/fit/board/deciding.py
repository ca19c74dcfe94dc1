"""Whether one context (prompt) decides which item is first."""

from __future__ import annotations

import numpy as np

from voirdire.typing import Floats

FAR = 3.5  # robust standard deviations from the other contexts
NORMAL = 1.4826  # of the median absolute deviation of a normal distribution


def deciding(strength: Floats) -> int | None:
    """The context without which another item would be first, where it stands far from the others; else None.

    Parameters
    ----------
    strength : array, shape (contexts, items)
        Of each item in each context.

    Examples
    --------
    >>> strength = np.array([[0.0, 0.2]] * 9 + [[0.1, 0.2], [4.0, 0.0]])
    >>> deciding(strength)
    10
    """
    contexts = len(strength)
    if contexts < 3:
        return None
    total = strength.sum(axis=0)
    first = int(total.argmax())
    others = (total - strength).argmax(axis=1)
    for x in np.flatnonzero(others != first):
        lead = strength[:, first] - strength[:, others[x]]
        away = np.abs(lead - np.median(lead))
        if away[x] > FAR * NORMAL * max(float(np.median(away)), 1e-9):
            return int(x)
    return None
