"""Adjust p-values for many comparisons.

For m p-values in ascending order, with a running maximum (Holm) or a running minimum from above
(Benjamini-Hochberg):

- holm  p_(i) (m - i + 1), keeps the chance of any false finding (Scandinavian Journal of Statistics 6, 1979)
- bh    p_(i) m / i, keeps the expected share of false findings (Journal of the Royal Statistical Society B
        57, 1995)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import InputError


def adjust(
    p_values: Sequence[float] | NDArray[np.float64], method: Literal["holm", "bh"] = "holm"
) -> NDArray[np.float64]:
    """Adjusted p-values, in the order given.

    Parameters
    ----------
    p_values : sequence of float
        NaN (an undefined comparison) stays NaN and is not counted among the m.
    method : {"holm", "bh"}
        What is kept.

    Returns
    -------
    float array

    Raises
    ------
    InputError
        If the method is not known or a value is no probability.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03]).tolist(), adjust([0.01, 0.04, 0.03], "bh").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    p = np.asarray(p_values, dtype=float)
    if method not in ("holm", "bh"):
        raise InputError(f"adjustment {method!r} is not known; give holm or bh")
    if np.any((p < 0) | (p > 1)):
        raise InputError("p-values must lie between 0 and 1")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: np.sum(~np.isnan(p))]
    m = len(order)
    places = np.arange(1, m + 1)
    if method == "holm":
        raised = np.maximum.accumulate(p[order] * (m - places + 1))
    else:
        raised = np.minimum.accumulate((p[order] * m / places)[::-1])[::-1]
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
