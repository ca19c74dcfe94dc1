"""Correlations of many short weighted rows at once: contexts, resampled systems, permuted scores.

The coefficients are those of `voirdire.agreement.coefficients.correlation`, computed from pairs in arrays of shape
(rows, n, n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voirdire.agreement.coefficients.correlation import correlation_from_sums
from voirdire.agreement.engine.statistic import FloatArray, ratio_or_nan

_ROUNDING = 1e-12


def rowwise_coefficient(coefficient: str, x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Compute one coefficient of each row.

    Parameters
    ----------
    coefficient : {"pearson", "spearman", "kendall_tau_b", "kendall_tau_c", "concordance_index",
    "pairwise_accuracy"}
        Name of the coefficient.
    x, y : float array, shape (..., n)
        Estimates and truths, NaN where missing; broadcast against each other.
    weights : float array, shape (..., n)
        Weight (count) of each column.

    Returns
    -------
    float array, shape (...)
        Coefficients, NaN where undefined.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    >>> rowwise_coefficient("spearman", x, np.array([1.0, 3.0, 2.0]), np.ones(3)).round(6).tolist()
    [0.5, nan]
    """
    x, y, weights = np.broadcast_arrays(x, y, weights)
    used = ~(np.isnan(x) | np.isnan(y))
    return _COEFFICIENTS[coefficient](
        _scale_and_round(x, used), _scale_and_round(y, used), np.where(used, weights, 0.0)
    )


def _scale_and_round(x: FloatArray, used: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> FloatArray:
    """Centre and scale each row; values that differ by rounding only become ties."""
    count = np.maximum(used.sum(axis=-1, keepdims=True), 1)
    filled = np.where(used, x, 0.0)
    top = np.abs(filled).max(axis=-1, keepdims=True, initial=0.0)
    centred = np.where(used, filled - filled.sum(axis=-1, keepdims=True) / count, 0.0)
    size = np.abs(centred).max(axis=-1, keepdims=True, initial=0.0)
    varies = size > _ROUNDING * top
    scaled = np.divide(centred, size, out=np.zeros_like(centred), where=varies)
    return np.asarray(np.round(scaled, 12))


def _pearson_rows(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    powers = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
    return correlation_from_sums(np.sum(w[..., None] * powers, axis=-2))


def _spearman_rows(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    a, b = _weighted_mid_ranks(x, w), _weighted_mid_ranks(y, w)
    spread = np.sqrt(np.sum(w * a * a, axis=-1) * np.sum(w * b * b, axis=-1))
    return ratio_or_nan(np.sum(w * a * b, axis=-1), spread)


def _weighted_mid_ranks(x: FloatArray, w: FloatArray) -> FloatArray:
    """Weighted mid-ranks minus their mean."""
    above = np.sign(x[..., :, None] - x[..., None, :])
    return np.asarray(np.sum(above * w[..., None, :], axis=-1) / 2)


def _pair_signs(x: FloatArray, y: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    i, j = np.triu_indices(x.shape[-1], 1)
    return np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j]), w[..., i] * w[..., j]


def _tau_b(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    dx, dy, pairs = _pair_signs(x, y, w)
    untied = np.sum(pairs * np.abs(dx), axis=-1) * np.sum(pairs * np.abs(dy), axis=-1)
    return ratio_or_nan(np.sum(pairs * dx * dy, axis=-1), np.sqrt(untied))


def _tau_c(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    dx, dy, pairs = _pair_signs(x, y, w)
    m = np.minimum(_count_distinct(x, w), _count_distinct(y, w))
    return ratio_or_nan(2 * m * np.sum(pairs * dx * dy, axis=-1), np.sum(w, axis=-1) ** 2 * (m - 1))


def _count_distinct(x: FloatArray, w: FloatArray) -> FloatArray:
    """Number of distinct values among columns of positive weight."""
    present = w > 0
    same = (x[..., :, None] == x[..., None, :]) & present[..., None, :]
    return np.asarray(np.sum(present / np.maximum(same.sum(axis=-1), 1), axis=-1).round())


def _concordance_rows(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    dx, dy, pairs = _pair_signs(x, y, w)
    return ratio_or_nan(np.sum(pairs * (dx * dy > 0), axis=-1), np.sum(pairs * np.abs(dy), axis=-1))


def _pairwise_accuracy_rows(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """Pairwise accuracy without calibration: ties only where scores are equal."""
    dx, dy, pairs = _pair_signs(x, y, w)
    return ratio_or_nan(np.sum(pairs * (dx == dy), axis=-1), np.sum(pairs, axis=-1))


_COEFFICIENTS: dict[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "pearson": _pearson_rows,
    "spearman": _spearman_rows,
    "kendall_tau_b": _tau_b,
    "kendall_tau_c": _tau_c,
    "concordance_index": _concordance_rows,
    "pairwise_accuracy": _pairwise_accuracy_rows,
}
