"""Agreement of two judges: agreement rate, Cohen's kappa (weighted), Scott's pi.

Over the n units that both rated, with weights w of partial agreement, p_ij the share of units that the
first judge puts into i and the second into j, r_i and c_j the judges' shares:

    p_o = sum w_ij p_ij        kappa = (p_o - p_e) / (1 - p_e),   p_e = sum w_ij r_i c_j

Cohen, Educational and Psychological Measurement 20 (1960); Psychological Bulletin 70 (1968). Scott's pi
(Public Opinion Quarterly 19, 1955) has p_e = sum ((r_i + c_i) / 2)^2. Kappa is undefined where p_e = 1:
both judges give one and the same answer throughout. If only one judge is constant, kappa is 0.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.weights import Scheme, agreement_weights
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, ratio_or_nan, share_statistic


def agreement_rate(ratings: Ratings) -> CountStatistic:
    """Share of units on which two judges give the same answer.

    Parameters
    ----------
    ratings : Ratings
        Of two judges.

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
    both, same = _rated_and_agreed(ratings)
    return share_statistic(both, same)


def cohen_kappa(ratings: Ratings, scheme: Scheme = "identity") -> CountStatistic:
    """Cohen's kappa of two judges, unweighted or weighted.

    Parameters
    ----------
    ratings : Ratings
        Of two judges.
    scheme : {"identity", "linear", "quadratic", "ordinal"}
        Weights of partial agreement; distances are those of numeric values, of places for words.

    Returns
    -------
    CountStatistic
        Undefined where both judges give one and the same answer throughout.

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
        Of two judges.

    Returns
    -------
    CountStatistic
        Undefined where both judges give one and the same answer throughout.

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


def _rated_and_agreed(ratings: Ratings) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], ...]:
    first, second = ratings.codes.T
    both = (first >= 0) & (second >= 0)
    return both, both & (first == second)


def _margin_features(ratings: Ratings, misses: FloatArray) -> FloatArray:
    """Features: rated by both, disagreement, the first judge's answer, the second's (one column a level)."""
    both, _ = _rated_and_agreed(ratings)
    first, second = ratings.codes.T
    levels = np.eye(len(ratings.levels))
    features = np.column_stack([np.ones(len(first)), misses[first, second], levels[first], levels[second]])
    return np.where(both[:, None], features, 0.0)
