"""Weights of partial agreement between ordered or numeric levels: 1 on the diagonal, 0 for the largest distance.

With level values v_1 < ... < v_q (numbers; positions 1..q for words):

- identity    [i = j]
- linear      1 - |v_i - v_j| / (v_q - v_1)
- quadratic   1 - (v_i - v_j)^2 / (v_q - v_1)^2
- ordinal     1 - C(|i - j| + 1, 2) / C(q, 2), with C(n, 2) = n (n - 1) / 2

Cohen, Psychological Bulletin 70 (1968); Gwet, Handbook of Inter-Rater Reliability (4th ed. 2014), chapter 3.
Weighted kappa does not change when all distances are scaled. A number that nobody gave (a 3 among 1..5) therefore
makes no difference, because numbers keep their distances. A word that nobody gave does, because neighbouring words
are one step apart: declare it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.errors import InputError

Scheme: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]


def agreement_weights(scheme: Scheme, levels: int, values: FloatArray | None = None) -> FloatArray:
    """Build the weight matrix of a scheme.

    Parameters
    ----------
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Scheme of the weights.
    levels : int
        Number of levels.
    values : float array, shape (levels,), optional
        Numeric values of the levels, ascending; by default their positions.

    Returns
    -------
    float array, shape (levels, levels)
        Weights: symmetric, between 0 and 1.

    Raises
    ------
    InputError
        If the scheme is not known.

    Examples
    --------
    >>> agreement_weights("linear", 3).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    if scheme not in get_args(Scheme):
        raise InputError(f"weights {scheme!r} are not known; give one of {', '.join(get_args(Scheme))}")
    if scheme == "identity" or levels < 2:
        return np.eye(levels)
    places = np.arange(levels, dtype=float)
    if scheme == "ordinal":
        steps = np.abs(places[:, None] - places[None, :])
        return np.asarray(1 - steps * (steps + 1) / (levels * (levels - 1)))
    level_values = places if values is None else np.asarray(values, float)
    share = np.abs(level_values[:, None] - level_values[None, :]) / (level_values.max() - level_values.min())
    return np.asarray(1 - share if scheme == "linear" else 1 - share**2)
