"""Probabilities of scores: the cumulative logit on an ordered scale, and the censored normal on a bounded one.

Scores on a bounded continuous scale: normal around the perceived value, censored at the ends.

A score y between the ends -1/2 and 1/2 of the scale has the density of Normal(mu, sigma) there; a score at an end has
the probability of all values beyond it (Tobin 1958, Econometrica 26):

    P(y = -1/2) = Phi((-1/2 - mu) / sigma),   P(y = 1/2) = Phi((mu - 1/2) / sigma).

Probabilities of the levels of an ordered scale: the cumulative logit.

With cutpoints kappa_1 < ... < kappa_(L-1) and the perceived quality eta, a score is above level l with probability
sigmoid(eta - kappa_l) (McCullagh 1980, JRSS B 42, "proportional odds"). The probability of level l is a difference of
two such probabilities, which factors into

    P(l) = sigmoid(kappa_l - eta) sigmoid(eta - kappa_(l-1)) (1 - exp(kappa_(l-1) - kappa_l)),

without the first factor at the top level, the second at the bottom, and the third at both. Its logarithm
needs no difference of nearly equal numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.model.terms.arrays import Array, log_normal_cdf, log_sigmoid

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


NODE_RANGE = 5.0  # standard deviations covered by the rule on either side
NODE_COUNT = 41  # a step of a quarter: relative error below 1e-5 for integrands a fifth of a standard deviation wide


def log_level_probability(eta: Array, lower: Array, upper: Array, level: Array, top: int, xp: Any) -> Array:
    """Log probability of a level, elementwise.

    Parameters
    ----------
    eta : array, shape (...)
        Perceived quality.
    lower, upper : array, shape (...)
        Cutpoints below and above the level; the value for a missing one is not used.
    level : int array, shape (...)
        From 0 to ``top``.
    top : int
        The highest level.

    Examples
    --------
    >>> cut = np.array([-1.0, 1.0])
    >>> levels = np.arange(3)
    >>> log = log_level_probability(0.5, cut[[0, 0, 1]], cut[[0, 1, 1]], levels, 2, np)
    >>> np.exp(log).round(3).tolist(), float(np.exp(log).sum().round(12))
    ([0.182, 0.44, 0.378], 1.0)
    """
    inside = (level > 0) & (level < top)
    gap = xp.where(inside, upper - lower, 1.0)  # else the logarithm below has no slope at zero
    below_upper = xp.where(level < top, log_sigmoid(upper - eta, xp), 0.0)
    above_lower = xp.where(level > 0, log_sigmoid(eta - lower, xp), 0.0)
    return below_upper + above_lower + xp.where(inside, xp.log(-xp.expm1(-gap)), 0.0)


def level_log_probabilities(eta: Array, cuts: Array, levels: int, xp: Any) -> list[Array]:
    """Log probability of each level, lowest first, each of the shape of ``eta``.

    Parameters
    ----------
    eta : array, shape (...)
    cuts : array, shape (..., levels - 1)

    Examples
    --------
    >>> logs = level_log_probabilities(np.array(0.5), np.array([-1.0, 1.0]), 3, np)
    >>> [float(np.exp(log).round(3)) for log in logs]
    [0.182, 0.44, 0.378]
    """
    above = [eta - cuts[..., level] for level in range(levels - 1)]
    log_above = [log_sigmoid(x, xp) for x in above]
    logs = []
    for level in range(levels):
        log = 0.0 * eta
        if level < levels - 1:
            log = log + (log_above[level] - above[level])  # log sigmoid(-x), from the known exponential
        if level > 0:
            log = log + log_above[level - 1]
        if 0 < level < levels - 1:
            log = log + xp.log(-xp.expm1(cuts[..., level - 1] - cuts[..., level]))
        logs.append(log)
    return logs


def normal_quadrature() -> tuple[Any, Any]:
    """Nodes and log weights of a trapezoidal rule for the expectation over a standard normal variable.

    The rule converges exponentially for smooth integrands that decay (Trefethen and Weideman 2014, SIAM Review 56).

    Examples
    --------
    >>> z, log_weight = normal_quadrature()
    >>> float((np.exp(log_weight) * z**4).sum().round(3))
    3.0
    """
    z = np.linspace(-NODE_RANGE, NODE_RANGE, NODE_COUNT)
    weight = np.exp(-0.5 * z * z)
    return z, np.log(weight / weight.sum())


def log_expectation(log: Array, log_weight: Any, xp: Any) -> Array:
    """Log of the weighted sum of exponentials along the last axis, which is removed.

    Examples
    --------
    >>> float(np.exp(log_expectation(np.log([1.0, 3.0]), np.log([0.5, 0.5]), np)).round(3))
    2.0
    """
    total = log + log_weight
    top = total.max(axis=-1, keepdims=True)
    return top[..., 0] + xp.log(xp.exp(total - top).sum(axis=-1))
