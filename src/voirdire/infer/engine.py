"""Compiled densities, compiled once per program and table shape in a process; and limited-memory BFGS in JAX.

Everything runs in double precision without changing the user's JAX configuration: callers enter
:func:`double_precision`, which is local to the block. Only a cache on disk is switched on if the user has none.

The search is one compiled loop, usable under ``jax.vmap``: the two-loop recursion with ``MEMORY`` pairs (Nocedal and
Wright 2006, algorithm 7.4). The step is halved from 1 until the Armijo condition holds or, where the objective's change
is lost in rounding, until the slope along the step has shrunk (the approximate Wolfe condition of Hager and Zhang
2005), so that the gradient can be reduced to its own rounding error. Pairs with too little curvature are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from voirdire.infer.compilation_cache import keep_compiled
from voirdire.infer.search import SearchResult
from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array

MEMORY = 12
ARMIJO = 1e-4
MIN_STEP = 2.0**-40


class _State(NamedTuple):
    x: jax.Array
    value: jax.Array
    gradient: jax.Array
    direction: jax.Array
    length: jax.Array
    steps: jax.Array
    changes: jax.Array
    rho: jax.Array
    stored: jax.Array
    iterations: jax.Array
    evaluations: jax.Array
    stuck: jax.Array


def minimise_lbfgs(
    objective: Callable[[jax.Array], jax.Array],
    start: jax.Array,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
) -> SearchResult:
    """Minimise a smooth function of one vector.

    Each turn of the loop evaluates the objective at one trial point, whether it becomes the next iterate or is halved.
    So the objective is compiled once, and batches under ``jax.vmap`` never wait for the longest line search.

    Parameters
    ----------
    objective : callable
        Function from a vector of shape (n,) to a number, differentiable by JAX.
    start : array, shape (n,)
    tolerance : float
        Largest absolute component of the gradient at which the search stops.
    max_iterations : int

    Returns
    -------
    SearchResult
        Of JAX arrays. The caller judges convergence by ``gradient``: a search that cannot get further stops, too.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> found = minimise_lbfgs(lambda x: ((x - 3.0) ** 2).sum(), jnp.zeros(2))
    >>> [round(float(v), 4) for v in found.x]
    [3.0, 3.0]
    """
    evaluate = jax.value_and_grad(objective)
    zeros = jnp.zeros_like(start)
    pairs = jnp.zeros((MEMORY, start.shape[0]), start.dtype)
    state = _State(
        x=start,
        value=jnp.asarray(jnp.inf, start.dtype),
        gradient=jnp.full_like(start, jnp.inf),  # stays where the objective is not finite at the start
        direction=zeros,
        length=jnp.asarray(1.0, start.dtype),
        steps=pairs,
        changes=pairs,
        rho=jnp.zeros(MEMORY, start.dtype),
        stored=jnp.asarray(0),
        iterations=jnp.asarray(-1),  # the first turn only evaluates the start
        evaluations=jnp.asarray(0),
        stuck=jnp.asarray(False),
    )

    def is_unfinished(s: _State) -> jax.Array:
        small = (s.iterations >= 0) & (jnp.max(jnp.abs(s.gradient), initial=0.0) <= tolerance)
        return ~small & ~s.stuck & (s.iterations < max_iterations)

    def next_state(s: _State) -> _State:
        value, gradient = evaluate(s.x + s.length * s.direction)
        accepted = _is_acceptable(s, value, gradient)
        is_first = s.iterations < 0
        step, change = s.length * s.direction, gradient - s.gradient
        curvature = step @ change
        keep_pair = accepted & ~is_first & (curvature > 1e-12 * jnp.linalg.norm(step) * jnp.linalg.norm(change))
        slot = s.stored % MEMORY
        give_up = ~accepted & (s.length <= MIN_STEP)
        s = s._replace(
            x=jnp.where(accepted, s.x + step, s.x),
            value=jnp.where(accepted, value, s.value),
            gradient=jnp.where(accepted, gradient, s.gradient),
            steps=s.steps.at[slot].set(jnp.where(keep_pair, step, s.steps[slot])),
            changes=s.changes.at[slot].set(jnp.where(keep_pair, change, s.changes[slot])),
            rho=s.rho.at[slot].set(jnp.where(keep_pair, 1.0 / jnp.where(keep_pair, curvature, 1.0), s.rho[slot])),
            # a failed search forgets the pairs once and goes down the gradient; failing again ends it
            stored=jnp.where(give_up, 0, s.stored + keep_pair),
            iterations=s.iterations + (accepted | give_up),
            evaluations=s.evaluations + 1,
            stuck=give_up & (s.stored == 0),
        )
        direction = _search_direction(s)
        downhill = direction @ s.gradient < 0
        direction = jnp.where(downhill, direction, -s.gradient)
        is_fresh = (s.stored == 0) | ~downhill
        first_length = jnp.where(is_fresh, 1.0 / jnp.maximum(1.0, jnp.linalg.norm(direction)), 1.0)
        is_new = accepted | give_up
        return s._replace(
            direction=jnp.where(is_new, direction, s.direction), length=jnp.where(is_new, first_length, 0.5 * s.length)
        )

    end = jax.lax.while_loop(is_unfinished, next_state, state)
    results: Any = (end.x, end.value, end.gradient, end.iterations, end.evaluations)
    return SearchResult(*results)


def _is_acceptable(s: _State, value: jax.Array, gradient: jax.Array) -> jax.Array:
    """Return True if the trial point becomes the next iterate."""
    slope = s.direction @ s.gradient
    armijo = value <= s.value + ARMIJO * s.length * slope
    rounding = 1e-14 * (1.0 + jnp.abs(s.value))
    flatter = jnp.abs(gradient @ s.direction) <= 0.9 * jnp.abs(slope)
    finite = jnp.isfinite(value) & jnp.isfinite(gradient).all()
    return finite & (armijo | ((value <= s.value + rounding) & flatter) | (s.iterations < 0))


def _search_direction(s: _State) -> jax.Array:
    """Compute minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
    order = s.stored - 1 - jnp.arange(MEMORY)  # newest first
    slots = order % MEMORY
    used = order >= 0

    def first_loop(q: jax.Array, slot_used: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        slot, use = slot_used
        alpha = jnp.where(use, s.rho[slot] * (s.steps[slot] @ q), 0.0)
        return q - alpha * s.changes[slot], alpha

    q, alphas = jax.lax.scan(first_loop, s.gradient, (slots, used))
    newest = slots[0]
    scale = jnp.where(s.stored > 0, 1.0 / (s.rho[newest] * (s.changes[newest] @ s.changes[newest])), 1.0)
    scale = jnp.where(jnp.isfinite(scale), scale, 1.0)

    def second_loop(r: jax.Array, item: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        slot, use, alpha = item
        beta = jnp.where(use, s.rho[slot] * (s.changes[slot] @ r), 0.0)
        return r + jnp.where(use, alpha - beta, 0.0) * s.steps[slot], None

    r, _ = jax.lax.scan(second_loop, scale * q, (slots[::-1], used[::-1], alphas[::-1]))
    return -r


def double_precision() -> AbstractContextManager[None]:
    """Context in which JAX computes in 64 bits, with the cache of :mod:`voirdire.infer.compilation_cache`."""
    keep_compiled()
    return jax.enable_x64(True)  # type: ignore[no-any-return]


def negative_log_density(density: LogDensity, x: Array, data: Data) -> Array:
    """Compute minus the log posterior density of one flat vector."""
    return -density.log_density(x, data, jnp)


@lru_cache(maxsize=256)
def value_and_gradient(
    density: LogDensity, symmetric: bool = False
) -> Callable[[Any, Data], tuple[jax.Array, jax.Array]]:
    """Compile minus the log density and its gradient, as a function of (x, data); see :class:`.Derivatives`."""
    log_density = density.symmetric_log_density if symmetric else density.log_density
    return jax.jit(jax.value_and_grad(lambda x, data: -log_density(x, data, jnp)))


def to_jax_arrays(data: Data) -> Data:
    """Move the tables to JAX once, not at every call of compiled functions."""
    return cast(Data, jax.tree.map(as_dense_array, data))


def as_dense_array(numbers: Any) -> jax.Array:
    """Convert numbers to an array; a compressed matrix includes its zeros."""
    return jnp.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers)


@lru_cache(maxsize=256)
def log_densities(density: LogDensity) -> Callable[[Any, Data], jax.Array]:
    """Compile log densities, shape (points,), as a function of (points, shape (points, size), and data)."""

    def evaluate_points(points: Array, data: Data) -> Array:
        return jax.lax.map(lambda x: -negative_log_density(density, x, data), points)

    return jax.jit(evaluate_points)


@lru_cache(maxsize=256)
def compiled_minimiser(density: LogDensity, tolerance: float, max_iterations: int) -> Callable[[Any, Data], Any]:
    """Compile the search for the mode, as a function of (starts, data), both with a leading axis of tables."""

    def minimise_one(start: jax.Array, data: Data) -> SearchResult:
        return minimise_lbfgs(
            lambda x: negative_log_density(density, x, data), start, tolerance=tolerance, max_iterations=max_iterations
        )

    return jax.jit(jax.vmap(minimise_one))


@lru_cache(maxsize=256)
def hessian_rows(density: LogDensity) -> Callable[[Any, Any, Data], jax.Array]:
    """Compile products of directions, shape (rows, size), with the Hessian of minus the log density at x.

    The function takes (x, directions, data), and works forward over reverse.
    """

    def product_rows(x: Array, directions: Array, data: Data) -> Array:
        gradient = jax.grad(lambda y: negative_log_density(density, y, data))
        return jax.vmap(lambda direction: jax.jvp(gradient, (x,), (direction,))[1])(directions)

    return jax.jit(product_rows)
