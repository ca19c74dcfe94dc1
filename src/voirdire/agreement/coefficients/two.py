"""Agreement of two judges: agreement rate, Cohen's kappa (weighted), Scott's pi.

Over the n units that both rated, with weights w of partial agreement, p_ij the share of units with answer i of
the first judge and j of the second, r_i and c_j the shares of answers of each judge:

    p_o = sum w_ij p_ij        kappa = (p_o - p_e) / (1 - p_e),   p_e = sum w_ij r_i c_j

Cohen, Educational and Psychological Measurement 20 (1960); Psychological Bulletin 70 (1968). Scott's pi
(Public Opinion Quarterly 19, 1955) has p_e = sum ((r_i + c_i) / 2)^2. Kappa is undefined where p_e = 1:
both judges always give the same single answer. If only one judge is constant, kappa is 0.

Conger's kappa extends Cohen's to a panel: by chance each judge draws answers with its own shares.

With p_gc the share of answer c among the answers of judge g, weights w of partial agreement, and p_a as in
:mod:`.panel`,

    kappa = (p_a - p_e) / (1 - p_e),    p_e = mean over pairs g != h of judges of  sum_ck w_ck p_gc p_hk

Conger, Psychological Bulletin 88 (1980), 322-328; with weights and for missing answers as in Gwet, Handbook of
Inter-Rater Reliability (4th ed. 2014), chapters 2 and 3. Gwet's sum_ck w_ck (m_c m_k - s_ck / r), with m the mean and s
the covariance of p_g over r judges, equals this mean over pairs. For two judges who answered the same units it is
Cohen's kappa. Fleiss' kappa uses the pooled shares for each judge, so it is lower the more judges differ in their
shares.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.panel import LevelCounts, Scheme, agreeing_pairs, agreement_weights
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import (
    CountStatistic,
    FloatArray,
    PanelStatistic,
    mean_over_units,
    ratio_or_nan,
)


def conger_kappa(ratings: Ratings, scheme: Scheme = "identity") -> PanelStatistic:
    """Conger's kappa, plain or weighted, for any number of ratings per unit.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two or more judges; a judge without answers does not enter chance agreement.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement.

    Returns
    -------
    PanelStatistic
        Undefined where all ratings are identical.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> kappa = conger_kappa(ratings_from_matrix([["a", "a", "b"], ["b", "b", "b"]]))
    >>> kappa.fixed().values(np.ones((1, 2))).round(4).tolist()
    [0.3333]
    """
    judges, levels = len(ratings.judges), len(ratings.levels)
    weights = agreement_weights(scheme, levels, ratings.values)
    misses = 1 - weights
    counts = LevelCounts(ratings)
    # Shape (units, judges, levels): 1 where the judge gave the answer.
    answers = counts.answers.reshape(judges, *counts.shape).swapaxes(0, 1)
    rated = answers.sum(axis=-1)

    def unit_features(v: FloatArray) -> FloatArray:
        """Pairs, agreeing pairs, each judge's answers times its weight, and their number times the weight squared."""
        weighted = (answers * v[:, None, :, None]).reshape(len(v), len(answers), -1)
        return np.concatenate([agreeing_pairs(counts, v, weights), weighted, rated * v[:, None] ** 2], axis=-1)

    def kappa_of_totals(t: FloatArray) -> FloatArray:
        answer_weights = t[..., 2 : 2 + judges * levels].reshape(*t.shape[:-1], judges, levels)
        number = answer_weights.sum(axis=-1)
        v = np.nan_to_num(ratio_or_nan(t[..., 2 + judges * levels :], number))  # 0: drawn without an answer
        shares = v[..., None] * np.nan_to_num(ratio_or_nan(answer_weights, number[..., None]))
        total_shares = shares.sum(axis=-2)
        all_pairs = np.sum((total_shares @ misses) * total_shares, axis=-1)
        selves = np.sum((shares @ misses) * shares, axis=(-2, -1))
        expected = ratio_or_nan(all_pairs - selves, v.sum(axis=-1) ** 2 - np.sum(v**2, axis=-1))
        return 1 - ratio_or_nan(1 - ratio_or_nan(t[..., 1], t[..., 0]), expected)

    return PanelStatistic(judges, unit_features, kappa_of_totals)


def agreement_rate(ratings: Ratings) -> CountStatistic:
    """Share of units on which two judges give the same answer.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two judges.

    Returns
    -------
    CountStatistic
        Undefined where no unit was rated by both.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> rate = agreement_rate(ratings_from_matrix([["a", "a"], ["a", "b"], ["b", None]]))
    >>> rate.values(np.ones((1, 3))).tolist()
    [0.5]
    """
    first, second = ratings.codes.T
    return mean_over_units(ratings.is_fully_rated, first == second)


def cohen_kappa(ratings: Ratings, scheme: Scheme = "identity") -> CountStatistic:
    """Cohen's kappa of two judges, unweighted or weighted.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two judges.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement; distances are between numeric values, or between positions of words.

    Returns
    -------
    CountStatistic
        The coefficient; undefined where both judges always give the same single answer.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> kappa = cohen_kappa(ratings_from_matrix([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]]))
    >>> kappa.values(np.ones((1, 4))).tolist()
    [0.5]
    """
    levels = len(ratings.levels)
    # Disagreement instead of agreement: its expectation is exactly zero where kappa is undefined.
    misses = 1 - agreement_weights(scheme, levels, ratings.values)
    features = _margin_features(ratings, misses)

    def kappa_of_totals(t: FloatArray) -> FloatArray:
        rows, columns = t[..., 2 : 2 + levels], t[..., 2 + levels :]
        expected = np.sum((rows @ misses) * columns, axis=-1)
        return 1 - ratio_or_nan(t[..., 0] * t[..., 1], expected)

    return CountStatistic(features, kappa_of_totals)


def scott_pi(ratings: Ratings) -> CountStatistic:
    """Scott's pi of two judges.

    Parameters
    ----------
    ratings : Ratings
        Ratings of two judges.

    Returns
    -------
    CountStatistic
        The coefficient; undefined where both judges always give the same single answer.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> pi = scott_pi(ratings_from_matrix([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]]))
    >>> pi.values(np.ones((1, 4))).round(4).tolist()
    [0.4667]
    """
    levels = len(ratings.levels)
    features = _margin_features(ratings, 1 - np.eye(levels))

    def pi_of_totals(t: FloatArray) -> FloatArray:
        joint = t[..., 2 : 2 + levels] + t[..., 2 + levels :]
        n = t[..., 0]
        return 1 - ratio_or_nan(t[..., 1] * n * 4, 4 * n**2 - np.sum(joint**2, axis=-1))

    return CountStatistic(features, pi_of_totals)


def _margin_features(ratings: Ratings, misses: FloatArray) -> FloatArray:
    """Features: rated by both, disagreement, the first judge's answer, the second's (one column per level)."""
    first, second = ratings.codes.T
    levels = np.eye(len(ratings.levels))
    features = np.column_stack([np.ones(len(first)), misses[first, second], levels[first], levels[second]])
    return np.where(ratings.is_fully_rated[:, None], features, 0.0)
