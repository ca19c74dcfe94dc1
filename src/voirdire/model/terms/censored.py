"""Scores on a bounded continuous scale: normal around what a judge perceives, cut off at the ends.

A score y between the ends -1/2 and 1/2 of the scale has the density of Normal(mu, sigma) there; a score at an end is
all that would lie beyond it (Tobin 1958, Econometrica 26):

    P(y = -1/2) = Phi((-1/2 - mu) / sigma),   P(y = 1/2) = Phi((mu - 1/2) / sigma).

A judge's n inner scores of one item, with mean m and sum of squares S around it, share a shift u ~ Normal(0, tau), and

    log p = -n/2 log 2 pi - n log sigma - 1/2 log(1 + n tau^2 / sigma^2) - S / (2 sigma^2)
            - n (m - mu)^2 / (2 (sigma^2 + n tau^2)),

given which u is normal; the scores at the ends are averaged over it.
"""

from __future__ import annotations

import math
from typing import Any

from voirdire.model.terms.arrays import Array, log_normal_cdf
from voirdire.model.terms.cumulative import log_expectation, normal_quadrature

HALF = 0.5  # distance of the ends from the middle


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
    # end == 0, in a form that graphs know too
    return xp.where(end * end < 1, inside, log_normal_cdf((end * mu - HALF) / noise, xp))


def item_scores_log_density(
    part: dict[str, Array], mu: Array, log_noise: Array, log_shift: Array, xp: Any
) -> Array:
    """Log density of all scores of one item by one judge, elementwise.

    Parameters
    ----------
    part : dict
        ``inside`` (n), ``mean`` (m), ``squares`` (S), and the numbers of scores ``at_low`` and ``at_high``.
    mu, log_noise, log_shift : array
        What the judge perceives, log sigma and log tau.
    """
    n, noise, shift = part["inside"], xp.exp(log_noise), xp.exp(log_shift)
    away = part["mean"] - mu
    total = noise * noise + n * shift * shift
    log = -0.5 * n * math.log(2.0 * math.pi) - n * log_noise
    log = log - 0.5 * xp.log1p(n * shift * shift / (noise * noise))
    log = log - 0.5 * part["squares"] / (noise * noise) - 0.5 * n * away * away / total
    z, log_weight = normal_quadrature()
    # given the inner scores, the shift is normal with this mean and standard deviation
    centre = mu + n * shift * shift * away / total
    spread = shift * noise * xp.exp(-0.5 * xp.log(total))
    seen = centre[..., None] + spread[..., None] * z
    low = log_normal_cdf((-HALF - seen) / noise[..., None], xp)
    high = log_normal_cdf((seen - HALF) / noise[..., None], xp)
    at_ends = part["at_low"][:, None] * low + part["at_high"][:, None] * high
    return log + log_expectation(at_ends, log_weight, xp)
