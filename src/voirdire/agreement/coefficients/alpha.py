"""Krippendorff's alpha: agreement of any number of judges, also with missing ratings.

Units with one rating are left out. With N_uc the count of answer c among the m_u answers of unit u, the coincidences
and their margins are

    o_ck = sum_u N_uc (N_uk - [c = k]) / (m_u - 1),   n_c = sum_k o_ck,   n = sum_c n_c,

    alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck,

with squared differences d_ck

- nominal    [c != k]
- ordinal    (sum_{g=c..k} n_g - (n_c + n_k) / 2)^2: the difference of mid-ranks
- interval   (c - k)^2
- ratio      ((c - k) / (c + k))^2
- masi, jaccard   the distances between sets of labels (below), not squared

Krippendorff, Content Analysis (4th ed. 2019), chapter 12; Computing Krippendorff's Alpha-Reliability
(2011). Alpha is undefined where all ratings are identical and where no unit was rated twice.

Distances between sets of labels: 0 for the same set, 1 for sets without a label in common.

With J(A, B) = |A and B| / |A or B| (Jaccard 1901; J of two empty sets is 1):

- jaccard   1 - J
- masi      1 - J M, where M is 1 for equal sets, 2/3 where one contains the other, 1/3 where they overlap, else 0

Passonneau, Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation, LREC 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.panel import LevelCounts
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray, PanelStatistic, ratio_or_nan
from voirdire.errors import InputError

SetDistance: TypeAlias = Literal["jaccard", "masi"]


def set_distances(label_sets: Sequence[Sequence[str]], distance: SetDistance) -> FloatArray:
    """Distances between sets of labels, two by two.

    Parameters
    ----------
    label_sets : sequence of sequences of str
        The labels of each set, without repeats.
    distance : {"jaccard", "masi"}
        The kind of distance.

    Returns
    -------
    float array, shape (sets, sets)
        Distances: symmetric, between 0 and 1.

    Examples
    --------
    >>> set_distances([("a", "b"), ("a", "b", "c", "d")], "masi").round(4).tolist()
    [[0.0, 0.6667], [0.6667, 0.0]]
    >>> set_distances([("a",), ("a", "b"), ()], "jaccard").tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    vocabulary = {
        label: place for place, label in enumerate(sorted({label for labels in label_sets for label in labels}))
    }
    holds = np.zeros((len(label_sets), len(vocabulary)))
    for row, labels in enumerate(label_sets):
        holds[row, [vocabulary[label] for label in labels]] = 1.0
    size = holds.sum(axis=1)
    common = holds @ holds.T
    union = size[:, None] + size - common
    similarity: FloatArray = np.divide(common, union, out=np.ones_like(common), where=union > 0)
    if distance == "masi":
        smaller = np.minimum(size[:, None], size)
        kinds = [similarity == 1, common == smaller, common > 0]
        similarity = similarity * np.select(kinds, [1.0, 2 / 3, 1 / 3], 0.0)
    return 1 - similarity


# With more levels, only pairs of levels that occur in one unit get totals.
_MAX_LEVELS = 20

Metric: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio", "masi", "jaccard"]


def krippendorff_alpha(ratings: Ratings, metric: Metric = "nominal") -> PanelStatistic:
    """Krippendorff's alpha.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges; some may be missing.
    metric : {"nominal", "ordinal", "interval", "ratio", "masi", "jaccard"}
        Distance between two levels.

    Returns
    -------
    PanelStatistic
        The coefficient for any weights of units and judges.

    Raises
    ------
    InputError
        If the metric is not known, or the levels are words without a declared order (ordinal), not numbers (interval,
        ratio), negative (ratio), or not sets of labels (masi, jaccard).

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> alpha = krippendorff_alpha(ratings_from_matrix([[1, 1], [2, 2], [1, 2], [3, 3]]), "ordinal")
    >>> alpha.fixed().values(np.ones((1, 4))).round(4).tolist()
    [0.79]
    """
    if metric not in get_args(Metric):
        raise InputError(f"metric {metric!r} is not known; give one of {', '.join(get_args(Metric))}")
    if metric == "ordinal":
        if not ratings.ordered:
            raise InputError("ordinal alpha needs the order of the levels; declare it, lowest first")
        return _ordinal_alpha(ratings)
    if metric == "interval":
        return _interval_alpha(ratings)
    distances = _level_distances(ratings, metric)
    counts = LevelCounts(ratings)

    def unit_features(judges: FloatArray) -> FloatArray:
        level_counts, factor = _pairable_counts(counts, judges)
        disagreement = np.sum((level_counts @ distances) * level_counts, axis=-1) * factor
        return np.concatenate([disagreement[..., None], level_counts * (factor > 0)[..., None]], axis=-1)

    def alpha_of_totals(t: FloatArray) -> FloatArray:
        margins = t[..., 1:]
        expected = np.sum((margins @ distances) * margins, axis=-1)
        return 1 - ratio_or_nan((margins.sum(axis=-1) - 1) * t[..., 0], expected)

    return PanelStatistic(len(ratings.judges), unit_features, alpha_of_totals)


