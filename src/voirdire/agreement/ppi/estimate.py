"""Prediction-powered estimates from few human answers and many judges' answers about the same kind of units.

Humans answer n units drawn at random; judges answer these n units and N others. Let y be a human answer, f the judges'
prediction of y on the n units, and F their prediction on the N others. The mean E[y] over all units is estimated by

    theta(w) = mean(y) + w (mean(F) - mean(f)).

Its expectation is E[y] for every weight w, even if the predictions are poor. w = 0 uses the humans alone. w = 1 is
prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 382, 2023). The weight

    w = clip(cov(y, f) / ((1 + n/N) var(f and F)), 0, 1)

minimises the variance var(y - w f)/n + w^2 var(F)/N (PPI++: Angelopoulos, Duchi and Zrnic, arXiv 2311.01453, 2023).
A ratio E[y] / E[d], such as wins per decided comparison, is theta(w) of numerators over theta(w) of denominators.
Its variance is that of the mean of y - theta d, divided by the squared denominator; w is tuned on y - theta d.

All estimates are functions of totals over units, so that resamples are matrix products. With clusters (contexts), the
variance is the sum over clusters of the squared sums of the units' contributions, also where a cluster holds units
of one kind only; w minimises this variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.resampling import bootstrap_weights
from voirdire.agreement.engine.statistic import FloatArray, IntArray, ratio_or_nan


@dataclass(frozen=True, eq=False)
class Sample:
    """Human answers to some units and judges' predictions of all.

    Parameters
    ----------
    human : float array, shape (units, 2)
        Numerator and denominator (1 for a mean) by the humans; ignored where there is no human answer.
    judges : float array, shape (units, 2)
        Predictions of both by the judges.
    labelled : bool array, shape (units,)
        True for units that humans answered.
    groups : int array, shape (units,), optional
        The cluster of each unit, coded 0, 1, ...; by default each unit is a cluster.

    Examples
    --------
    >>> ones = np.ones(6)
    >>> said, predicted = np.array([1, 0, 1, 0, 0, 0.0]), np.array([1, 0, 1, 1, 1, 0.0])
    >>> sample = Sample(np.stack([said, ones], 1), np.stack([predicted, ones], 1), np.arange(6) < 3)
    >>> sample.human_count, sample.other_count, round(sample.human_ratio, 3)
    (3, 3, 0.667)
    """

    human: FloatArray
    judges: FloatArray
    labelled: NDArray[np.bool_]
    groups: IntArray | None = None

    @classmethod
    def of_values(
        cls, human: FloatArray, judges: FloatArray, labelled: NDArray[np.bool_], groups: IntArray | None = None
    ) -> Sample:
        """Build a sample for a mean, from human and judges' values of the units, shape (units,)."""
        ones = np.ones(len(human))
        return cls(np.column_stack([human, ones]), np.column_stack([judges, ones]), labelled, groups)

    @property
    def human_count(self) -> int:
        """n, the number of units that humans answered."""
        return int(self.labelled.sum())

    @property
    def other_count(self) -> int:
        """N, the number of units that only judges answered."""
        return int((~self.labelled).sum())

    @cached_property
    def clusters(self) -> IntArray:
        """The cluster of each unit."""
        return np.arange(len(self.labelled)) if self.groups is None else self.groups

    @cached_property
    def human_cluster_count(self) -> int:
        """Count of the clusters that hold a unit that humans answered."""
        return len(np.unique(self.clusters[self.labelled]))

    @cached_property
    def human_ratio(self) -> float:
        """The ratio from human answers alone; subtracting it from the numerators keeps sums of squares exact."""
        total = self.human[self.labelled].sum(axis=0)
        return float(ratio_or_nan(total[:1], total[1:])[0])

    @cached_property
    def unit_moments(self) -> FloatArray:
        """Terms that each unit adds to the totals: moments of the answered units, then of the others; (units, 11)."""
        human = np.where(self.labelled[:, None], self.human, 0.0)
        y, d = human[:, 0] - self.human_ratio * human[:, 1], human[:, 1]
        f, e = self.judges[:, 0] - self.human_ratio * self.judges[:, 1], self.judges[:, 1]
        ones = np.ones(len(y))
        answered_terms = np.stack([ones, y, d, f, e, y * f, f * f], axis=1) * self.labelled[:, None]
        other_terms = np.stack([ones, f, e, f * f], axis=1) * ~self.labelled[:, None]
        return np.hstack([answered_terms, other_terms])


