"""Intervals of intraclass correlations by the F distribution, without resampling.

With n units that all k judges scored, mean squares MSR, MSW, MSE, MSC as in :mod:`.icc`, F_R = MSR / MSE (of the first
model MSR / MSW) and F(p; a, b) quantiles at p = (1 + prob) / 2:

- forms 1, 3    (L - 1) / (L + k - 1) from L = F_R / F(p; n - 1, m) to L = F_R F(p; m, n - 1), with m = n (k - 1), of
                the third model m = (n - 1)(k - 1)
- form 2        the same idea by Satterthwaite's degrees of freedom of k r MSC + (n (1 + (k - 1) r) - k r) MSE, r the
                coefficient
- means of k    k r / (1 + (k - 1) r) of both ends

Shrout and Fleiss, Psychological Bulletin 86 (1979), 420-428.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.intervals import Interval

OF_ICC = ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")


def icc_interval(ratings: Ratings, measure: str, prob: float) -> Interval:
    """Interval of an intraclass correlation by the F distribution.

    Parameters
    ----------
    ratings : Ratings
        Numeric scores; units with a score missing are not used.
    measure : str
        One of `OF_ICC`.
    prob : float
        Coverage.

    Returns
    -------
    Interval
        Without ends where judges agree to the last digit.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> found = icc_interval(ratings_from_matrix(scores), "icc_3_1", 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.342, 0.946)
    """
    from scipy.stats import f

    x = ratings.numbers()[ratings.complete]
    n, k = x.shape
    model = int(measure[4])
    x = x - x.mean()
    rows, columns = x.mean(axis=1), x.mean(axis=0)
    msr, msc = k * np.sum(rows**2) / (n - 1), n * np.sum(columns**2) / (k - 1)
    within = np.sum((x - rows[:, None]) ** 2)
    mse = (within - n * np.sum(columns**2)) / ((n - 1) * (k - 1))
    if mse <= 1e-12 * np.mean(x**2):
        return Interval(
            None, None, "no interval in closed form: nothing is left of the scores but items and judges"
        )
    p = (1 + prob) / 2
    if model == 2:
        r = (msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n)
        of_items = n * (1 + (k - 1) * r) - k * r
        freedom = (k - 1) * (n - 1) * (k * r * msc / mse + of_items) ** 2
        freedom /= (n - 1) * (k * r * msc / mse) ** 2 + of_items**2
        upper, lower = f.ppf(p, n - 1, freedom), f.ppf(p, freedom, n - 1)
        rest = k * msc + (k * n - k - n) * mse
        ends = n * np.array(
            [(msr - upper * mse) / (upper * rest + n * msr), (lower * msr - mse) / (rest + n * lower * msr)]
        )
    else:
        m, error = (n * (k - 1), within / (n * (k - 1))) if model == 1 else ((n - 1) * (k - 1), mse)
        scaled = msr / error * np.array([1 / f.ppf(p, n - 1, m), f.ppf(p, m, n - 1)])
        ends = (scaled - 1) / (scaled + k - 1)
    if measure.endswith("k"):
        ends = k * ends / (1 + (k - 1) * ends)
    return Interval(float(ends[0]), float(ends[1]))
