"""Agreement with people on the order of pairs: concordance, and pairwise accuracy with calibrated ties.

For each pair of items in a context, people prefer one or tie them. A metric ties two items if their scores
differ by at most epsilon. Pairwise accuracy is the share of pairs with the same outcome, averaged over contexts,
at the epsilon that maximises it on the data,

    acc_eq = max_eps mean_g (concordant_g(eps) + tied in both_g(eps)) / pairs_g,

so that metrics with fine scores are not penalised for rare ties (Deutsch, Foster and Freitag, Ties Matter,
EMNLP 2023). Epsilon is chosen again in each resample, as it would be on new data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.agreement.coefficients.correlation import (
    Cells,
    Excess,
    kendall_statistic,
    pearson_statistic,
    spearman_statistic,
    sum_by_code,
)
from voirdire.agreement.engine.combine import JointStatistic
from voirdire.agreement.engine.statistic import FloatArray, IntArray, Statistic, WeightedStatistic, ratio_or_nan
from voirdire.errors import InputError, raise_problems


def concordance_index(estimate: ArrayLike, truth: ArrayLike, *, ties: Literal["miss", "half"] = "miss") -> float:
    """Compute the concordance index CI(f, g) of an estimate f with a truth g.

    CI(f, g) = sum_ij I(f_i > f_j) I(g_i > g_j) / sum_ij I(g_i > g_j), over ordered pairs (i, j)
    (MAPLE, eq. 7). Pairs tied in g do not count. A pair that g orders and f ties is a miss by this definition,
    so that a constant f scores 0. With ``ties="half"`` such a pair counts one half and a constant f scores 1/2:
    the C statistic of Harrell et al. (1982), JAMA 247, 2543-2546.

    Parameters
    ----------
    estimate, truth : (n,) array-like of numbers
        f and g for the same n objects; only their order matters. Infinite values are allowed.
    ties : "miss" or "half"
        Value of a pair that only the estimate ties: 0 or 1/2.

    Returns
    -------
    float
        The index, from 0 (reversed) to 1 (same order). NaN if the truth orders no pair: fewer than two objects, or
        all of them equal.

    Raises
    ------
    InputError
        If the arguments are not one-dimensional, of equal length and free of NaN, or ``ties`` is unknown.

    Examples
    --------
    >>> concordance_index([0.9, 0.7, 0.7], [3, 2, 1])
    0.6666666666666666
    >>> concordance_index([0.9, 0.7, 0.7], [3, 2, 1], ties="half")
    0.8333333333333334
    """
    problems: list[str] = []
    f, g = _check_numbers(estimate, "estimate", problems), _check_numbers(truth, "truth", problems)
    if not problems and len(f) != len(g):
        problems.append(f"estimate has {len(f)} values and truth {len(g)}; give one of each per object")
    if ties not in ("miss", "half"):
        problems.append(f"ties is {ties!r}; give 'miss' or 'half'")
    raise_problems(problems)
    ordered = g[:, None] > g
    pairs = int(ordered.sum())
    if pairs == 0:
        return float("nan")
    hits = float((ordered & (f[:, None] > f)).sum())
    if ties == "half":
        hits += 0.5 * float((ordered & (f[:, None] == f)).sum())
    return hits / pairs


def _check_numbers(values: ArrayLike, name: str, problems: list[str]) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        problems.append(f"{name} holds something that is not a number; give numbers only")
        return np.empty(0)
    if array.ndim != 1:
        problems.append(f"{name} has {array.ndim} dimensions; give one list of numbers")
    elif np.isnan(array).any():
        place = int(np.flatnonzero(np.isnan(array))[0])
        problems.append(f"{name} is NaN at place {place + 1}; leave that object out of both")
    return array


def concordance_statistic(estimate: FloatArray, truth: FloatArray) -> WeightedStatistic:
    """Concordance index of two columns: the share of the truth's ordered pairs that the estimate orders alike.

    Defined as in `voirdire.agreement.coefficients.pairwise.concordance_index` with its default for ties.

    Parameters
    ----------
    estimate, truth : float array, shape (units,)
        Scores, NaN where missing; only units with both are used.

    Returns
    -------
    WeightedStatistic
        Undefined where the truth is constant.

    Examples
    --------
    >>> index = concordance_statistic(np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    >>> index.values(np.ones((1, 3))).round(6).tolist()
    [0.666667]
    """
    cells = Cells.from_columns(estimate, truth)
    excess_of = Excess(cells)

    def concordance_of_weights(weights: FloatArray) -> FloatArray:
        counts = cells.cell_weights(weights)
        all_pairs = counts.sum(axis=1) ** 2
        tied_x, tied_y = (np.sum(sum_by_code(counts, codes) ** 2, axis=1) for codes in (cells.x, cells.y))
        ordered = (all_pairs - tied_y) / 2
        untied = ordered + (np.sum(counts**2, axis=1) - tied_x) / 2
        return ratio_or_nan((untied + excess_of(counts)) / 2, ordered)

    return WeightedStatistic(cells.used, concordance_of_weights, 2 * len(cells.x) + len(cells.used))


# Most items of a context: two million pairs, each evaluated in every resample.
_MAX_ITEMS = 2000


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of items within each context, sorted by the metric's absolute difference.

    Attributes
    ----------
    context, first, second : int64 array, shape (pairs,)
        The context and the two columns (systems).
    concordant : float array, shape (pairs,)
        1 where metric and people order the pair alike, else 0.
    gain : float array, shape (pairs,)
        Change of the number of hits if the metric ties the pair: 1 if people tie it, -1 if it was concordant, else 0.
    ends : int64 array, shape (thresholds,)
        Number of pairs at most epsilon apart, for every distinct epsilon.
    thresholds : float array, shape (thresholds,)
        The distinct epsilons, 0 first.
    """

    context: IntArray
    first: IntArray
    second: IntArray
    concordant: FloatArray
    gain: FloatArray
    ends: IntArray
    thresholds: FloatArray

    @classmethod
    def from_scores(cls, metric: FloatArray, human: FloatArray) -> Pairs:
        """Build from scores of shape (contexts, systems), NaN where missing."""
        columns = metric.shape[1]
        if columns > _MAX_ITEMS:
            raise InputError(
                f"pairwise_accuracy would compare {columns * (columns - 1) // 2:,} pairs of {columns:,} items in each "
                "resample; correlate within contexts (level 'context'), or use kendall_tau_b"
            )
        i, j = np.triu_indices(columns, 1)
        dx, dy = metric[:, i] - metric[:, j], human[:, i] - human[:, j]
        context, pair = np.nonzero(~(np.isnan(dx) | np.isnan(dy)))
        dx, dy = dx[context, pair], dy[context, pair]
        order = np.argsort(np.abs(dx), kind="stable")
        gap, same_order = np.abs(dx)[order], (np.sign(dx) * np.sign(dy) > 0)[order].astype(float)
        thresholds = _distinct_gaps(gap, np.nanmax(np.abs(metric), initial=0.0))
        items = i[pair[order]], j[pair[order]]
        ends = np.searchsorted(gap, thresholds, side="right").astype(np.int64)
        return cls(context[order], *items, same_order, (dy[order] == 0) - same_order, ends, thresholds)


def _distinct_gaps(gap: FloatArray, largest: float) -> FloatArray:
    """The distinct gaps, 0 first; gaps of decimal scores that differ by rounding only count as one.

    Examples
    --------
    >>> _distinct_gaps(np.array([0.3 - 0.2, 0.2 - 0.1]), 0.3).tolist()
    [0.0, 0.1]
    """
    gaps = np.unique(np.append(gap, 0.0))
    # scores read from decimals have errors of half a unit in the last place; two differences differ by up to three
    is_new = np.diff(gaps) > 3 * np.spacing(largest)
    is_new[:1] = True
    return np.asarray(gaps[np.append(is_new, True)])


def pairwise_accuracy(metric: FloatArray, human: FloatArray, *, calibrate: bool = True) -> JointStatistic:
    """Pairwise accuracy of a metric, averaged over contexts.

    Parameters
    ----------
    metric, human : float array, shape (contexts, systems)
        Scores, NaN where missing. Without contexts, use one row.
    calibrate : bool
        True to choose epsilon; otherwise epsilon is 0.

    Returns
    -------
    JointStatistic
        Statistic of contexts and systems. Contexts without a pair do not count. A system drawn twice is not paired
        with itself.

    Examples
    --------
    People tie the first two, the metric nearly does:

    >>> metric, human = np.array([[0.50, 0.51, 0.90]]), np.array([[1.0, 1.0, 2.0]])
    >>> one, three = np.ones((1, 1)), np.ones((1, 3))
    >>> pairwise_accuracy(metric, human).two_way(one, three).round(6).tolist()
    [1.0]
    >>> pairwise_accuracy(metric, human, calibrate=False).two_way(one, three).round(6).tolist()
    [0.666667]
    """
    pairs = Pairs.from_scores(metric, human)
    contexts, systems = metric.shape

    def mean_accuracy(weights: FloatArray, columns: FloatArray) -> FloatArray:
        share, groups = _pair_weights(pairs, contexts, weights, columns)
        accuracy = _accuracy_by_threshold(pairs, share)
        return ratio_or_nan(accuracy.max(axis=1) if calibrate else accuracy[:, 0], groups)

    return JointStatistic(contexts, systems, mean_accuracy, 4 * len(pairs.context) + contexts)


def tie_threshold(metric: FloatArray, human: FloatArray) -> float:
    """The epsilon that `pairwise_accuracy` chooses: the smallest one with the largest accuracy.

    Examples
    --------
    >>> round(tie_threshold(np.array([[0.50, 0.51, 0.90]]), np.array([[1.0, 1.0, 2.0]])), 6)
    0.01
    """
    pairs = Pairs.from_scores(metric, human)
    share, _ = _pair_weights(pairs, len(metric), np.ones((1, len(metric))), np.ones((1, metric.shape[1])))
    accuracy = _accuracy_by_threshold(pairs, share)[0]
    return float(pairs.thresholds[np.argmax(accuracy >= accuracy.max() - 1e-12)])


def _pair_weights(
    pairs: Pairs, contexts: int, weights: FloatArray, columns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weight of each pair: its share of its context times the context's weight; total weight of contexts with pairs."""
    drawn = columns[:, pairs.first] * columns[:, pairs.second]
    context_weight = np.zeros((contexts, len(columns)))
    np.add.at(context_weight, pairs.context, drawn.T)
    share = ratio_or_nan(weights, context_weight.T)
    groups = np.sum(weights * (context_weight.T > 0), axis=1)
    return drawn * np.nan_to_num(share)[:, pairs.context], groups


def _accuracy_by_threshold(pairs: Pairs, share: FloatArray) -> FloatArray:
    """Sum over contexts of the accuracy, for each threshold; shape (r, thresholds)."""
    base = share @ pairs.concordant
    gains = np.cumsum(share * pairs.gain, axis=1)
    gains = np.concatenate([np.zeros((len(share), 1)), gains], axis=1)
    return base[:, None] + gains[:, pairs.ends]


def _pooled_accuracy(x: FloatArray, y: FloatArray) -> WeightedStatistic:
    """Pairwise accuracy of two columns of shape (units,) as a statistic of the units."""
    joint = pairwise_accuracy(x[None], y[None])
    rated = ~(np.isnan(x) | np.isnan(y))
    return WeightedStatistic(rated, lambda w: joint.two_way(np.ones((len(w), 1)), w), joint.row_size)


#: Correlations of two columns of shape (units,), NaN where missing, by name.
CORRELATIONS: dict[str, Callable[[FloatArray, FloatArray], Statistic]] = {
    "pearson": pearson_statistic,
    "spearman": spearman_statistic,
    "kendall_tau_b": kendall_statistic,
    "kendall_tau_c": lambda x, y: kendall_statistic(x, y, "c"),
    "pairwise_accuracy": _pooled_accuracy,
    "concordance_index": concordance_statistic,
}
