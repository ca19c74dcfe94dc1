"""One answer of each row, drawn by the answers' probabilities."""

from __future__ import annotations

import numpy as np

from voirdire.typing import Floats, Ints


def sample_categorical(chance: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column of each row, shape (rows,); rows need not sum to one, and take one uniform number each.

    Examples
    --------
    >>> sample_categorical(np.array([[0.0, 2.0], [1.0, 0.0]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    ends = chance.cumsum(axis=1)
    return np.asarray((rng.random(len(chance))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1))
