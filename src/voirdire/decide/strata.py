"""Share of good items from people's answers within strata of judges' answers.

The judges' answers divide items into strata h. With W_h the share of all N items in stratum h, and k_h of the n_h items
of it that people answered good,

    p_h ~ Beta(1/2 + k_h, 1/2 + n_h - k_h),   rate = sum_h W_h (1/H + k_h) / (2/H + n_h),
    variance = sum_h W_h^2 Var(p_h) + sum_h W_h (E[p_h] - rate)^2 / N,

the saturated joint model of a judge's answer and the truth: sensitivity and specificity are free, and each stratum has
its share of all items as weight (post-stratification; Little, JASA 88, 1993). It is valid for any quality of the judges
and any shared mistakes, if the items that people answered are a random sample. The prior of the rate has the weight of
two answers in total, for any number H of strata: half an answer of each kind in each of six strata would shrink a rate
of .9 from a hundred answers by .02. The interval is from the Beta distribution with this mean and variance. With
clusters (contexts) the variance is multiplied by Kish's design effect where that is above 1: the variance of the items'
contributions summed by cluster, over that of single items.

Strata are the answers of a single judge, or intervals of the panel's probability, with cuts that reduce its variance
within strata most.

Share of good items from a judge's own share, corrected for its errors (Rogan and Gladen, Am. J. Epidemiology 1978).

With q the share of items that the judge calls good, and se and sp its sensitivity and specificity among the items that
people answered,

    rate = (q + sp - 1) / (se + sp - 1),
    variance = (q (1 - q) / N + rate^2 se (1 - se) / n_1 + (1 - rate)^2 sp (1 - sp) / n_0) / (se + sp - 1)^2,

where the errors of se and sp come from the n_1 good and n_0 other items that people answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.typing import Bools, Floats, Ints


def rogan_gladen(judged: Floats, good: Floats) -> tuple[float, float]:
    """Value, clipped to 0 and 1, and variance; NaN where people gave only one answer or the judge is uninformative.

    Parameters
    ----------
    judged : float array, shape (items,)
        1 or 0 by the judge's answer.
    good : float array, shape (items,)
        1 or 0 by people's answer, NaN without one.

    Examples
    --------
    >>> import numpy as np
    >>> good = np.array([1.0, 1, 0, 0, np.nan, np.nan])
    >>> value, _ = rogan_gladen(np.array([1.0, 1, 0, 0, 1, 0]), good)
    >>> value
    0.5
    """
    on_good, on_bad = judged[good == 1], judged[good == 0]
    if not len(on_good) or not len(on_bad):
        return float("nan"), float("nan")
    q, se, sp = float(judged.mean()), float(on_good.mean()), 1 - float(on_bad.mean())
    informedness = se + sp - 1
    if informedness <= 0:
        return float("nan"), float("nan")
    value = min(max((q + sp - 1) / informedness, 0.0), 1.0)
    errors = value**2 * se * (1 - se) / len(on_good) + (1 - value) ** 2 * sp * (1 - sp) / len(on_bad)
    return value, (q * (1 - q) / len(judged) + errors) / informedness**2


ANSWERS_PER_STRATUM = 15  # human answers for each stratum beyond the second
MIN_ANSWERS = 5  # smallest number of human answers in a stratum
MAX_STRATA = 6


@dataclass(frozen=True, eq=False)
class Share:
    """A share of good items, and its components.

    Attributes
    ----------
    value, variance : float
    within : float
        Contribution of human answers to the variance, times their number.
    between : float
        Part of the variance that more human answers do not reduce.
    parts : float array, shape (items,)
        Contribution of each item to the error, to first order.
    """

    value: float
    variance: float
    within: float
    between: float
    parts: Floats

    def interval(self, prob: float) -> tuple[float, float]:
        """Ends of the central interval of probability ``prob``."""
        from scipy.stats import beta

        beta_size = self.value * (1 - self.value) / self.variance - 1
        low, high = beta.ppf([(1 - prob) / 2, (1 + prob) / 2], self.value * beta_size, (1 - self.value) * beta_size)
        return float(low), float(high)

    def result_row(self, prob: float) -> dict[str, float]:
        """The share with the ends of its interval, as in the JSON output."""
        low, high = self.interval(prob)
        return {"rate": self.value, "low": low, "high": high}


def cut_strata(predicted: Floats, has_answer: Bools) -> Ints:
    """Stratum of each item, from the judges' predictions.

    Parameters
    ----------
    predicted : float array, shape (items,)
    has_answer : bool array, shape (items,)
        True for items that people answered.

    Returns
    -------
    int array, shape (items,)
        0 for the lowest.

    Examples
    --------
    >>> cut_strata(np.array([0.0, 0.1, 0.9, 1.0] * 5), np.ones(20, bool)).tolist()[:4]
    [0, 0, 1, 1]
    """
    stratum = np.zeros(len(predicted), dtype=np.int64)
    for _ in range(min(MAX_STRATA, max(2, int(has_answer.sum()) // ANSWERS_PER_STRATUM)) - 1):
        best = max(
            (_best_cut(predicted, has_answer, stratum == index) for index in range(stratum.max() + 1)),
            key=lambda s: s[0],
        )
        if best[0] <= 0:
            break
        stratum += (predicted > best[1]).astype(np.int64)
    return stratum


def _best_cut(predicted: Floats, has_answer: Bools, in_stratum: Bools) -> tuple[float, float]:
    """Reduction of the sum of squares by the best cut of a stratum, and the highest value below the cut."""
    values, inverse = np.unique(predicted[in_stratum], return_inverse=True)
    number = np.bincount(inverse).astype(float)
    answered = np.bincount(inverse, has_answer[in_stratum], minlength=len(values))
    below, total = np.cumsum(number)[:-1], np.cumsum(number * values)[:-1]
    above, above_total = number.sum() - below, (number * values).sum() - total
    known = np.cumsum(answered)[:-1]
    allowed = np.minimum(known, answered.sum() - known) >= MIN_ANSWERS
    gain = np.where(allowed, (total / below - above_total / above) ** 2 * below * above / number.sum(), 0.0)
    best = int(np.argmax(gain)) if len(gain) else -1
    return (float(gain[best]), float(values[best])) if best >= 0 else (0.0, 0.0)


def share_of_good(good: Floats, stratum: Ints, clusters: Ints) -> Share:
    """Estimate the share of good items.

    Parameters
    ----------
    good : float array, shape (items,)
        1 or 0 by people's answer, NaN without one.
    stratum, clusters : int array, shape (items,)

    Examples
    --------
    Ten of twenty answers are good, nine where the judge says so, and it says so of 80% of the items:

    >>> good = np.full(100, np.nan)
    >>> good[:20] = np.repeat([1, 0, 1, 0], [9, 1, 1, 9])
    >>> stratum = np.repeat([1, 0, 1], [10, 20, 70])
    >>> share = share_of_good(good, stratum, np.arange(100))
    >>> round(share.value, 2), [round(end, 2) for end in share.interval(0.9)]
    (0.72, [0.57, 0.85])
    """
    items, has_answer = len(good), ~np.isnan(good)
    size = np.bincount(stratum).astype(float)
    answered = np.bincount(stratum[has_answer], minlength=len(size))
    good_count = np.bincount(stratum[has_answer], good[has_answer], minlength=len(size))
    p = (good_count + 0.5) / (answered + 1)
    weight = size / items
    prior = 1 / max(len(size), 2)
    value = float(weight @ ((good_count + prior) / (answered + 2 * prior)))
    spread = p * (1 - p)
    people_variance = float(weight**2 @ (spread / (answered + 2)))
    between = float(weight @ (p - value) ** 2) / items
    observed = np.where(answered > 0, good_count / np.maximum(answered, 1), 0.0)
    parts = (observed[stratum] - weight @ observed) / items
    parts[has_answer] += (weight / np.maximum(answered, 1))[stratum[has_answer]] * (
        good[has_answer] - observed[stratum[has_answer]]
    )
    cluster_sums = np.bincount(clusters, parts)
    single = float(parts @ parts)
    effect = max(float(cluster_sums @ cluster_sums) / single, 1.0) if single > 0 else 1.0
    variance = (people_variance + between) * effect
    within = people_variance * effect * int(has_answer.sum())
    scale = np.sqrt(variance / max(float(cluster_sums @ cluster_sums), 1e-300))
    return Share(value, variance, within, between * effect, parts * scale)


def answers_needed(share: Share, items: int, reach: float) -> int | None:
    """Total human answers needed for intervals of half-width ``reach``; None where all items are too few.

    Parameters
    ----------
    share : Share
    items : int
    reach : float
        Half-width of the interval, divided by the normal quantile.
    """
    variance_left = reach**2 - share.between
    number = int(np.ceil(share.within / variance_left)) if variance_left > 0 else items + 1
    return number if number <= items else None
