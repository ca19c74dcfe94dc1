"""Correlations of two columns of scores as functions of resampling weights: Pearson, Spearman, Kendall.

With weights w (the count of each unit in the resample), n = sum w, and C concordant and D discordant pairs of units,

- Pearson     cov(x, y) / sqrt(var x var y)
- Spearman    Pearson of mid-ranks (ties share the mean of their ranks)
- tau-b       (C - D) / sqrt((n0 - n_x) (n0 - n_y)), n0 all pairs, n_x and n_y those tied in x, in y
- tau-c       2 m (C - D) / (n^2 (m - 1)), m the smaller number of distinct values (Stuart)

Kendall, Rank Correlation Methods (1948); Stuart, Biometrika 40 (1953). All are undefined where a column is
constant. For rank correlations, a resample is a count for each distinct pair of values (cell).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, IntArray, WeightedStatistic, ratio_or_nan
from voirdire.tables.encode import dense_codes


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct pairs (x, y) among units that have both scores, sorted by x, then y.

    Attributes
    ----------
    used : bool array, shape (units,)
        True for units with both scores.
    x, y : int64 array, shape (cells,)
        Dense ranks 0, 1, ... of the cell's values.

    Examples
    --------
    >>> cells = Cells.from_columns(np.array([2.0, 1.0, 2.0, np.nan]), np.array([5.0, 7.0, 5.0, 1.0]))
    >>> cells.x.tolist(), cells.y.tolist(), cells.cell_weights(np.array([[1.0, 1.0, 2.0, 9.0]])).tolist()
    ([0, 1], [1, 0], [[1.0, 3.0]])
    """

    used: NDArray[np.bool_]
    x: IntArray
    y: IntArray
    order: IntArray
    starts: IntArray

    @classmethod
    def from_columns(cls, x: FloatArray, y: FloatArray) -> Cells:
        """Build from two columns of shape (units,), NaN where a score is missing."""
        used: NDArray[np.bool_] = ~(np.isnan(x) | np.isnan(y))
        places = np.flatnonzero(used)
        order = places[np.lexsort((y[places], x[places]))]
        a, b = x[order], y[order]
        new = np.ones(len(order), bool)
        new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        starts = np.flatnonzero(new)
        return cls(used, dense_codes(a[starts]), dense_codes(b[starts]), order, starts)

    def cell_weights(self, weights: FloatArray) -> FloatArray:
        """Total weight in each cell, shape (r, cells), from weights of shape (r, units)."""
        ordered = weights[:, self.order]
        if len(self.starts) == len(self.order):
            return ordered
        return np.add.reduceat(ordered, self.starts, axis=1)


def sum_by_code(counts: FloatArray, codes: IntArray) -> FloatArray:
    """Add up cells that share a code; codes 0, 1, ... without gaps.

    Examples
    --------
    >>> sum_by_code(np.array([[1.0, 2.0, 4.0]]), np.array([1, 0, 1])).tolist()
    [[2.0, 5.0]]
    """
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 1))
    if len(starts) == 0:
        return np.zeros((len(counts), 0))
    return np.add.reduceat(counts[:, order], starts, axis=1)


# With more cells, the matrix of their signs takes too much memory.
_MAX_SIGN_CELLS = 1024


def pearson_statistic(x: FloatArray, y: FloatArray) -> CountStatistic:
    """Pearson's correlation.

    Parameters
    ----------
    x, y : float array, shape (units,)
        Scores, NaN where missing; only units with both are used.

    Returns
    -------
    CountStatistic
        Undefined where either column is constant.

    Examples
    --------
    >>> r = pearson_statistic(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> r.values(np.ones((1, 3))).round(12).tolist()
    [0.5]
    """
    used = ~(np.isnan(x) | np.isnan(y))
    a, b = _centre_and_scale(x, used), _centre_and_scale(y, used)
    features = np.column_stack([used, a, b, a * a, b * b, a * b])
    return CountStatistic(features.astype(float), correlation_from_sums)


def correlation_from_sums(t: FloatArray) -> FloatArray:
    """Correlation from totals of (1, x, y, x^2, y^2, x y), shape (..., 6)."""
    n, sx, sy, sxx, syy, sxy = (t[..., place] for place in range(6))
    # One division each: the product of two small variances could underflow the rounding check.
    x = np.sqrt(_positive_or_nan(n * sxx - sx**2, n * sxx))
    y = np.sqrt(_positive_or_nan(n * syy - sy**2, n * syy))
    correlation: FloatArray = (n * sxy - sx * sy) / x / y
    return np.clip(correlation, -1, 1)