# With fewer answers the tuned weight is too noisy, and its error cannot be estimated.
MIN_TUNING_ANSWERS = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its variance.

    Attributes
    ----------
    value : float
        The estimate; NaN where undefined.
    weight : float
        w, the weight of the judges' predictions, 0 to 1.
    variance : float
        Variance of the value, as published: moments divided by n and N.
    variance_small : float
        Variance corrected for the degrees of freedom, for few answers.
    freedom : float
        Degrees of freedom of ``variance_small`` (Welch and Satterthwaite).
    """

    value: float
    weight: float
    variance: float
    variance_small: float
    freedom: float


def value_and_weight(totals: FloatArray, weight: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Compute value (minus the centre) and weight from totals of features.

    The weight of a ratio is tuned at the ratio from human answers alone.

    Parameters
    ----------
    totals : float array, shape (..., 11)
        Totals of `Sample.unit_moments`.
    weight : float, optional
        w; tuned if not given.

    Returns
    -------
    value, weight : float array, shape (...)
        Values, NaN where undefined, and weights.

    Examples
    --------
    >>> said, predicted = np.ones((4, 2)), np.ones((4, 2))
    >>> said[:2, 0], predicted[:, 0] = [1, 3], [1, 3, 5, 5]
    >>> sample = Sample(said, predicted, np.arange(4) < 2)
    >>> value, _ = value_and_weight(sample.unit_moments.sum(axis=0), 1.0)
    >>> float(value + sample.human_ratio)
    5.0
    """
    n, y, d, f, e, yf, ff, others, f_, e_, ff_ = np.moveaxis(totals, -1, 0)
    mean = ratio_or_nan(f + f_, n + others)
    spread = ff + ff_ - (n + others) * mean**2
    pooled = ratio_or_nan(spread, n + others - 1)
    y, d, f, e, yf = (ratio_or_nan(total, n) for total in (y, d, f, e, yf))
    f_, e_ = ratio_or_nan(f_, others), ratio_or_nan(e_, others)
    if weight is None:
        # A spread at rounding error counts as zero: constant predictions add no information.
        variance = np.where(spread > 1e-12 * (ff + ff_), (1 + ratio_or_nan(n, others)) * pooled, 0.0)
        w = np.clip(np.nan_to_num(ratio_or_nan(yf - y * f, variance)), 0.0, 1.0)
    else:
        w = np.full(np.shape(n), float(weight))
    shift, denominator_shift = (np.where(w > 0, w * (b - a), 0.0) for a, b in ((f, f_), (e, e_)))
    denominator = d + denominator_shift
    return np.where(denominator > 0, ratio_or_nan(y + shift, denominator), np.nan), w


def powered_estimate(sample: Sample, weight: float | None = None) -> Estimate:
    """Compute the prediction-powered estimate and its variance.

    Parameters
    ----------
    sample : Sample
        Human answers and predictions.
    weight : float, optional
        w; tuned if not given, 0 with fewer than 10 clusters that humans answered or fewer than 2 other units.

    Returns
    -------
    Estimate
        `variance` is the published variance: the sum over clusters of the squared sums of the units' contributions.
        These are y - w f of answered units and w F of the others, each minus its mean (for a ratio, y - theta d
        replaces y). `variance_small` multiplies the part of the G clusters with human answers by G / (G - 1 - t)
        and the part of the M other clusters by M / (M - 1); t is the loss of degrees of freedom by tuning, N / (n + N)
        for a weight strictly between 0 and 1. Both are NaN with fewer than two clusters of human answers. Where judges
        match every human answer, their estimated error would be 0; it is then computed as if one more answer
        contradicted them by the whole range of the human answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=200)
    >>> y = f + 0.3 * rng.normal(size=200)
    >>> ones = np.ones(200)
    >>> sample = Sample(np.stack([y, ones], 1), np.stack([f, ones], 1), np.arange(200) < 40)
    >>> alone, powered = powered_estimate(sample, 0.0), powered_estimate(sample)
    >>> bool(powered.variance < 0.5 * alone.variance)
    True
    """
    n, others = sample.human_count, sample.other_count
    tuned = weight is None
    shifted, w = (
        float(number) for number in value_and_weight(sample.unit_moments.sum(axis=0), _choose_weight(sample, weight))
    )
    value = shifted + sample.human_ratio
    if np.isnan(value) or n == 0:
        return Estimate(float("nan"), w, *(float("nan"),) * 3)
    labelled = sample.labelled
    y = sample.human[:, 0] - value * sample.human[:, 1]
    f = sample.judges[:, 0] - value * sample.judges[:, 1]
    unobserved = _unobserved_error_variance(y[labelled], f[labelled], sample.human_cluster_count) if w > 0 else 0.0
    influence = np.zeros(len(y))
    influence[labelled] = _centre_values(y[labelled] - w * f[labelled]) / n
    denominator = sample.human[labelled, 1].mean()
    if w > 0:
        influence[~labelled] = w * _centre_values(f[~labelled]) / others
        denominator += w * (sample.judges[~labelled, 1].mean() - sample.judges[labelled, 1].mean())
    sums = np.bincount(sample.clusters, influence) / denominator
    with_humans = np.bincount(sample.clusters[labelled], minlength=len(sums)) > 0
    lost_freedom = others / (n + others) if tuned and 0 < w < 1 else 0.0
    known, known_small, freedom = _variance_of_total(sums[with_humans], 1 + lost_freedom)
    others_variance, others_small, others_freedom = (
        _variance_of_total(sums[~with_humans], 1.0) if w > 0 else (0.0, 0.0, 1.0)
    )
    known, known_small = known + unobserved / denominator**2, known_small + unobserved / denominator**2
    small = known_small + others_small
    if np.isnan(known_small):
        return Estimate(value, w, *(float("nan"),) * 3)
    if small > 0:
        freedom = small**2 / (known_small**2 / freedom + others_small**2 / others_freedom)
    return Estimate(value, w, known + others_variance, small, freedom)


