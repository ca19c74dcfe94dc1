"""Agreement of a whole panel by counts (mean pairwise, Fleiss' kappa, Gwet's AC1 and AC2), and weights of levels.

With N_uc the count of answer c among the m_u answers of unit u, and weights w of partial agreement (identity: [c = k]),

    p_a = mean over units with m_u >= 2 of  sum_ck w_ck (N_uc N_uk - [c = k] N_uc) / (m_u (m_u - 1))
    pi_c = mean over units with m_u >= 1 of N_uc / m_u

and coefficients (p_a - p_e) / (1 - p_e) with

- Fleiss        p_e = sum_ck w_ck pi_c pi_k, with identity weights sum pi_c^2 (Psychological Bulletin 76, 1971; for
                unequal m_u and other weights as in Gwet)
- Gwet AC1, AC2 p_e = (sum_ck w_ck) / (q (q - 1)) sum pi_c (1 - pi_c), q levels (British Journal of
  Mathematical and
                Statistical Psychology 61, 2008; Handbook of Inter-Rater Reliability, 4th ed. 2014)

- Brennan-Prediger    p_e = sum_ck w_ck / q^2 (Educational and Psychological Measurement 41, 1981)

Units with a single answer count in pi_c but not in p_a. Declared levels count in q even if nobody used them.

Weights of partial agreement between ordered or numeric levels: 1 on the diagonal, 0 for the largest distance.

With level values v_1 < ... < v_q (numbers; positions 1..q for words):

- identity    [i = j]
- linear      1 - |v_i - v_j| / (v_q - v_1)
- quadratic   1 - (v_i - v_j)^2 / (v_q - v_1)^2
- ordinal     1 - C(|i - j| + 1, 2) / C(q, 2), with C(n, 2) = n (n - 1) / 2

Cohen, Psychological Bulletin 70 (1968); Gwet, Handbook of Inter-Rater Reliability (4th ed. 2014), chapter 3.
Weighted kappa does not change when all distances are scaled. A number that nobody gave (a 3 among 1..5) therefore
makes no difference, because numbers keep their distances. A word that nobody gave does, because neighbouring words
are one step apart: declare it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import FloatArray, Kernel, PanelStatistic, ratio_or_nan
from voirdire.errors import InputError

Scheme: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]


def agreement_weights(scheme: Scheme, levels: int, values: FloatArray | None = None) -> FloatArray:
    """Build the weight matrix of a scheme.

    Parameters
    ----------
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Scheme of the weights.
    levels : int
        Number of levels.
    values : float array, shape (levels,), optional
        Numeric values of the levels, ascending; by default their positions.

    Returns
    -------
    float array, shape (levels, levels)
        Weights: symmetric, between 0 and 1.

    Raises
    ------
    InputError
        If the scheme is not known.

    Examples
    --------
    >>> agreement_weights("linear", 3).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    if scheme not in get_args(Scheme):
        raise InputError(f"weights {scheme!r} are not known; give one of {', '.join(get_args(Scheme))}")
    if scheme == "identity" or levels < 2:
        return np.eye(levels)
    places = np.arange(levels, dtype=float)
    if scheme == "ordinal":
        steps = np.abs(places[:, None] - places[None, :])
        return np.asarray(1 - steps * (steps + 1) / (levels * (levels - 1)))
    level_values = places if values is None else np.asarray(values, float)
    share = np.abs(level_values[:, None] - level_values[None, :]) / (level_values.max() - level_values.min())
    return np.asarray(1 - share if scheme == "linear" else 1 - share**2)


def panel_agreement(ratings: Ratings) -> PanelStatistic:
    """Mean over units of the share of pairs of judges that agree.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges; some may be missing.

    Returns
    -------
    PanelStatistic
        Undefined where no unit was rated twice.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> rate = panel_agreement(ratings_from_matrix([["a", "a", "b"], ["a", "a", "a"]]))
    >>> rate.fixed().values(np.ones((1, 2))).round(4).tolist()
    [0.6667]
    """
    return _panel_statistic(ratings, "identity")


def fleiss_kappa(ratings: Ratings, scheme: Scheme = "identity") -> PanelStatistic:
    """Fleiss' kappa, plain or weighted, for any number of ratings per unit.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement.

    Returns
    -------
    PanelStatistic
        Undefined where all ratings are identical.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> kappa = fleiss_kappa(ratings_from_matrix([["a", "a", "b"], ["b", "b", "b"]]))
    >>> kappa.fixed().values(np.ones((1, 2))).round(4).tolist()
    [0.25]
    >>> kappa = fleiss_kappa(ratings_from_matrix([[1, 1, 2], [2, 3, 3]]), "linear")
    >>> kappa.fixed().values(np.ones((1, 2))).round(4).tolist()
    [0.25]
    """
    # Disagreement instead of agreement: its expected value is exactly zero where kappa is undefined.
    misses = 1 - agreement_weights(scheme, len(ratings.levels), ratings.values)
    return _panel_statistic(ratings, scheme, lambda shares: np.sum((shares @ misses) * shares, axis=-1))


