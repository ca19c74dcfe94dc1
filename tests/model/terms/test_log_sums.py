"""Sums of many exponentials: few operations, whose values and slopes are those of one after the other."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from voirdire.infer.autodiff import TAPE_NUMPY, value_and_gradient
from voirdire.infer.engine import double_precision
from voirdire.model.terms.confusion import MAX_UNROLLED_TERMS, log_sum_exp


@pytest.mark.parametrize("size", [MAX_UNROLLED_TERMS, MAX_UNROLLED_TERMS + 1, 240])
def test_values_and_slopes_of_few_and_many_terms(size: int) -> None:
    x = 40.0 * np.random.default_rng(0).normal(size=size)
    x[1] = x[0] = x.max()
    x[2:4] = -1e308
    np.testing.assert_allclose(log_sum_exp(x, size, np), logsumexp(x), rtol=1e-14)
    value, slope = value_and_gradient(lambda x: log_sum_exp(x, size, TAPE_NUMPY), x)
    np.testing.assert_allclose(value, logsumexp(x), rtol=1e-14)
    np.testing.assert_allclose(slope, softmax(x), atol=1e-14)
    with double_precision():
        value, slope = jax.value_and_grad(lambda x: log_sum_exp(x, size, jnp))(x)
    np.testing.assert_allclose(value, logsumexp(x), rtol=1e-14)
    np.testing.assert_allclose(slope, softmax(x), atol=1e-14)


def test_as_many_operations_are_compiled_for_any_number_of_classes() -> None:
    """Compiling a chain of 240 took minutes."""
    made = [jax.make_jaxpr(lambda x, n=n: log_sum_exp(x, n, jnp))(np.zeros((3, n))) for n in (60, 240)]
    assert [len(one.eqns) for one in made] == [len(made[0].eqns)] * 2
    assert len(made[0].eqns) < 20
