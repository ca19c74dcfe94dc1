"""Functions shared by all array libraries: accurate at the ends, and the sum-to-zero map."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.model.terms.arrays import log_sigmoid, logistic_sigmoid, reversed_normal_hazard, zero_sum, zero_sum_free

getcontext().prec = 250
numbers = st.floats(-500, 500)


@given(numbers)
def test_the_logistic_function_keeps_its_relative_accuracy(x: float) -> None:
    exact = 1 / (1 + (-Decimal(x)).exp())
    assert float(logistic_sigmoid(np.array(x), np)) == pytest.approx(float(exact), rel=1e-13, abs=0.0)
    assert float(log_sigmoid(np.array(x), np)) == pytest.approx(float(exact.ln()), rel=1e-13, abs=0.0)


def test_the_ends_are_exact() -> None:
    ends = np.array([-math.inf, -800.0, 800.0, math.inf])
    np.testing.assert_array_equal(log_sigmoid(ends, np), [-math.inf, -800.0, 0.0, 0.0])
    np.testing.assert_array_equal(logistic_sigmoid(ends, np)[[0, 2, 3]], [0.0, 1.0, 1.0])


@given(st.lists(st.floats(-50, 50), min_size=0, max_size=9), st.integers(1, 3))
def test_values_sum_to_zero_and_keep_their_length(free: list[float], rows: int) -> None:
    x = np.tile(np.array(free), (rows, 1)) * np.arange(1, rows + 1)[:, None]
    value = zero_sum(x, len(free) + 1, np)
    assert value.shape == (rows, len(free) + 1)
    np.testing.assert_allclose(value.sum(axis=-1), 0.0, atol=1e-10)
    np.testing.assert_allclose((value**2).sum(axis=-1), (x**2).sum(axis=-1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(zero_sum_free(value), x, atol=1e-11)


@pytest.mark.parametrize("size", [2, 3, 8, 50])
def test_all_levels_are_treated_alike(size: int) -> None:
    """Independent coordinates of variance one give every level variance 1 - 1/n and every pair covariance -1/n."""
    matrix = zero_sum(np.eye(size - 1), size, np)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(size) - 1 / size, atol=1e-12)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(size - 1), atol=1e-12)


def test_the_slope_of_the_log_normal_distribution_function_keeps_its_digits_far_out() -> None:
    """Beside its continued fraction in the lower tail (|x| + 1 / (|x| + 2 / (|x| + ...))), and SciPy in the middle."""
    from scipy import stats

    for x in (-5.0, -50.0, -3e3, -1e5):
        fraction = Decimal(-x)
        for n in range(400, 0, -1):
            fraction = Decimal(-x) + n / fraction
        away = float(fraction - Decimal(-x))
        assert float(reversed_normal_hazard(np.array(x))) + x == pytest.approx(away, abs=4e-16 * abs(x))
    middle = np.linspace(-4, 6, 21)
    np.testing.assert_allclose(
        reversed_normal_hazard(middle), stats.norm.pdf(middle) / stats.norm.cdf(middle), rtol=1e-12
    )