def _positive_or_nan(value: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where(value > 1e-12 * scale, value, np.nan)


def _centre_and_scale(x: FloatArray, used: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> FloatArray:
    """Shift and scale for numerical reasons; correlations do not change."""
    if not used.any():
        return np.zeros(len(x))
    shifted = np.where(used, x - x[used].mean(), 0.0)
    size = np.abs(shifted).max()
    # A constant column minus its mean is rounding error.
    if size <= 1e-14 * np.abs(x[used]).max():
        return np.zeros(len(x))
    return np.asarray(shifted / size)


def spearman_statistic(x: FloatArray, y: FloatArray) -> WeightedStatistic:
    """Spearman's rank correlation.

    Parameters
    ----------
    x, y : float array, shape (units,)
        Scores, NaN where missing; only units with both are used.

    Returns
    -------
    WeightedStatistic
        Undefined where either column is constant.

    Examples
    --------
    >>> rho = spearman_statistic(np.array([1.0, 2.0, 9.0]), np.array([1.0, 3.0, 2.0]))
    >>> rho.values(np.ones((1, 3))).tolist()
    [0.5]
    """
    cells = Cells.from_columns(x, y)

    def rho_of_weights(weights: FloatArray) -> FloatArray:
        counts = cells.cell_weights(weights)
        x_counts, y_counts = sum_by_code(counts, cells.x), sum_by_code(counts, cells.y)
        a, b = centred_ranks(x_counts), centred_ranks(y_counts)
        covariance = np.sum(counts * a[:, cells.x] * b[:, cells.y], axis=1)
        spread = np.sqrt(np.sum(x_counts * a**2, axis=1) * np.sum(y_counts * b**2, axis=1))
        return ratio_or_nan(covariance, spread)

    return WeightedStatistic(cells.used, rho_of_weights, 4 * len(cells.x) + len(cells.used))


def centred_ranks(counts: FloatArray) -> FloatArray:
    """Mid-ranks of levels in ascending order, minus their mean, from counts of shape (r, levels).

    Examples
    --------
    >>> centred_ranks(np.array([[1.0, 2.0, 1.0]])).tolist()
    [[-1.5, 0.0, 1.5]]
    """
    return np.asarray(np.cumsum(counts, axis=1) - counts / 2 - counts.sum(axis=1, keepdims=True) / 2)


def kendall_statistic(x: FloatArray, y: FloatArray, variant: str = "b") -> WeightedStatistic:
    """Kendall's tau-b or tau-c.

    Parameters
    ----------
    x, y : float array, shape (units,)
        Scores, NaN where missing; only units with both are used.
    variant : {"b", "c"}
        Correction for ties.

    Returns
    -------
    WeightedStatistic
        Undefined where either column is constant.

    Examples
    --------
    >>> tau = kendall_statistic(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> tau.values(np.ones((1, 3))).round(12).tolist()
    [0.333333333333]
    """
    cells = Cells.from_columns(x, y)
    excess_of = Excess(cells)

    def tau_of_weights(weights: FloatArray) -> FloatArray:
        counts = cells.cell_weights(weights)
        excess = excess_of(counts)
        x_counts, y_counts = sum_by_code(counts, cells.x), sum_by_code(counts, cells.y)
        n = counts.sum(axis=1)
        if variant == "c":
            m = np.minimum((x_counts > 0).sum(axis=1), (y_counts > 0).sum(axis=1))
            return ratio_or_nan(2 * m * excess, n**2 * (m - 1))
        untied_x = (n**2 - np.sum(x_counts**2, axis=1)) / 2
        untied_y = (n**2 - np.sum(y_counts**2, axis=1)) / 2
        return ratio_or_nan(excess, np.sqrt(untied_x * untied_y))

    return WeightedStatistic(cells.used, tau_of_weights, 3 * len(cells.x) + len(cells.used))


class Excess:
    """Concordant minus discordant pairs, C - D, of resamples given as counts of cells.

    Parameters
    ----------
    cells : Cells
        The cells. A resample costs a matrix product up to 1,024 cells, and a sort (O(n log n)) above.

    Examples
    --------
    >>> cells = Cells.from_columns(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> Excess(cells)(np.ones((1, 3))).tolist()
    [1.0]
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.signs: NDArray[np.float32] | None = None
        if len(cells.x) <= _MAX_SIGN_CELLS:
            x, y = cells.x, cells.y
            signs = np.sign(x[:, None] - x[None, :]) * np.sign(y[:, None] - y[None, :])
            # Sums are far below 2**24, so that single precision is exact, and twice as fast.
            self.signs = signs.astype(np.float32)

    def __call__(self, counts: FloatArray) -> FloatArray:
        """C - D, shape (r,), under counts of shape (r, cells)."""
        if self.signs is None:
            return np.array([self._concordance_excess(row) for row in counts.astype(np.int64)])
        twice_excess: FloatArray = np.einsum("rk,rk->r", counts.astype(np.float32) @ self.signs, counts)
        return twice_excess / 2

    def _concordance_excess(self, counts: IntArray) -> float:
        from scipy.stats import kendalltau

        x, y = np.repeat(self.cells.x, counts), np.repeat(self.cells.y, counts)
        tau = kendalltau(x, y).statistic
        untied = [(len(x) ** 2 - np.sum(np.bincount(codes).astype(float) ** 2)) / 2 for codes in (x, y)]
        return 0.0 if np.isnan(tau) else float(np.rint(tau * (untied[0] * untied[1]) ** 0.5))
