"""Change of a mean that may come at any time, found so that one may look after every value.

Values x_1, x_2, ... lie between 0 and 1. Where nothing changes each has the mean m, given those before it, and for every
p the products of

    (p / m)^x ((1 - p) / (1 - m))^(1 - x)

gain nothing on average (of x = 0 and 1 they are ratios of likelihoods; between, a^x b^(1 - x) <= a x + b (1 - x)). So
does what a bettor makes with p drawn from Jeffreys' prior Beta(1/2, 1/2), drawn anew after a point j, and with points j
that have weights w_j. With L(m) the product of m^x (1 - m)^(1 - x) over all values, and B that product averaged over the
prior of m, the e-process against "there is no change" is the least over m,

    E_t = sum_j w_j B(x_1 ... x_j) B(x_(j+1) ... x_t) / max_m L(m),

which ever reaches 1 / a with probability a at most (Ville's inequality), however often one looks. Points are every tenth
value from a first one on, later every hundredth part; w_j = log 2 (1 / log(k + 1) - 1 / log(k + 2)) of the k-th.

Where the mean is m_0 up to a point and m_1 after it, the same sum divided by the likelihood of these three is an
e-process, too. What it does not refute, at level 1 - q, is a set of changes that is right at all times together with
probability q: the ends of the point and of m_1 - m_0 are those of this set.

Universal inference: Wasserman, Ramdas and Balakrishnan, PNAS 117, 2020. Sums over points of change: Shin, Ramdas and
Rinaldo, E-detectors, New England Journal of Statistics in Data Science 2, 2024. Jeffreys' mixture: Krichevsky and
Trofimov, IEEE Transactions on Information Theory 27, 1981.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.typing import Floats, Ints

STEP = 10  # values from one point to the next,
PART = 100  # or this part of the values so far
HALVINGS = 40
SPLITS = 33  # ways to share what is not refuted between both means


@dataclass(frozen=True)
class Change:
    """A change of a mean.

    Attributes
    ----------
    found : int
        Values after which it was found.
    since, since_low, since_high : int
        Values before it, by likelihood, with interval.
    before, after : float
        Means.
    low, high : float
        Interval of after less before.
    """

    found: int
    since: int
    since_low: int
    since_high: int
    before: float
    after: float
    low: float
    high: float


def log_evidence(x: Floats, first: int) -> Floats:
    """Logarithm of the e-process against "no change" after each value.

    Parameters
    ----------
    x : float array, shape (values,)
        From 0 to 1, in the order in which they came.
    first : int
        Values before which no change is looked for, 1 or more.

    Returns
    -------
    float array, shape (values,)
        Minus infinity up to ``first``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> same, other = (rng.random(200) < 0.8).astype(float), (rng.random(100) < 0.4).astype(float)
    >>> bool(log_evidence(same, 30).max() < 0), bool(log_evidence(np.append(same, other), 30).max() > 10)
    (True, True)
    """
    return (_log_bets(x, first) - _log_likelihood(*_sums(x)))[1:]


def find_change(x: Floats, first: int, alpha: float, prob: float) -> Change | None:
    """A change of the mean with its intervals; None where none was found.

    Parameters
    ----------
    x, first
        As in :func:`log_evidence`.
    alpha : float
        Probability that a change is found, at any time, where there is none.
    prob : float
        Coverage of the intervals, at all times and of all of them together.

    Examples
    --------
    >>> x = np.append(np.tile([1.0, 1.0, 1.0, 0.0], 50), np.tile([1.0, 0.0, 0.0, 0.0], 25))
    >>> found = find_change(x, 30, 0.01, 0.9)
    >>> found.since_low <= 200 <= found.since_high, round(found.after - found.before, 1), found.low < -0.5 < found.high
    (True, -0.5, True)
    """
    evidence = log_evidence(x, first)
    over = evidence >= -np.log(alpha)
    if not over.any():
        return None
    last = int(np.argmax(evidence)) + 1  # what came after a change that went away again is no part of it
    since, margin = _not_refuted(x[:last], float(_log_bets(x[:last], first)[last]), prob)
    kept = np.flatnonzero(margin >= 0.0) + 1
    low, high = _ends(x[:last], kept, margin[kept - 1])
    return Change(
        int(np.argmax(over)) + 1,
        since,
        int(kept[0]),
        int(kept[-1]),
        float(x[:since].mean()),
        float(x[since:last].mean()),
        low,
        high,
    )


def mean_interval(x: Floats, prob: float) -> tuple[float, float]:
    """Interval of a mean that is right at all times together with probability ``prob``.

    Examples
    --------
    >>> [round(end, 2) for end in mean_interval(np.tile([1.0, 0.0], 100), 0.9)]
    [0.4, 0.6]
    """
    count, total = np.array([float(len(x))]), np.array([float(x.sum())])
    margin = _log_likelihood(count, total) - _log_mixture(count, total) - np.log(1.0 - prob)
    return tuple(float(_farthest(total / count, count, margin, side)[0]) for side in (0.0, 1.0))  # type: ignore[return-value]


def _points(first: int, count: int) -> Ints:
    found, at = [], first
    while at < count:
        found.append(at)
        at += max(STEP, at // PART)
    return np.array(found, dtype=np.int64)


def _log_bets(x: Floats, first: int) -> Floats:
    """Logarithm of the sum over points, shape (values + 1,): after none of the values, after one, ..."""
    count, total = _sums(x)
    found = np.full(len(count), -np.inf)
    for k, point in enumerate(_points(first, len(x)), start=1):
        weight = np.log(np.log(2.0) * (1.0 / np.log(k + 1.0) - 1.0 / np.log(k + 2.0)))
        until = _log_mixture(count[point], total[point])
        after = _log_mixture(count[point + 1 :] - count[point], total[point + 1 :] - total[point])
        found[point + 1 :] = np.logaddexp(found[point + 1 :], weight + until + after)
    return found


def _sums(x: Floats) -> tuple[Floats, Floats]:
    return np.arange(len(x) + 1.0), np.append(0.0, np.cumsum(x))


def _log_mixture(count: Floats, total: Floats) -> Floats:
    from scipy.special import betaln

    return np.asarray(betaln(total + 0.5, count - total + 0.5) - np.log(np.pi))


def _log_likelihood(count: Floats, total: Floats) -> Floats:
    """Largest logarithm of the likelihood of one mean."""
    from scipy.special import xlogy

    mean = np.clip(total / np.maximum(count, 1.0), 0.0, 1.0)
    return np.asarray(xlogy(total, mean) + xlogy(np.maximum(count - total, 0.0), 1.0 - mean))


def _not_refuted(x: Floats, bets: float, prob: float) -> tuple[int, Floats]:
    """The likeliest point, and by how much the likelihood with each point (1 to all but one value) is not refuted."""
    count, total = _sums(x)
    count, total, whole, all_of = count[1:-1], total[1:-1], count[-1], total[-1]
    likelihood = _log_likelihood(count, total) + _log_likelihood(whole - count, all_of - total)
    return int(np.argmax(likelihood)) + 1, likelihood - bets - np.log(1.0 - prob)


def _ends(x: Floats, points: Ints, margin: Floats) -> tuple[float, float]:
    """Least and largest difference of the means after and before any of the points, within what is not refuted."""
    total = np.append(0.0, np.cumsum(x))
    before, after = points.astype(float), (len(x) - points).astype(float)
    means = total[points] / before, (total[-1] - total[points]) / after
    share = np.linspace(0.0, 1.0, SPLITS)[:, None]
    ends = [
        _farthest(means[1], after, (1.0 - share) * margin, side)
        - _farthest(means[0], before, share * margin, 1.0 - side)
        for side in (0.0, 1.0)
    ]
    return float(ends[0].min()), float(ends[1].max())


def _farthest(mean: Floats, count: Floats, margin: Floats, side: float) -> Floats:
    """The value towards 0 or 1 whose log likelihood is less than that of the mean by the margin."""
    from scipy.special import rel_entr

    mean = np.clip(mean, 0.0, 1.0)
    inside, outside = np.broadcast_arrays(mean, mean + 0.0 * margin)[1].copy(), np.full(1, side)
    outside = np.broadcast_to(outside, inside.shape).copy()
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2.0
        lost = count * (rel_entr(mean, middle) + rel_entr(1.0 - mean, 1.0 - middle))
        within = lost <= margin
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    return inside
