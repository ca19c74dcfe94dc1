"""Agreement of judges who rank: rankings as lists, Kendall's W, tau-b and Spearman's rho within each list, averaged.

A list holds the items of one context, which judges order together. Let d_ji be judge j's mid-rank of item i minus the
mean rank, c_jk = sum_i d_ji d_ki over the items of the list, and n_jk = sum_{i<l} sign(d_ji - d_jl) sign(d_ki - d_kl).

    Spearman's rho   c_jk / sqrt(c_jj c_kk)
    Kendall's tau-b  n_jk / sqrt(n_jj n_kk)                                 (Kendall, Biometrika 33, 1945)
    Kendall's W      sum_jk c_jk / (m sum_j c_jj),   m judges               (Kendall and Babington Smith,
                     Annals of Mathematical Statistics 10, 1939)

W is the textbook coefficient corrected for ties: m sum_j c_jj is (m^2 (n^3 - n) - m sum_j T_j) / 12. Two judges are
compared on the items that both ranked; W of a panel uses the items that all its judges ranked. Ranks are those among
these items. A list counts if its coefficient is defined: at least two items, not all tied by a judge. Copies of a
resampled judge are not compared with each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.statistic import (
    CountStatistic,
    FloatArray,
    PanelStatistic,
    WeightedStatistic,
    mean_from_totals,
    mean_over_units,
    ratio_or_nan,
)
from voirdire.errors import InputError, raise_problems
from voirdire.tables.rankings import Rankings

RANKED = ("ranked",)  # the one answer: there is a ranking


def ratings_from_rankings(
    table: Rankings, *, repeats: str | None = None, levels: object = None, orientation: object = None
) -> list[Ratings]:
    """Build ratings of each criterion with contexts as units; one unit if the table has no contexts.

    Parameters
    ----------
    repeats : {"mean", "error"}, optional
        Treatment of several rankings of one list by one judge: combine by mean ranks (the default), or raise.
    levels, orientation
        Arguments for other tables; must be None.

    Raises
    ------
    InputError
        For repeated rankings under "error", rankings of different items by one judge in one context, and arguments
        for other tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.tables.rankings import read_rankings
    >>> table = pd.DataFrame({"judge": ["a", "a", "b", "b"], "item": ["x", "y"] * 2, "rank": [1, 2, 3, 1]})
    >>> ratings_from_rankings(read_rankings(table))[0].ranks[0].tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    """
    if levels is not None or orientation is not None:
        raise InputError("levels and orientation are for other tables than rankings; leave them out")
    if repeats not in (None, "mean", "error"):
        raise InputError(f"repeats {repeats!r} does not fit rankings; give one of mean, error")
    context = np.zeros(table.rows, np.int64) if table.context is None else table.context
    results, problems, uneven = [], list[str](), list[str]()
    for number, criterion in enumerate(table.criteria):
        in_criterion = table.criterion == number
        units, ranks, repeated = np.unique(context[in_criterion]), [], np.zeros(len(table.judges), np.int64)
        for unit in units:
            rows = np.flatnonzero(in_criterion & (context == unit))
            items = np.unique(table.item[rows])
            matrix = np.full((len(items), len(table.judges)), np.nan)
            for judge in np.unique(table.judge[rows]):
                judge_ranks = _ranks_by_ranking(table, rows[table.judge[rows] == judge], items)
                repeated[judge] += len(judge_ranks) > 1
                if (np.isnan(judge_ranks) != np.isnan(judge_ranks[0])).any():
                    uneven.append(
                        f"judge {table.judges[judge]!r}"
                        + (f" in context {table.contexts[unit]!r}" if table.contexts else "")
                    )
                matrix[:, judge] = judge_ranks.mean(axis=0)
            ranks.append(matrix)
        if repeats == "error":
            problems += [
                f"judge {judge!r} ranked {times} lists more than once; say by repeats how to combine them"
                for judge, times in zip(table.judges, repeated, strict=True)
                if times
            ]
        names = [table.contexts[unit] for unit in units] if table.contexts else ["all items"]
        results.append(
            Ratings(
                judges=table.judges,
                codes=np.array([np.where(np.isnan(list_ranks).all(axis=0), -1, 0) for list_ranks in ranks], np.int64),
                levels=RANKED,
                contexts=np.arange(len(units)) if table.contexts else None,
                units=tuple(names),
                criterion=criterion if table.has_criteria else None,
                notes=_notes_on_repeats(table.judges, repeated),
                ranks=tuple(ranks),
            )
        )
    if uneven:
        others_note = f" (and {len(uneven) - 1} more)" if len(uneven) > 1 else ""
        problems.append(
            f"{uneven[0]}{others_note} ranked other items in one ranking than in another, and their ranks cannot be "
            "compared; compare the votes between items (--table votes)"
        )
    raise_problems(problems)
    return results


def _ranks_by_ranking(table: Rankings, rows: np.ndarray, items: np.ndarray) -> FloatArray:
    """Mid-ranks of all items in each ranking of one judge, shape (rankings, items); NaN for items left out."""
    import pandas as pd

    rankings, place = np.unique(table.ranking[rows], return_inverse=True)
    ranks = np.full((len(rankings), len(items)), np.nan)
    ranks[place, np.searchsorted(items, table.item[rows])] = pd.Series(table.rank[rows]).groupby(place).rank()
    return ranks


def _notes_on_repeats(judges: Sequence[str], repeated: np.ndarray) -> dict[str, str]:
    return {
        judge: f"{times} list{'' if times == 1 else 's'} ranked more than once, combined by mean ranks"
        for judge, times in zip(judges, repeated, strict=True)
        if times
    }


def rank_correlation(ratings: Ratings, name: str) -> CountStatistic | PanelStatistic:
    """Mean over lists of Kendall's tau-b or Spearman's rho: of two judges, or averaged over the pairs of a panel.

    Parameters
    ----------
    ratings : Ratings
        Ratings of rankings.
    name : {"kendall_tau_b", "spearman"}
        The coefficient.

    Returns
    -------
    CountStatistic or PanelStatistic
        The mean; undefined where no list has two items that two judges both ranked.

    Examples
    --------
    >>> ratings = ratings_from_ranks([[[1, 1], [2, 3], [3, 2]], [[1, 1], [2, 2], [3, 3]]])
    >>> tau = rank_correlation(ratings, "kendall_tau_b")
    >>> tau.values(np.ones((1, 2))).round(4).tolist()
    [0.6667]
    """
    assert ratings.ranks is not None
    products = _sign_products if name == "kendall_tau_b" else _rank_covariances
    judges = len(ratings.judges)
    correlations = np.full((len(ratings.ranks), judges, judges), np.nan)
    for place, ranks in enumerate(ratings.ranks):
        for j in range(judges):
            for k in range(j):
                ranked = ~np.isnan(ranks[:, [j, k]]).any(axis=1)
                first, second = products(ranks[ranked][:, [j, k]])
                correlations[place, j, k] = correlations[place, k, j] = ratio_or_nan(
                    first[1:], np.sqrt(first[:1] * second[1:])
                )[0]
    if judges == 2:
        return mean_over_units(~np.isnan(correlations[:, 0, 1]), correlations[:, 0, 1])
    known = ~np.isnan(correlations)
    value = np.where(known, correlations, 0.0)

    def list_features(weights: FloatArray) -> FloatArray:
        pairs, total = (np.einsum("rj,ujk,rk->ru", weights, part, weights) for part in (known, value))
        list_value = np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)
        return np.stack([pairs > 0, list_value], axis=-1, dtype=np.float64)

    return PanelStatistic(judges, list_features, mean_from_totals)


def kendall_w(ratings: Ratings) -> PanelStatistic:
    """Mean over lists of Kendall's coefficient of concordance.

    Parameters
    ----------
    ratings : Ratings
        Ratings of rankings.

    Returns
    -------
    PanelStatistic
        Undefined where no list has two items that all judges ranked.

    Examples
    --------
    >>> w = kendall_w(ratings_from_ranks([[[1, 2, 1], [2, 1, 2], [3, 3, 3]]]))
    >>> w.fixed().values(np.ones((1, 1))).round(4).tolist()
    [0.7778]
    """
    assert ratings.ranks is not None
    judges = len(ratings.judges)
    covariances = np.zeros((len(ratings.ranks), judges, judges))
    for place, ranks in enumerate(ratings.ranks):
        covariances[place] = _rank_covariances(ranks[~np.isnan(ranks).any(axis=1)])
    own_squares = np.diagonal(covariances, axis1=1, axis2=2)
    off_diagonal = covariances * (1.0 - np.eye(judges))

    def list_features(weights: FloatArray) -> FloatArray:
        number = weights.sum(axis=1, keepdims=True)
        pairs = number**2 - (weights**2).sum(axis=1, keepdims=True)
        selves = weights @ own_squares.T
        products = np.einsum("rj,ujk,rk->ru", weights, off_diagonal, weights)
        shared = ratio_or_nan(products, pairs) * number * (number - 1.0)
        known = (selves > 0) & (pairs > 0)
        list_value = np.divide(selves + shared, number * selves, out=np.zeros_like(selves), where=known)
        return np.stack([known, list_value], axis=-1, dtype=np.float64)

    return PanelStatistic(judges, list_features, mean_from_totals)


def kendall_w_of_items(ratings: Ratings) -> WeightedStatistic:
    """Kendall's coefficient of concordance of scores, with all items that every judge scored as one list.

    Parameters
    ----------
    ratings : Ratings
        Ratings with ordered answers.

    Returns
    -------
    WeightedStatistic
        Undefined where every judge ties all items.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> w = kendall_w_of_items(ratings_from_matrix([[9, 2, 5], [6, 1, 3], [8, 4, 6], [7, 1, 2]]))
    >>> w.values(np.ones((1, 4))).round(4).tolist()
    [0.8391]
    """
    used, judges = ratings.is_fully_rated, len(ratings.judges)
    codes = np.where(used[:, None], ratings.codes, 0)

    def w_of_weights(weights: FloatArray) -> FloatArray:
        weights = np.where(used, weights, 0.0)
        total, squares = np.zeros((2, len(weights), len(codes)))
        for column in codes.T:
            counts = weights @ np.eye(len(ratings.levels))[column]
            below = np.cumsum(counts, axis=1)
            # rank minus the mean rank: half the count below minus half the count above
            rank = (2 * below - counts - below[:, -1:])[:, column] / 2
            total, squares = total + rank, squares + rank**2
        return ratio_or_nan(np.sum(weights * total**2, axis=1), judges * np.sum(weights * squares, axis=1))

    return WeightedStatistic(used, w_of_weights, row_size=4 * len(codes) + len(ratings.levels))


def _rank_covariances(ranks: FloatArray) -> FloatArray:
    """Compute c_jk from items that all judges ranked, shape (judges, judges)."""
    from scipy.stats import rankdata

    centred = rankdata(ranks, axis=0) - (len(ranks) + 1) / 2 if len(ranks) else ranks
    return np.asarray(centred.T @ centred)


def _sign_products(ranks: FloatArray) -> FloatArray:
    """Compute n_jk from items that all judges ranked, shape (judges, judges)."""
    first, second = np.triu_indices(len(ranks), 1)
    signs = np.sign(ranks[first] - ranks[second])
    return np.asarray(signs.T @ signs)


def ratings_from_ranks(lists: object) -> Ratings:
    """Build ratings from lists of ranks.

    Parameters
    ----------
    lists : sequence of array-like, shape (items, judges) each
        Ranks, 1 for the best; NaN where a judge did not rank an item.

    Examples
    --------
    >>> ratings_from_ranks([[[1, 2], [2, 1]]]).is_rated.tolist()
    [[True, True]]
    """
    ranks = tuple(np.asarray(matrix, float) for matrix in lists)  # type: ignore[attr-defined]
    codes = np.array([np.where(np.isnan(matrix).all(axis=0), -1, 0) for matrix in ranks], np.int64)
    names = tuple(str(j + 1) for j in range(codes.shape[1]))
    return Ratings(names, codes, ("ranked",), units=tuple(str(u + 1) for u in range(len(ranks))), ranks=ranks)
