"""Share of good items from a judge's own share, corrected for its errors (Rogan and Gladen, Am. J. Epidemiology 1978).

With q the share of items that the judge calls good, and se and sp its sensitivity and specificity among the items that
people answered,

    rate = (q + sp - 1) / (se + sp - 1),
    variance = (q (1 - q) / N + rate^2 se (1 - se) / n_1 + (1 - rate)^2 sp (1 - sp) / n_0) / (se + sp - 1)^2,

the errors of se and sp being those of the n_1 good and n_0 other items that people answered.
"""

from __future__ import annotations

from voirdire.typing import Floats


def rogan_gladen(said: Floats, good: Floats) -> tuple[float, float]:
    """Value, kept within 0 and 1, and variance; NaN where people gave one answer only or the judge tells nothing.

    Parameters
    ----------
    said : float array, shape (items,)
        1 or 0 as the judge says.
    good : float array, shape (items,)
        1 or 0 as people say, NaN without an answer.

    Examples
    --------
    >>> import numpy as np
    >>> good = np.array([1.0, 1, 0, 0, np.nan, np.nan])
    >>> value, _ = rogan_gladen(np.array([1.0, 1, 0, 0, 1, 0]), good)
    >>> value
    0.5
    """
    of_good, of_other = said[good == 1], said[good == 0]
    if not len(of_good) or not len(of_other):
        return float("nan"), float("nan")
    q, se, sp = float(said.mean()), float(of_good.mean()), 1 - float(of_other.mean())
    informed = se + sp - 1
    if informed <= 0:
        return float("nan"), float("nan")
    value = min(max((q + sp - 1) / informed, 0.0), 1.0)
    errors = value**2 * se * (1 - se) / len(of_good) + (1 - value) ** 2 * sp * (1 - sp) / len(of_other)
    return value, (q * (1 - q) / len(said) + errors) / informed**2
