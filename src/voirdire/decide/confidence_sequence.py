"""Confidence bounds of a mean that hold at every look (e-values by betting).

Values x_1, x_2, ... lie between 0 and 1, and each has the mean mu given those before it. Betting l_t (x_t - m) of the
capital on each value, with l_t chosen before x_t is seen, gives after t values the capital

    K_t(m) = prod_(s <= t) (1 + l_s (x_s - m)),

which gains nothing on average where mu = m (and loses where mu < m). The probability that it ever reaches 1 / a is
therefore at most a (Ville's inequality), at any look. All m for which it reaches 1 / a are rejected; the smallest m
that is not rejected is a lower bound of mu, valid at all times together with probability 1 - a. The upper bound is that
of 1 - x.

The bet that decides soonest by n values is about sqrt(2 log(1/a) / n) divided by the standard deviation of the values
so far. n is `HORIZONS` times the planned number of values, each with its share (`HORIZON_WEIGHTS`) of the capital. The
plan only determines where bounds are narrowest; they hold at any stopping time. K_t(m) falls with m, so that bisection
finds the bounds.

Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, Journal of the Royal Statistical
Society B 86, 2024 (bets by predictable plug-in).
"""

from __future__ import annotations

import numpy as np

from voirdire.typing import Floats

HORIZONS, HORIZON_WEIGHTS = (0.125, 0.75, 4.0), (0.05, 0.9, 0.05)
MAX_LOSS_SHARE = 0.75  # largest share of the capital that one value may lose
PRIOR_VARIANCE = 1 / 16  # variance of the values before the first
BISECTION_STEPS = 30
MAX_VALUES_AHEAD = 1_000_000  # largest number of values that is projected


def log_mean_evidence(x: Floats, mean: float, alpha: float, planned: float) -> Floats:
    """Logarithm of the evidence (e-value) that the mean is above ``mean``, after each value.

    Parameters
    ----------
    x : float array, shape (..., values)
        From 0 to 1, in the order of arrival.
    mean : float
        The mean to reject, above 0.
    alpha, planned : float
        Error probability and planned number of values, which determine the bets.

    Returns
    -------
    float array, shape (..., values)

    Examples
    --------
    >>> x = np.tile([1.0, 1.0, 0.0], 60)
    >>> [bool(log_mean_evidence(x, mean, 0.05, 200).max() > np.log(20)) for mean in (0.5, 0.7)]
    [True, False]
    """
    count = np.arange(1, x.shape[-1] + 1)
    so_far = (0.5 + np.cumsum(x, axis=-1)) / (count + 1)
    variance = np.empty_like(x)
    variance[..., :1] = PRIOR_VARIANCE
    variance[..., 1:] = ((PRIOR_VARIANCE + np.cumsum((x - so_far) ** 2, axis=-1)) / (count + 1))[..., :-1]
    bet_size = np.sqrt(2 * np.log(1 / alpha) / (planned * variance))
    excess, max_bet = x - mean, MAX_LOSS_SHARE / mean
    parts = [
        np.log(share) + np.cumsum(np.log1p(np.minimum(bet_size / np.sqrt(horizon), max_bet) * excess), axis=-1)
        for horizon, share in zip(HORIZONS, HORIZON_WEIGHTS, strict=True)
    ]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))


def mean_exceeds(x: Floats, mean: float, alpha: float, planned: float, *, intersect: bool = False) -> bool:
    """True where a mean of at most ``mean`` is rejected: now, or with ``intersect`` at any look.

    Examples
    --------
    >>> mean_exceeds(np.ones(20), 0.5, 0.05, 100), mean_exceeds(np.zeros(20), 0.5, 0.05, 100)
    (True, False)
    """
    if not 0.0 < mean < 1.0:
        return mean <= 0.0
    evidence = log_mean_evidence(x, mean, alpha, planned)
    return bool((evidence.max() if intersect else evidence[-1]) >= -np.log(alpha))


def mean_bounds(x: Floats, alpha: float, planned: float, *, intersect: bool = False) -> tuple[float, float]:
    """Lower and upper bound of a mean; each is wrong at any look with probability at most ``alpha``.

    Parameters
    ----------
    x : float array, shape (values,)
    alpha, planned
        As in `log_mean_evidence`.
    intersect : bool
        True to reject a mean that was rejected after any of the values. Bounds are then narrower, but valid only where
        the order of the values is uninformative.

    Examples
    --------
    >>> [round(end, 2) for end in mean_bounds(np.tile([1.0, 1.0, 0.0], 60), 0.05, 200)]
    [0.57, 0.75]
    """
    low = _lower_bound(x, alpha, planned, intersect)
    return low, 1.0 - _lower_bound(1.0 - x, alpha, planned, intersect)


def _lower_bound(x: Floats, alpha: float, planned: float, intersect: bool) -> float:
    low, high = 0.0, 1.0
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        refuted = mean_exceeds(x, middle, alpha, planned, intersect=intersect)
        low, high = (middle, high) if refuted else (low, middle)
    return low


def values_until_refuted(
    x: Floats, mean: float, alpha: float, planned: float, *, intersect: bool = False, times: int = 100
) -> int | None:
    """Number of values, including the present ones, until ``mean`` is rejected, if further values are like these.

    Returns
    -------
    int or None
        None where it is more than ``times`` the present number.

    Examples
    --------
    >>> x = np.tile([1.0, 1.0, 0.0], 10)
    >>> values_until_refuted(x, 0.5, 0.05, 200), values_until_refuted(x, 0.7, 0.05, 200)
    (59, None)
    """
    first = 1 if intersect else len(x)
    size, max_size = len(x), min(times * len(x), max(MAX_VALUES_AHEAD, len(x)))
    while True:
        refuted = log_mean_evidence(np.resize(x, size), mean, alpha, planned)[first - 1 :] >= -np.log(alpha)
        if refuted.any():
            return int(np.argmax(refuted)) + first
        if size == max_size:
            return None
        size = min(2 * size, max_size)
