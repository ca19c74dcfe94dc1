"""Expected loss of shipping a version: how much worse it may be, on average over what is not known.

With a flat prior the mean difference theta (new less old) is normal around the estimate, with its standard error s.
Shipping the new version costs max(-theta, 0), keeping the old one max(theta, 0); with z = estimate / s the first is on
average s (phi(z) - z Phi(-z)), the second s (phi(z) + z Phi(z)). A rule that stops as soon as one of them is small
makes more errors the more often one looks.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Losses(NamedTuple):
    """Expected loss of shipping the new version, and of keeping the old one."""

    new: float
    old: float


def expected_losses(estimate: float, error: float) -> Losses:
    """Expected losses of both choices.

    Examples
    --------
    >>> [round(loss, 4) for loss in expected_losses(0.0, 1.0)], [round(loss, 4) for loss in expected_losses(2.0, 1.0)]
    ([0.3989, 0.3989], [0.0085, 2.0085])
    """
    from scipy.special import ndtr

    z = estimate / error
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return Losses(error * (density - z * float(ndtr(-z))), error * (density + z * float(ndtr(z))))


def count_until_loss(loss: float, estimate: float, error: float, count: int, times: int = 100) -> int | None:
    """Answers in all until the smaller loss is at most ``loss``, if the estimate stays; None beyond ``times`` as many.

    Examples
    --------
    >>> count_until_loss(0.01, 0.0, 0.02, 100), count_until_loss(0.001, 0.0, 0.2, 100)
    (64, None)
    """
    low, high = 1, times * count
    if min(expected_losses(estimate, error * math.sqrt(count / high))) > loss:
        return None
    while low < high:
        middle = (low + high) // 2
        enough = min(expected_losses(estimate, error * math.sqrt(count / middle))) <= loss
        low, high = (low, middle) if enough else (middle + 1, high)
    return low
