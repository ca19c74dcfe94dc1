"""Scores on a bounded continuous scale: normal around the perceived value, censored at the ends.

A score y between the ends -1/2 and 1/2 of the scale has the density of Normal(mu, sigma) there; a score at an end has
the probability of all values beyond it (Tobin 1958, Econometrica 26):

    P(y = -1/2) = Phi((-1/2 - mu) / sigma),   P(y = 1/2) = Phi((mu - 1/2) / sigma).
"""

from __future__ import annotations

import math
from typing import Any

from voirdire.model.terms.arrays import Array, log_normal_cdf

HALF_RANGE = 0.5  # distance of the ends from the middle


def score_log_density(score: Array, end: Array, mu: Array, log_noise: Array, xp: Any) -> Array:
    """Log density of a score between the ends, log probability of one at an end (``end`` -1 or 1), elementwise.

    Examples
    --------
    >>> import numpy as np
    >>> x = score_log_density(np.array([0.0, 0.5]), np.array([0, 1]), np.array([0.0, 0.5]), np.zeros(2), np)
    >>> np.exp(x).round(3).tolist()
    [0.399, 0.5]
    """
    noise = xp.exp(log_noise)
    z = (score - mu) / noise
    inside = -0.5 * z * z - log_noise - 0.5 * math.log(2.0 * math.pi)
    # end == 0, in a form that graphs support
    return xp.where(end * end < 1, inside, log_normal_cdf((end * mu - HALF_RANGE) / noise, xp))
