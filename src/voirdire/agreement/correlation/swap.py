"""Permutation test of two metrics: swap their scores within items, contexts or systems, on a common scale.

If the metrics were equally good, a swap of their two scores of an item would not matter. Items that are resampled
together are swapped together, because a metric's scores within a context or a system depend on each other (Deutsch,
Dror and Roth, TACL 2021, swap inputs, systems or single scores). Scores are standardised first, since metrics on
different scales are not exchangeable.
"""

from __future__ import annotations

import numpy as np

from voirdire.agreement.correlation.grid import Grid
from voirdire.agreement.correlation.levels import Average, Level, average_contexts, context_values
from voirdire.agreement.correlation.rowwise import rowwise_coefficient
from voirdire.agreement.engine.permutation import PERMUTATIONS, check_permutations, swap_p_value
from voirdire.agreement.engine.statistic import FloatArray, IntArray, ratio_or_nan


def swap_test_p_value(
    name: str,
    grid: Grid,
    a: FloatArray,
    b: FloatArray,
    human: FloatArray,
    level: Level,
    *,
    groups: IntArray | None = None,
    average: Average = "mean",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float:
    """Two-sided p-value that two metrics correlate equally with people.

    Parameters
    ----------
    name : str
        The coefficient. Pairwise accuracy is not calibrated, because a swapped metric has no scale of its own.
    grid : Grid
        Contexts and systems of the items.
    a, b, human : float array, shape (items,)
        Scores, none missing.
    level, average
        As in `voirdire.agreement.correlation.verb.metaeval`.
    groups : int array, shape (items,), optional
        Group of each item. Items of a group are swapped together; by default each item on its own.
    permutations, seed : int
        Number of rearrangements and the generator's seed.

    Returns
    -------
    float
        The p-value; NaN where a coefficient is undefined.

    Examples
    --------
    >>> x = np.arange(30.0)
    >>> grid = Grid(("a", "b"), np.empty((30, 2)), tuple(map(str, range(30))), None, None, None, {})
    >>> swap_test_p_value("pearson", grid, x, np.cos(7 * x), x, "pooled", permutations=999)
    0.001
    """
    check_permutations(permutations)
    standardised = np.stack([_standard_scores(a), _standard_scores(b)])
    group = np.arange(len(a)) if groups is None else groups

    def swapped_difference(swapped: FloatArray) -> FloatArray:
        first, second = (
            _coefficient_of_rows(
                name, grid, np.where(swapped[:, group] > 0, if_swapped, if_kept), human, level, average
            )
            for if_swapped, if_kept in (standardised[::-1], standardised)
        )
        return first - second

    width = 4 * len(a) * (1 if level == "pooled" else 4)
    return swap_p_value(swapped_difference, int(group.max()) + 1, permutations, seed, width)


def _standard_scores(x: FloatArray) -> FloatArray:
    centred = x - x.mean()
    # scaled before they are squared, so that very large and small scores stay in range
    centred /= np.abs(centred).max(initial=0.0) or 1.0
    spread = centred.std()
    return np.asarray(centred / spread if spread > 0 else centred)


def _coefficient_of_rows(
    name: str, grid: Grid, x: FloatArray, human: FloatArray, level: Level, average: Average
) -> FloatArray:
    """The coefficient of each row of x, shape (r, items)."""
    if level == "pooled":
        if name == "spearman":
            from scipy.stats import rankdata

            return rowwise_coefficient("pearson", rankdata(x, axis=1), rankdata(human), np.ones(x.shape[1]))
        return rowwise_coefficient(name, x, human, np.ones(x.shape[1]))
    cells, people = grid.context_system_table(x), grid.context_system_table(human)
    ones = np.ones(cells.shape[-1])
    if level == "context":
        values = context_values(rowwise_coefficient(name, cells, people, ones), average)
        return average_contexts(values.sum(axis=-2), average)
    known = ~np.isnan(people)
    means, people_means = (
        ratio_or_nan(np.where(known, scores, 0.0).sum(axis=-2), known.sum(axis=0)) for scores in (cells, people)
    )
    return rowwise_coefficient(name, means, people_means, ones)