def _level_distances(ratings: Ratings, metric: Literal["nominal", "ratio", "masi", "jaccard"]) -> FloatArray:
    """Distances between levels that do not depend on the counts of the levels; shape (levels, levels)."""
    if metric == "nominal":
        return 1 - np.eye(len(ratings.levels))
    if metric == "ratio":
        return _ratio_distances(ratings)
    if ratings.members is None:
        raise InputError(f"{metric} alpha compares sets of labels, and each answer is one label")
    return set_distances(ratings.members, metric)


def _pairable_counts(counts: LevelCounts, judges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts of each level, and the weight of a pair in its unit: m / (pairs of distinct judges), 0 without pairs."""
    level_counts = counts(judges)
    total = level_counts.sum(axis=-1)
    pairs = total**2 - counts(judges**2).sum(axis=-1)
    return level_counts, np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)


def _ratio_distances(ratings: Ratings) -> FloatArray:
    ratings.numeric_answers()
    values = ratings.values
    assert values is not None
    if values.min(initial=0.0) < 0:
        raise InputError(f"ratio alpha needs scores of at least 0, and there is a {values.min():g}; use interval alpha")
    total = values[:, None] + values[None, :]
    share = np.divide(values[:, None] - values[None, :], total, out=np.zeros_like(total), where=total > 0)
    return share**2


def _interval_alpha(ratings: Ratings) -> PanelStatistic:
    """Interval alpha from sums of powers: sum_{j != k} (x_j - x_k)^2 = 2 (m sum x^2 - (sum x)^2)."""
    numbers = ratings.numeric_answers()
    rated = ratings.is_rated
    mean_score = numbers[rated].mean() if rated.any() else 0.0
    centred = np.where(rated, numbers - mean_score, 0.0)
    # Alpha does not depend on the scale; squares of very large or small scores would leave the range of floats.
    centred /= np.abs(centred).max(initial=0.0) or 1.0
    powers = np.stack([rated.astype(float), centred, centred**2])

    def unit_features(judges: FloatArray) -> FloatArray:
        total, first, second = (judges @ power.T for power in powers)
        pairs = total**2 - judges**2 @ powers[0].T
        factor = np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)
        pairable = factor > 0
        disagreement = np.maximum(total * second - first**2, 0.0) * factor
        return np.stack([disagreement, total * pairable, first * pairable, second * pairable], axis=-1)

    def alpha_of_totals(t: FloatArray) -> FloatArray:
        n, scale = t[..., 1], t[..., 1] * t[..., 3]
        return 1 - ratio_or_nan((n - 1) * t[..., 0], scale - t[..., 2] ** 2, scale)

    return PanelStatistic(len(ratings.judges), unit_features, alpha_of_totals)


def _ordinal_alpha(ratings: Ratings) -> PanelStatistic:
    """Ordinal alpha. Distances depend on the margins, so each pair of unlike levels has a separate total."""
    levels = len(ratings.levels)
    counts = LevelCounts(ratings)
    low, high = np.triu_indices(levels, 1)
    if levels > _MAX_LEVELS:
        present = counts(np.ones((1, len(ratings.judges))))[0] > 0
        low, high = np.nonzero(np.triu(present.T.astype(float) @ present, 1))

    def unit_features(judges: FloatArray) -> FloatArray:
        level_counts, factor = _pairable_counts(counts, judges)
        disagreement = 2 * level_counts[..., low] * level_counts[..., high] * factor[..., None]
        return np.concatenate([level_counts * (factor > 0)[..., None], disagreement], axis=-1)

    def alpha_of_totals(t: FloatArray) -> FloatArray:
        margins, coincidences = t[..., :levels], t[..., levels:]
        ranks = np.cumsum(margins, axis=-1) - margins / 2
        n = margins.sum(axis=-1)
        observed = np.sum(coincidences * (ranks[..., low] - ranks[..., high]) ** 2, axis=-1)
        squares = n * np.sum(margins * ranks**2, axis=-1)
        expected = 2 * (squares - np.sum(margins * ranks, axis=-1) ** 2)
        return 1 - ratio_or_nan((n - 1) * observed, expected, squares)

    return PanelStatistic(len(ratings.judges), unit_features, alpha_of_totals)
