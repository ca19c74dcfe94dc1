"""Mean scores whose ties stay ties."""

from __future__ import annotations

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray

# A sum of decimal scores depends on their order in the last of 16 digits: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
_DIGITS = 13


def mean_scores(total: FloatArray, count: FloatArray) -> FloatArray:
    """Means from sums and numbers of scores, to 13 significant digits where there was something to add up.

    Parameters
    ----------
    total, count : float array, same shape

    Returns
    -------
    float array
        NaN where the count is 0.

    Examples
    --------
    >>> total = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.2, 0.0])
    >>> mean_scores(total, np.array([3.0, 3.0, 1.0, 0.0])).tolist()
    [0.2, 0.2, 0.2, nan]
    """
    mean: FloatArray = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    # larger ones have no decimals to speak of, and for smaller ones the power of ten would leave the range of floats
    added = (count > 1) & (np.abs(mean) < 10.0 ** (_DIGITS - 1)) & (np.abs(mean) > 1e-280)
    power = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(mean[added]))))
    mean[added] = np.round(mean[added] * power) / power
    return mean
