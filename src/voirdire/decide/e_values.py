"""Tests by e-values, valid at any number of looks: bounds of a mean, and a change of a mean at an unknown time.

Change of a mean at an unknown time: detected by e-values at any number of looks, dated by a posterior.

**Detection** uses the bets of :mod:`voirdire.trust.drift`, which gain nothing on average where the order of the values
is uninformative. At any one look the evidence (an e-value) has mean exactly 1, and it ever reaches 1 / a with
probability at most about a (measured: `benchmarks/watches.py`). Candidate changes are after 20 values, 40, ..., later
after every fiftieth part of the values so far, with stakes log 2 (1 / log(k + 1) - 1 / log(k + 2)) for the k-th point,
which sum to 1.

**Date and size** use the values up to the largest evidence, which excludes values after a change that was reversed. All
points j have the same prior probability. For shares (values from 0 to 1) the means before and after have Beta(1/2, 1/2)
priors; for other values means and variances are unknown (normal-gamma prior with the weight of one value, around those
of all values). The posterior of j is the product of both parts' marginal likelihoods; that of the difference of the
means is a mixture over j, and its quantiles give intervals. At the look that finds a change, the change tends to look
larger than it is; intervals therefore have probability 1 - (1 - prob) / `TAIL_DIVISOR`. The benchmark measures their
coverage, too. (Chernoff and Zacks, Annals of Mathematical Statistics 35, 1964.)

Confidence bounds of a mean that hold at every look (e-values by betting).

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

from dataclasses import dataclass

import numpy as np

from voirdire.trust.drift import running_log_evidence
from voirdire.typing import Floats, Ints

MIN_SPACING = 20  # smallest number of values before the first candidate change, and between two candidates
SPACING_DIVISOR = 50  # the spacing is at least the number of values so far divided by this
TAIL_DIVISOR = 3.0


@dataclass(frozen=True)
class Change:
    """A change of a mean.

    Attributes
    ----------
    found_after : int
        Number of values at detection.
    since, since_low, since_high : int
        Number of values before the change, with interval.
    before, after : float
        Mean before the change, and after it up to the largest evidence.
    low, high : float
        Interval of after minus before.
    """

    found_after: int
    since: int
    since_low: int
    since_high: int
    before: float
    after: float
    low: float
    high: float


def log_change_evidence(x: Floats) -> Floats:
    """Logarithm of the evidence (e-value) for a change of the mean, after each value, shape (values,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> same, other = (rng.random(200) < 0.8).astype(float), (rng.random(100) < 0.4).astype(float)
    >>> bool(log_change_evidence(same).max() < 1), bool(log_change_evidence(np.append(same, other)).max() > 10)
    (True, True)
    """
    return running_log_evidence(x, _candidate_points(len(x)))[1:]


def find_change(x: Floats, evidence: Floats, alpha: float, prob: float, *, shares: bool) -> Change | None:
    """Find a change of the mean, with its intervals; None where none is detected.

    Parameters
    ----------
    x : float array, shape (values,)
        In time order.
    evidence : float array, shape (values,)
        From :func:`log_change_evidence`.
    alpha : float
        Probability of detecting a change at any look where there is none.
    prob : float
        Probability of the intervals.
    shares : bool
        True where values are from 0 to 1; otherwise they are numbers on any scale.

    Examples
    --------
    >>> x = np.append(np.tile([1.0, 1.0, 1.0, 0.0], 50), np.tile([1.0, 0.0, 0.0, 0.0], 25))
    >>> found = find_change(x, log_change_evidence(x), 0.01, 0.9, shares=True)
    >>> found.since_low <= 200 <= found.since_high, found.low < found.after - found.before < found.high < 0
    (True, True)
    """
    alarmed = evidence >= -np.log(alpha)
    if not alarmed.any():
        return None
    seen = x[: max(int(np.argmax(evidence)) + 1, 3)]
    probability, centre, error = _change_posterior(seen, shares)
    tail = (1.0 - prob) / TAIL_DIVISOR / 2.0
    since = int(np.argmax(probability)) + 1
    low_at, high_at = np.searchsorted(np.cumsum(probability), [tail, 1.0 - tail])
    low, high = (_mixture_quantile(probability, centre, error, q) for q in (tail, 1.0 - tail))
    since_ends = min(int(low_at) + 1, since), max(min(int(high_at), len(probability) - 1) + 1, since)
    means = float(seen[:since].mean()), float(seen[since:].mean())
    return Change(int(np.argmax(alarmed)) + 1, since, *since_ends, *means, low, high)


def _candidate_points(count: int) -> tuple[Ints, Floats]:
    """Candidate change points, and the weight of each."""
    points, position = [], MIN_SPACING
    while position < count:
        points.append(position)
        position += max(MIN_SPACING, position // SPACING_DIVISOR)
    k = np.arange(1.0, len(points) + 1.0)
    return np.array(points, dtype=np.int64), np.log(2.0) * (1.0 / np.log(k + 1.0) - 1.0 / np.log(k + 2.0))


def _change_posterior(x: Floats, shares: bool) -> tuple[Floats, Floats, Floats]:
    """For each point: its probability, and mean and standard deviation of the difference of the means."""
    count = np.arange(1.0, len(x))
    total, squares = np.cumsum(x)[:-1], np.cumsum(x * x)[:-1]
    marginal_likelihood = _proportion_marginal_likelihood if shares else _numeric_marginal_likelihood
    before = marginal_likelihood(count, total, squares, x)
    after = marginal_likelihood(len(x) - count, float(x.sum()) - total, float(x @ x) - squares, x)
    log = before[0] + after[0]
    probability = np.exp(log - log.max())
    return probability / probability.sum(), after[1] - before[1], np.sqrt(before[2] + after[2])


def _proportion_marginal_likelihood(
    count: Floats, total: Floats, squares: Floats, x: Floats
) -> tuple[Floats, Floats, Floats]:
    """Log marginal likelihood of a part's values, and mean and variance of its mean."""
    from scipy.special import betaln

    good, bad = np.maximum(total, 0.0) + 0.5, np.maximum(count - total, 0.0) + 0.5
    mean = good / (good + bad)
    return betaln(good, bad), mean, mean * (1.0 - mean) / (good + bad + 1.0)


def _numeric_marginal_likelihood(
    count: Floats, total: Floats, squares: Floats, x: Floats
) -> tuple[Floats, Floats, Floats]:
    """As :func:`_proportion_marginal_likelihood`, for numbers on any scale."""
    from scipy.special import gammaln

    centre, prior = float(x.mean()), max(float(x.var()), 1e-12)
    shape = (1.0 + count) / 2.0
    within = np.maximum(squares - total**2 / count, 0.0)
    deviation = total / count - centre
    rate = (prior + within + count / (1.0 + count) * deviation**2) / 2.0
    log = gammaln(shape) - shape * np.log(rate) - 0.5 * np.log1p(count)
    log -= 0.5 * count * np.log(2.0 * np.pi)
    return log, centre + count / (1.0 + count) * deviation, rate / shape / (1.0 + count)


def _mixture_quantile(probability: Floats, centre: Floats, error: Floats, q: float) -> float:
    """Quantile of a mixture of normal distributions."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    low, high = float((centre - 10.0 * error).min()), float((centre + 10.0 * error).max())
    return float(brentq(lambda x: float(probability @ ndtr((x - centre) / error)) - q, low, high, xtol=1e-14))


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
