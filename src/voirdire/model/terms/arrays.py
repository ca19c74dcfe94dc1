"""Array functions without a common name in NumPy, JAX and PyTensor.

Every term is written once against a namespace ``xp`` (``numpy``, ``jax.numpy`` or ``pytensor.tensor``).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

MAX_MATRIX_LEVELS = 8
LOGISTIC_VARIANCE = math.pi**2 / 3.0  # variance of the standard logistic distribution
Array = Any  # a NumPy, JAX or PyTensor array; terms are written once for the three


def log_sigmoid(x: Array, xp: Any) -> Array:
    """Logarithm of the logistic function, accurate at both ends.

    Examples
    --------
    >>> float(log_sigmoid(np.array(-800.0), np))
    -800.0
    """
    implementation = getattr(xp, "log_sigmoid", None)
    if implementation is not None:
        return implementation(x)
    if xp is np:  # NumPy's logaddexp takes four times as long
        return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    return -xp.logaddexp(0.0, -x)


def logistic_sigmoid(x: Array, xp: Any) -> Array:
    """Logistic function with full *relative* accuracy for very negative ``x``.

    Written through the logarithm because 1 / (1 + exp(-x)) overflows and (1 + tanh(x/2)) / 2 cancels.

    Examples
    --------
    >>> float(logistic_sigmoid(np.array(-700.0), np)) > 0
    True
    """
    implementation = getattr(xp, "sigmoid", None)
    return xp.exp(log_sigmoid(x, xp)) if implementation is None else implementation(x)


def log_normal_cdf(x: Array, xp: Any) -> Array:
    """Logarithm of the standard normal distribution function, accurate in both tails.

    NumPy has no such function, so each namespace has its own.

    Examples
    --------
    >>> import numpy as np
    >>> log_normal_cdf(np.array([0.0, -30.0]), np).round(3).tolist()
    [-0.693, -454.321]
    """
    implementation = getattr(xp, "log_normal_cdf", None)
    if implementation is not None:
        return implementation(x)
    if xp.__name__ == "numpy":
        from scipy.special import log_ndtr

        return log_ndtr(x)
    if xp.__name__ == "jax.numpy":
        from jax.scipy.special import log_ndtr as compiled

        return compiled(x)
    tail = xp.minimum(x, -1.0)
    lower = xp.log(0.5 * xp.erfcx(-tail / math.sqrt(2.0))) - 0.5 * tail * tail
    upper = xp.log1p(-0.5 * xp.erfc(xp.maximum(x, -1.0) / math.sqrt(2.0)))
    return xp.where(x < -1.0, lower, upper)


def running_sum(x: Array, size: int, xp: Any) -> Array:
    """Sums of the first, the first two, ... along the last axis, which has ``size`` numbers.

    Examples
    --------
    >>> running_sum(np.array([1.0, 2.0, 3.0]), 3, np).tolist()
    [1.0, 3.0, 6.0]
    """
    if xp is np:
        return np.cumsum(x, axis=-1)
    implementation = getattr(xp, "running_sum", None)
    if implementation is not None:
        return implementation(x)
    sums = [x[..., 0]]  # compiled, additions cost less than a scan
    for column in range(1, size):
        sums.append(sums[-1] + x[..., column])
    return xp.stack(sums, axis=-1)


def reversed_normal_hazard(x: Array) -> Array:
    """phi(x) / Phi(x) of the standard normal distribution, the slope of :func:`log_normal_cdf`; only for NumPy arrays.

    In the lower tail, where both vanish, it uses the scaled complementary error function. This avoids a difference of
    large logarithms, so that x + phi(x) / Phi(x), which is about -1 / x, keeps its digits.

    Examples
    --------
    >>> import numpy as np
    >>> (reversed_normal_hazard(np.array([-1000.0, 0.0, 10.0])) + np.array([-1000.0, 0.0, 0.0])).round(6).tolist()
    [0.001, 0.797885, 0.0]
    """
    import numpy as np
    from scipy.special import erfcx, ndtr

    x = np.asarray(x, dtype=float)
    above = np.maximum(x, 0.0)
    upper = np.exp(-0.5 * above * above) / (math.sqrt(2.0 * math.pi) * ndtr(above))
    return np.where(x < 0, math.sqrt(2.0 / math.pi) / erfcx(-np.minimum(x, 0.0) / math.sqrt(2.0)), upper)


def zero_sum(free: Array, size: int, xp: Any) -> Array:
    """Map ``size - 1`` free coordinates to ``size`` values that sum to zero along the last axis.

    The map is the Householder reflection that sends the first axis to the direction (1, ..., 1), applied
    to (0, free): linear, orthonormal (it keeps lengths, so independent normal coordinates give the normal
    distribution projected on the plane of zero sum, which treats all levels alike) and of linear cost.

    Parameters
    ----------
    free : array, shape (..., size - 1)
    size : int
        Number of levels; 1 gives the single value 0.

    Returns
    -------
    array, shape (..., size)

    Examples
    --------
    >>> import numpy as np
    >>> x = zero_sum(np.array([1.0, -2.0, 0.5]), 4, np)
    >>> bool(abs(x.sum()) < 1e-12), bool(abs((x**2).sum() - 5.25) < 1e-12)
    (True, True)
    """
    if xp is np and 1 < size <= MAX_MATRIX_LEVELS and free.ndim > 1:
        # for millions of draws a matrix product takes a quarter of the time
        return (free.reshape(-1, size - 1) @ _zero_sum_matrix(size)).reshape((*free.shape[:-1], size))
    root = math.sqrt(size)
    total = free.sum(axis=-1, keepdims=True)
    first = total / root
    if size == 1:
        return first
    return xp.concatenate([first, free - total / (root * (root - 1.0))], axis=-1)


@cache
def _zero_sum_matrix(size: int) -> Array:
    """The matrix of :func:`zero_sum`, shape (size - 1, size)."""
    return np.stack([zero_sum(row, size, np) for row in np.eye(size - 1)])


def zero_sum_free(value: Array) -> Array:
    """Inverse of :func:`zero_sum`: the free coordinates of values that sum to zero along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> free = np.array([1.0, -2.0, 0.5])
    >>> bool(np.allclose(zero_sum_free(zero_sum(free, 4, np)), free))
    True
    """
    size = value.shape[-1]
    if size == 1:
        return value[..., 1:]
    return value[..., 1:] + value[..., :1] / (math.sqrt(size) - 1.0)
