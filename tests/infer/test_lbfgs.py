"""The compiled L-BFGS against SciPy on functions that are hard in different ways, alone and in batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from voirdire.infer.engine import MIN_STEP, double_precision, minimise_lbfgs
from voirdire.infer.search import SearchResult

RNG = np.random.default_rng(0)
DESIGN = RNG.normal(size=(60, 8))
ANSWERS = RNG.integers(0, 2, 60)
# two of the eight directions have almost no data: they are held by a ridge of 1e-5 alone
DESIGN[:, 6:] *= 1e-3
CURVATURES = np.logspace(-2, 2, 20)


def rosenbrock(x: Any) -> Any:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def logistic(x: Any) -> Any:
    score = jnp.asarray(DESIGN) @ x
    return (jnp.logaddexp(0.0, score) - ANSWERS * score).sum() + 0.5e-5 * (x**2).sum()


def separated(x: Any) -> Any:
    """Every answer agrees with the sign of its only covariate: without the ridge the minimum is at infinity."""
    return jnp.logaddexp(0.0, -10.0 * x).sum() + 0.5e-4 * (x**2).sum()


def offset(x: Any) -> Any:
    """As a large table's: changes below 1e-10 are lost in rounding long before the gradient is small."""
    return 1e6 + 0.5 * (jnp.asarray(CURVATURES) * (x - 1.0) ** 2).sum()


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "rosenbrock": (rosenbrock, 10),
    "logistic": (logistic, 8),
    "separated": (separated, 5),
    "offset": (offset, 20),
}


@lru_cache
def compiled(function: Callable[[Any], Any], **options: Any) -> Callable[[Any], SearchResult]:
    return jax.jit(lambda x: minimise_lbfgs(function, x, **options))


def run(function: Callable[[Any], Any], start: np.ndarray, **options: Any) -> SearchResult:
    with double_precision():
        found = compiled(function, **options)(jnp.asarray(start))
        return SearchResult(*(np.asarray(part) for part in found))


def reference(
    function: Callable[[Any], Any],
    start: np.ndarray,
    method: str = "BFGS",
    options: dict[str, float] = {"gtol": 1e-7, "maxiter": 10_000},  # noqa: B006
) -> Any:
    with double_precision():
        both = jax.jit(jax.value_and_grad(function))
        return minimize(
            lambda x: tuple(np.asarray(part, dtype=float) for part in both(x)),
            start,
            jac=True,
            method=method,
            options=options,
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_arrives_where_scipy_does(name: str) -> None:
    function, size = FUNCTIONS[name]
    start = np.random.default_rng(1).normal(size=size)
    found = run(function, start)
    expected = reference(function, start)
    assert np.abs(found.gradient).max() <= 1e-6
    with double_precision():
        np.testing.assert_allclose(found.gradient, jax.jit(jax.grad(function))(found.x), atol=1e-9)
        assert float(function(found.x)) == pytest.approx(float(found.value), rel=1e-9)
        curvature = np.linalg.eigvalsh(jax.jit(jax.hessian(function))(jnp.asarray(expected.x))).min()
    assert found.value == pytest.approx(expected.fun, rel=1e-9, abs=1e-9)
    # as far apart as two gradients within the tolerance allow
    apart = 2 * 1e-6 * np.sqrt(size) / curvature
    assert apart < (0.6 if name == "logistic" else 0.01)
    assert np.linalg.norm(found.x - expected.x) <= 1.1 * apart
    rival = reference(function, start, method="L-BFGS-B", options={"maxcor": 12, "gtol": 1e-6, "ftol": 0.0})
    assert found.iterations <= 1.5 * rival.nit + 10
    assert found.evaluations <= 2 * found.iterations + 20


def test_the_minimum_of_a_quadratic_is_exact() -> None:
    found = run(offset, np.zeros(20))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6 / CURVATURES.min())


@pytest.mark.slow
def test_a_batch_takes_the_same_steps_as_its_members() -> None:
    starts = np.random.default_rng(2).normal(size=(5, 10)) * np.array([[0.1], [0.5], [1.0], [2.0], [4.0]])
    with double_precision():
        batch = jax.jit(jax.vmap(lambda x: minimise_lbfgs(rosenbrock, x)))(jnp.asarray(starts))
    for index, start in enumerate(starts):
        alone = run(rosenbrock, start)
        assert np.abs(batch.gradient[index]).max() <= 1e-6
        # rounding differs by how a batch is laid out, and a hundred chaotic steps amplify it
        assert abs(int(batch.iterations[index]) - int(alone.iterations)) <= 0.2 * int(alone.iterations) + 5
        assert float(batch.value[index]) == pytest.approx(float(alone.value), abs=1e-9)


def test_a_start_at_the_minimum_is_left_at_once() -> None:
    found = run(rosenbrock, np.ones(10))
    assert (found.iterations, found.evaluations) == (0, 1)
    np.testing.assert_array_equal(found.x, 1.0)


@pytest.mark.slow
def test_the_tolerance_and_the_limit_of_iterations_are_kept() -> None:
    start = np.full(10, -1.2)
    loose, strict = (run(rosenbrock, start, tolerance=tolerance) for tolerance in (1e-1, 1e-8))
    assert 1e-8 < np.abs(loose.gradient).max() <= 1e-1
    assert np.abs(strict.gradient).max() <= 1e-8
    assert loose.iterations < strict.iterations
    short = run(rosenbrock, start, max_iterations=7)
    assert short.iterations == 7
    assert np.abs(short.gradient).max() > 1e-6


@jax.custom_vjp
def misled(x: Any) -> Any:
    return (x**2).sum()


def _forward(x: Any) -> Any:
    return misled(x), x


def _backward(x: Any, seed: Any) -> Any:
    return (-2.0 * seed * x,)


misled.defvjp(_forward, _backward)


def test_a_search_that_finds_no_descent_ends_and_shows_its_gradient() -> None:
    """The gradient has the wrong sign: every step along it climbs."""
    found = run(misled, np.array([3.0, -4.0]))
    np.testing.assert_array_equal(found.x, [3.0, -4.0])
    assert np.abs(found.gradient).max() == 8.0
    assert found.evaluations < 2 * -np.log2(MIN_STEP) + 10


def test_a_start_without_a_finite_value_is_no_minimum() -> None:
    found = run(lambda x: jnp.log(x).sum(), np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(found.x, [-1.0, 2.0])
    assert not np.abs(found.gradient).max() <= 1e-6


def test_a_wall_of_undefined_values_is_walked_along() -> None:
    """-log x + x is undefined below zero, where the first whole step lands."""
    found = run(lambda x: (x - jnp.log(x)).sum() * 50.0, np.array([0.02, 30.0]))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-7)


def test_a_trial_point_without_a_gradient_is_no_step() -> None:
    """Below zero the value is finite and the lowest of all, and the slope is not a number."""

    def trapped(x: Any) -> Any:
        return jnp.where(x > 0, 10.0 * (x - 0.5) ** 2 + 0.0 * jnp.sqrt(x), -1.0).sum()

    with double_precision():
        value, slope = jax.value_and_grad(trapped)(jnp.array([-0.1]))
    assert np.isfinite(value)
    assert np.isnan(slope).all()
    np.testing.assert_allclose(run(trapped, np.array([0.9])).x, 0.5, atol=1e-7)


def test_no_parameters_are_minimised_at_once() -> None:
    assert run(lambda x: (x**2).sum(), np.zeros(0)).x.shape == (0,)
