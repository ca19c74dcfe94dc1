"""Limited-memory BFGS in JAX: one compiled loop, usable under ``jax.vmap``.

Two-loop recursion with ``MEMORY`` pairs (Nocedal and Wright 2006, algorithm 7.4). The step is halved from 1 until
the Armijo condition holds or, where the objective's change is lost in rounding, until the slope along the step has
shrunk (the approximate Wolfe condition of Hager and Zhang 2005), so that the gradient can be driven down to its
own rounding error. Pairs with too little curvature are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

MEMORY = 12
ARMIJO = 1e-4
SHORTEST = 2.0**-40


class Minimum(NamedTuple):
    """End of the search: position, objective, gradient, iterations and evaluations used."""

    x: jax.Array
    value: jax.Array
    gradient: jax.Array
    iterations: jax.Array
    evaluations: jax.Array


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
) -> Minimum:
    """Minimise a smooth function of one vector.

    Each turn of the loop evaluates the objective at one trial point, whether it becomes the next iterate or is halved:
    the objective is compiled once, and batches under ``jax.vmap`` never wait for the longest line search.

    Parameters
    ----------
    objective : callable
        Differentiable by JAX; the vector of shape (n,) to a number.
    start : array, shape (n,)
    tolerance : float
        Stop where the largest absolute component of the gradient is below it.
    max_iterations : int

    Returns
    -------
    Minimum
        The caller judges convergence by ``gradient``: a search that can get no further stops too.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> found = minimise_lbfgs(lambda x: ((x - 3.0) ** 2).sum(), jnp.zeros(2))
    >>> [round(float(v), 4) for v in found.x]
    [3.0, 3.0]
    """
    both = jax.value_and_grad(objective)
    nothing = jnp.zeros_like(start)
    empty = jnp.zeros((MEMORY, start.shape[0]), start.dtype)
    state = _State(
        x=start,
        value=jnp.asarray(jnp.inf, start.dtype),
        gradient=jnp.full_like(start, jnp.inf),  # stays where the objective is not finite at the start
        direction=nothing,
        length=jnp.asarray(1.0, start.dtype),
        steps=empty,
        changes=empty,
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
        value, gradient = both(s.x + s.length * s.direction)
        good = _is_acceptable(s, value, gradient)
        first = s.iterations < 0
        moved, change = s.length * s.direction, gradient - s.gradient
        curvature = moved @ change
        keep = good & ~first & (curvature > 1e-12 * jnp.linalg.norm(moved) * jnp.linalg.norm(change))
        slot = s.stored % MEMORY
        give_up = ~good & (s.length <= SHORTEST)
        s = s._replace(
            x=jnp.where(good, s.x + moved, s.x),
            value=jnp.where(good, value, s.value),
            gradient=jnp.where(good, gradient, s.gradient),
            steps=s.steps.at[slot].set(jnp.where(keep, moved, s.steps[slot])),
            changes=s.changes.at[slot].set(jnp.where(keep, change, s.changes[slot])),
            rho=s.rho.at[slot].set(jnp.where(keep, 1.0 / jnp.where(keep, curvature, 1.0), s.rho[slot])),
            # a failed search forgets the pairs once and goes down the gradient; failing again ends it
            stored=jnp.where(give_up, 0, s.stored + keep),
            iterations=s.iterations + (good | give_up),
            evaluations=s.evaluations + 1,
            stuck=give_up & (s.stored == 0),
        )
        direction = _search_direction(s)
        downhill = direction @ s.gradient < 0
        direction = jnp.where(downhill, direction, -s.gradient)
        fresh = (s.stored == 0) | ~downhill
        whole = jnp.where(fresh, 1.0 / jnp.maximum(1.0, jnp.linalg.norm(direction)), 1.0)
        anew = good | give_up
        return s._replace(
            direction=jnp.where(anew, direction, s.direction),
            length=jnp.where(anew, whole, 0.5 * s.length),
        )

    end = jax.lax.while_loop(is_unfinished, next_state, state)
    return Minimum(end.x, end.value, end.gradient, end.iterations, end.evaluations)


def _is_acceptable(s: _State, value: jax.Array, gradient: jax.Array) -> jax.Array:
    """True if the trial point becomes the next iterate."""
    slope = s.direction @ s.gradient
    armijo = value <= s.value + ARMIJO * s.length * slope
    rounding = 1e-14 * (1.0 + jnp.abs(s.value))
    flatter = jnp.abs(gradient @ s.direction) <= 0.9 * jnp.abs(slope)
    finite = jnp.isfinite(value) & jnp.isfinite(gradient).all()
    return finite & (armijo | ((value <= s.value + rounding) & flatter) | (s.iterations < 0))


def _search_direction(s: _State) -> jax.Array:
    """Minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
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