def gwet_ac(ratings: Ratings, scheme: Scheme = "identity") -> PanelStatistic:
    """Gwet's AC1 (identity weights) and AC2 (other weights).

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement.

    Returns
    -------
    PanelStatistic
        Undefined with fewer than two levels: declare the levels that could have been used.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> ac1 = gwet_ac(ratings_from_matrix([["a", "a", "b"], ["b", "b", "b"]]))
    >>> ac1.fixed().values(np.ones((1, 2))).round(4).tolist()
    [0.4]
    """
    levels = len(ratings.levels)
    weights = agreement_weights(scheme, levels, ratings.values)
    factor = weights.sum() / (levels * (levels - 1)) if levels > 1 else np.nan
    return _panel_statistic(ratings, scheme, lambda shares: 1 - factor * np.sum(shares * (1 - shares), axis=-1))


def brennan_prediger(ratings: Ratings, scheme: Scheme = "identity") -> PanelStatistic:
    """Brennan and Prediger's coefficient: all levels are equally likely by chance.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement.

    Returns
    -------
    PanelStatistic
        Undefined with fewer than two levels: declare the levels that could have been used.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> found = brennan_prediger(ratings_from_matrix([["a", "a"], ["b", "b"], ["a", "b"]]))
    >>> found.fixed().values(np.ones((1, 3))).round(4).tolist()
    [0.3333]
    """
    weights = agreement_weights(scheme, len(ratings.levels), ratings.values)
    chance_disagreement = 1 - weights.mean() if len(ratings.levels) > 1 else 0.0
    return _panel_statistic(ratings, scheme, lambda shares: np.full(shares.shape[:-1], chance_disagreement))


def _panel_statistic(ratings: Ratings, scheme: Scheme, room: Kernel | None = None) -> PanelStatistic:
    """p_a, or with ``room`` (p_a - p_e) / (1 - p_e); ``room`` maps shares of levels (..., levels) to 1 - p_e."""
    weights = agreement_weights(scheme, len(ratings.levels), ratings.values)
    counts = LevelCounts(ratings)

    def unit_features(judges: FloatArray) -> FloatArray:
        level_counts = counts(judges)
        total = level_counts.sum(axis=-1, keepdims=True)
        shares = level_counts / np.maximum(total, 1)
        agreed = agreeing_pairs(counts, judges, weights)
        return np.concatenate([agreed, total > 0, shares], axis=-1, dtype=np.float64)

    def corrected_agreement(t: FloatArray) -> FloatArray:
        agreed = ratio_or_nan(t[..., 1], t[..., 0])
        return agreed if room is None else 1 - ratio_or_nan(1 - agreed, room(ratio_or_nan(t[..., 3:], t[..., 2:3])))

    return PanelStatistic(len(ratings.judges), unit_features, corrected_agreement)


def agreeing_pairs(counts: LevelCounts, judges: FloatArray, weights: FloatArray) -> FloatArray:
    """For each unit: 1 if it has a pair of answers, and the share of its pairs that agree (0 without a pair).

    Parameters
    ----------
    counts : LevelCounts
        Counts of levels in the units.
    judges : float array, shape (r, judges)
        Weights of the judges. The v^2 pairs of a judge of weight v with itself are left out.
    weights : float array, shape (levels, levels)
        Weights of partial agreement.

    Returns
    -------
    float array, shape (r, units, 2)
        Both numbers for each unit.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> counts = LevelCounts(ratings_from_matrix([["a", "a", "b"], ["b", None, None]]))
    >>> agreeing_pairs(counts, np.ones((1, 3)), np.eye(2)).round(4).tolist()
    [[[1.0, 0.3333], [0.0, 0.0]]]
    """
    level_counts = counts(judges)
    selves = counts(judges**2).sum(axis=-1)
    pairs = level_counts.sum(axis=-1) ** 2 - selves
    agreeing = np.sum((level_counts @ weights) * level_counts, axis=-1) - selves
    share = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    return np.stack([pairs > 0, share], axis=-1, dtype=np.float64)


class LevelCounts:
    """Counts of each level in each unit, with weighted judges.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> counts = LevelCounts(ratings_from_matrix([["a", "b"], ["b", None]]))
    >>> counts(np.array([[1.0, 3.0]])).tolist()
    [[[1.0, 3.0], [0.0, 1.0]]]
    """

    def __init__(self, ratings: Ratings) -> None:
        self.shape = (len(ratings.codes), len(ratings.levels))
        answers = np.zeros((len(ratings.judges), *self.shape))
        units, judges = np.nonzero(ratings.is_rated)
        answers[judges, units, ratings.codes[units, judges]] = 1.0
        self.answers = answers.reshape(len(ratings.judges), -1)

    def __call__(self, judges: FloatArray) -> FloatArray:
        """Counts of shape (r, units, levels) under judge weights of shape (r, judges)."""
        return (judges @ self.answers).reshape(len(judges), *self.shape)
