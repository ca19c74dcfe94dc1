"""Williams' test: do two metrics correlate equally with people, given that they correlate with each other?

With n items, r12 and r13 the correlations of either metric with people, r23 that between the metrics,

    R = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,   m = (r12 + r13) / 2
    t = (r12 - r13) sqrt((n - 1) (1 + r23) / (2 R (n - 1) / (n - 3) + m^2 (1 - r23)^3)),   n - 3 degrees of
    freedom

Williams, Journal of the Royal Statistical Society B 21 (1959); Steiger, Psychological Bulletin 87 (1980),
eq. 7. It assumes normal scores, so for rank correlations it is an approximation; the permutation test needs
no such assumption.
"""

from __future__ import annotations

from voirdire.errors import InputError


def williams_test(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Compare two dependent correlations that share a variable.

    Parameters
    ----------
    r12, r13 : float
        Correlations of the two metrics with people.
    r23 : float
        Correlation between the metrics.
    n : int
        Number of items, at least 4.

    Returns
    -------
    t, p : float
        The statistic and its two-sided p-value; NaN where the three correlations leave no variance.

    Raises
    ------
    InputError
        If there are fewer than 4 items, or a value is no correlation.

    Examples
    --------
    >>> t, p = williams_test(0.6, 0.5, 0.4, 100)
    >>> round(t, 4), round(p, 4)
    (1.163, 0.2477)
    """
    from scipy.stats import t as student

    if n < 4:
        raise InputError(f"Williams' test needs 4 items or more; there are {n}")
    if not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise InputError(f"correlations {r12}, {r13}, {r23} must lie between -1 and 1")
    rest = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    middle = (r12 + r13) / 2
    below = 2 * rest * (n - 1) / (n - 3) + middle**2 * (1 - r23) ** 3
    if below <= 1e-14:
        return float("nan"), float("nan")
    statistic = (r12 - r13) * ((n - 1) * (1 + r23) / below) ** 0.5
    return float(statistic), float(2 * student.sf(abs(statistic), n - 3))
