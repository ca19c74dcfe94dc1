"""Conger's kappa: Cohen's for a panel, each judge drawing answers at its own shares.

With p_gc the share of answer c among the answers of judge g, weights w of partial agreement, and p_a as in
:mod:`.panel`,

    kappa = (p_a - p_e) / (1 - p_e),    p_e = mean over pairs g != h of judges of  sum_ck w_ck p_gc p_hk

Conger, Psychological Bulletin 88 (1980), 322-328; with weights and for missing answers as in Gwet, Handbook of
Inter-Rater Reliability (4th ed. 2014), chapters 2 and 3, whose sum_ck w_ck (m_c m_k - s_ck / r), with m the mean and s
the covariance of p_g over r judges, is this mean over pairs. Of two judges who answered the same units it is Cohen's
kappa. Fleiss' kappa takes the shares of all answers for each judge, so that it is the lower the more judges differ in
their shares.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.coefficients.panel import LevelCounts, agreeing_pairs
from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.coefficients.weights import Scheme, agreement_weights
from voirdire.agreement.engine.statistic import FloatArray, PanelStatistic, ratio_or_nan


def conger_kappa(ratings: Ratings, scheme: Scheme = "identity") -> PanelStatistic:
    """Conger's kappa, plain or weighted, for any number of ratings a unit.

    Parameters
    ----------
    ratings : Ratings
        Of two or more judges; one without an answer has no part in chance.
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
    # Shape (units, judges, levels): whether the judge gave the answer.
    answers = counts.answers.reshape(judges, *counts.shape).swapaxes(0, 1)
    rated = answers.sum(axis=-1)

    def unit_features(v: FloatArray) -> FloatArray:
        """Pairs and those that agree, each judge's answers times its weight, its number times the weight squared."""
        weighted = (answers * v[:, None, :, None]).reshape(len(v), len(answers), -1)
        return np.concatenate(
            [agreeing_pairs(counts, v, weights), weighted, rated * v[:, None] ** 2], axis=-1
        )

    def kappa_of_totals(t: FloatArray) -> FloatArray:
        given = t[..., 2 : 2 + judges * levels].reshape(*t.shape[:-1], judges, levels)
        number = given.sum(axis=-1)
        v = np.nan_to_num(ratio_or_nan(t[..., 2 + judges * levels :], number))  # 0: drawn without an answer
        shares = v[..., None] * np.nan_to_num(ratio_or_nan(given, number[..., None]))
        whole = shares.sum(axis=-2)
        all_pairs = np.sum((whole @ misses) * whole, axis=-1)
        selves = np.sum((shares @ misses) * shares, axis=(-2, -1))
        expected = ratio_or_nan(all_pairs - selves, v.sum(axis=-1) ** 2 - np.sum(v**2, axis=-1))
        return 1 - ratio_or_nan(1 - ratio_or_nan(t[..., 1], t[..., 0]), expected)

    return PanelStatistic(judges, unit_features, kappa_of_totals)
