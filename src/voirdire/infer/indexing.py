"""Indices of recorded arrays: repeated axes, and gradients added back to the positions of their numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.typing import Floats


def repeats_of_axis(places: Any, size: tuple[int, ...]) -> int:
    """Count how often ``places`` runs in order through all positions of an axis of that size; 0 if it does not.

    Examples
    --------
    >>> repeats_of_axis(np.array([0, 1, 0, 1]), (2,)), repeats_of_axis(np.array([1, 0]), (2,))
    (2, 0)
    """
    if type(places) is not np.ndarray or places.ndim != 1 or not size or not size[0] or len(places) % size[0]:
        return 0
    rows = places.reshape(-1, size[0])
    return len(rows) if (rows == np.arange(size[0])).all() else 0


def scatter_gradient(g: Floats, shape: tuple[int, ...], index: Any) -> Floats:
    """Add a gradient to the positions from which its numbers were gathered.

    Examples
    --------
    >>> scatter_gradient(np.array([1.0, 2.0, 4.0]), (3,), np.array([0, 2, 0])).tolist()
    [5.0, 0.0, 2.0]
    """
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, np.ndarray | list) for part in parts):
        size = math.prod(shape)
        flat = np.arange(size).reshape(shape)[index]
        return np.bincount(np.ravel(flat), g.ravel(), size).astype(float, copy=False).reshape(shape)
    out = np.zeros(shape)
    out[index] = g
    return out