def _choose_weight(sample: Sample, weight: float | None) -> float | None:
    """The requested weight, 0 for few answers, or the tuned weight of clusters; None where units tune it."""
    if weight is not None:
        return weight
    if sample.human_cluster_count < MIN_TUNING_ANSWERS or sample.other_count < 2:
        return 0.0
    if sample.groups is None:
        return None
    labelled = sample.labelled
    y, f = np.zeros(len(labelled)), np.empty(len(labelled))
    y[labelled] = (
        _centre_values(sample.human[labelled, 0] - sample.human_ratio * sample.human[labelled, 1]) / sample.human_count
    )
    predicted = sample.judges[:, 0] - sample.human_ratio * sample.judges[:, 1]
    f[labelled] = _centre_values(predicted[labelled]) / sample.human_count
    f[~labelled] = -_centre_values(predicted[~labelled]) / sample.other_count
    by_human, by_judges = np.bincount(sample.groups, y), np.bincount(sample.groups, f)
    spread = float(by_judges @ by_judges)
    min_spread = 1e-24 * float(np.max(predicted**2, initial=0.0))
    return min(max(float(by_human @ by_judges) / spread, 0.0), 1.0) if spread > min_spread else 0.0


def _unobserved_error_variance(y: FloatArray, f: FloatArray, clusters: int) -> float:
    """Variance of the mean prediction error that clusters of answers without any error may hide, else 0."""
    if np.ptp(y - f) > 1e-12 * np.ptp(y):
        return 0.0
    share = 1 / (clusters + 1)
    return float(np.ptp(y) ** 2 * share * (1 - share) / clusters)


def _centre_values(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean())


def _variance_of_total(sums: FloatArray, lost_freedom: float) -> tuple[float, float, float]:
    """Variance of a total of independent sums: as published, corrected for degrees of freedom, and these."""
    freedom = len(sums) - lost_freedom
    if len(sums) == 0:
        return 0.0, 0.0, 1.0
    plain = float(np.sum(sums**2))
    return (plain, plain * len(sums) / freedom, freedom) if freedom > 0 else (plain, float("nan"), float("nan"))


def resample_values(sample: Sample, resamples: int, seed: int, weight: float | None = None) -> FloatArray:
    """Compute values on bootstrap resamples.

    Units with human answers and the others are resampled separately, so that n and N do not change. With clusters,
    whole clusters are resampled. The weight is tuned again on each resample of units, but not of clusters.

    Returns
    -------
    float array, shape (resamples,)
        Values, NaN where undefined.

    Examples
    --------
    >>> ones = np.ones((30, 2))
    >>> resample_values(Sample(ones, ones, np.arange(30) < 12), 3, seed=0).tolist()
    [1.0, 1.0, 1.0]
    """
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2)]
    weight = _choose_weight(sample, weight)
    if sample.groups is None:
        strata = [sample.unit_moments[sample.labelled], sample.unit_moments[~sample.labelled]]
    else:
        merged = np.zeros((int(sample.groups.max()) + 1, sample.unit_moments.shape[1]))
        np.add.at(merged, sample.groups, sample.unit_moments)
        strata = [merged]
    totals = np.zeros((resamples, sample.unit_moments.shape[1]))
    for features, rng in zip(strata, streams, strict=False):
        start = 0
        for weights in bootstrap_weights(len(features), resamples, rng):
            totals[start : start + len(weights)] += weights @ features
            start += len(weights)
    return value_and_weight(totals, weight)[0] + sample.human_ratio
