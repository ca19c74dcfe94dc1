"""Units that people must still answer until a difference is known to lie above or below minus the margin.

With d = estimate + margin and standard error s now, and s(n) once n units are answered, the estimate then is spread
around the one of now by a normal distribution of variance s^2 - s(n)^2, as far as the answers so far tell. So

    P(sure at n) = Phi((d - z s(n)) / v) + Phi((-d - z s(n)) / v),     v^2 = s^2 - s(n)^2

and the promise is the smallest n at which it reaches the assurance.
"""

from __future__ import annotations

import math

from voirdire.agreement.replace.estimate import Mean

ASSURANCE = 0.85


def more_answers(now: Mean, margin: float, prob: float, assurance: float = ASSURANCE) -> int | None:
    """Units that people must answer more; 0 where it is sure already, None where the table has too few.

    Parameters
    ----------
    now : Mean
        The difference as it is known now.
    margin : float
        By how much the judge may fall short of people.
    prob : float
        Coverage of the intervals.
    assurance : float
        How likely a verdict is to be there with so many.

    Examples
    --------
    >>> now = Mean(0.0, 0.06, -0.12, 0.12, 40, 5000, 0.0, 0.0, 0.144)
    >>> (more_answers(now, 0.05, 0.95) or 0) > 500, more_answers(now, 0.2, 0.95)
    (True, 0)
    """
    if math.isnan(now.error):
        return None
    if now.low > -margin or now.high < -margin:
        return 0
    if chance_of_verdict(now, margin, prob, now.units) < assurance:
        return None
    low, high = now.n, now.units
    while high - low > 1:
        middle = (low + high) // 2
        if chance_of_verdict(now, margin, prob, middle) >= assurance:
            high = middle
        else:
            low = middle
    return high - now.n


def chance_of_verdict(now: Mean, margin: float, prob: float, n: int) -> float:
    """Probability that the interval lies on one side of minus the margin once n units are answered."""
    from scipy.stats import norm, t

    then = math.sqrt(now.of_all + now.of_answers / n * (1 - n / now.units))
    reach = float(t.ppf(0.5 + prob / 2, n - 1)) * then
    spread = math.sqrt(max(now.error**2 - then**2, 0.0))
    distance = now.value + margin
    if spread == 0:
        return float(abs(distance) > reach)
    return float(norm.cdf((distance - reach) / spread) + norm.cdf((-distance - reach) / spread))
