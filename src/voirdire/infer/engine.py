"""Compiled densities: one compilation per program and table shape, kept for the life of the process.

All of it runs in double precision without touching the user's JAX configuration: callers enter
:func:`double_precision`, which is local to the block. Only a cache on disk is switched on where the user has none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, cast

import jax
import jax.numpy as jnp

from voirdire.infer.kept import keep_compiled
from voirdire.infer.lbfgs import Minimum, minimise_lbfgs
from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array


def double_precision() -> AbstractContextManager[None]:
    """Context in which JAX computes in 64 bits; what it compiles is kept (:mod:`voirdire.infer.kept`)."""
    keep_compiled()
    return jax.enable_x64(True)  # type: ignore[no-any-return]


def negative_log_density(density: LogDensity, x: Array, data: Data) -> Array:
    """Minus the log posterior density of one flat vector."""
    return -density.log_density(x, data, jnp)


@lru_cache(maxsize=256)
def value_and_gradient(
    density: LogDensity, symmetric: bool = False
) -> Callable[[Any, Data], tuple[jax.Array, jax.Array]]:
    """Compiled minus log density and its gradient, of (x, data); see :class:`.Derivatives`."""
    of = density.symmetric_log_density if symmetric else density.log_density
    return jax.jit(jax.value_and_grad(lambda x, data: -of(x, data, jnp)))


def to_jax_arrays(data: Data) -> Data:
    """The tables where compiled functions look for them: moved once, not at every call."""
    return cast(Data, jax.tree.map(as_dense_array, data))


def as_dense_array(numbers: Any) -> jax.Array:
    """Numbers as an array; of a compressed matrix with those that are 0."""
    return jnp.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers)


@lru_cache(maxsize=256)
def log_densities(density: LogDensity) -> Callable[[Any, Data], jax.Array]:
    """Compiled log densities, shape (points,), of (points of shape (points, size), data)."""

    def evaluate_points(points: Array, data: Data) -> Array:
        return jax.lax.map(lambda x: -negative_log_density(density, x, data), points)

    return jax.jit(evaluate_points)


@lru_cache(maxsize=256)
def compiled_minimiser(
    density: LogDensity, tolerance: float, max_iterations: int
) -> Callable[[Any, Data], Minimum]:
    """Compiled search for the mode, of (starts, data), both with a leading axis of tables."""

    def minimise_one(start: jax.Array, data: Data) -> Minimum:
        return minimise_lbfgs(
            lambda x: negative_log_density(density, x, data),
            start,
            tolerance=tolerance,
            max_iterations=max_iterations,
        )

    return jax.jit(jax.vmap(minimise_one))


@lru_cache(maxsize=256)
def hessian_rows(density: LogDensity) -> Callable[[Any, Any, Data], jax.Array]:
    """Compiled products of directions, shape (rows, size), with the Hessian of minus the log density at x.

    Of (x, directions, data): forward over reverse.
    """

    def product_rows(x: Array, directions: Array, data: Data) -> Array:
        gradient = jax.grad(lambda y: negative_log_density(density, y, data))
        return jax.vmap(lambda direction: jax.jvp(gradient, (x,), (direction,))[1])(directions)

    return jax.jit(product_rows)
