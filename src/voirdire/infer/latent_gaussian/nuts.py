"""NUTS of latent values and spreads together, for tables of many latent values.

In the :mod:`.coordinates` of a nested search, as chains of :mod:`.moves` adapt them. A matrix that whitens all values
is never held: with thousands of them it would take longer than the likelihood, and be known from too few draws. The
transition and its adaptation are NumPyro's, as everywhere (:mod:`voirdire.infer.nuts`); the density and its gradient
come from NumPy, where sparse factors are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer.latent_gaussian.coordinates import Coordinates
from voirdire.infer.latent_gaussian.cost import CHAINS, GRADIENTS_PER_STEP
from voirdire.infer.latent_gaussian.hamiltonian import TARGET_ACCEPTANCE
from voirdire.infer.latent_gaussian.moves import Moves
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.nuts import Draws, nuts_programs, run_nuts_chains
from voirdire.model.terms.arrays import Array

WARM_UP_MOVES = (
    40,
    20,
)  # moves before coordinates are adapted, and after, of the chains that NUTS goes on from


def sample_nuts(
    search: SpreadSearch,
    *,
    seed: int,
    chains: int = 4,
    warmup: int = 500,
    draws: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> Draws:
    """Draw from the posterior about where a search ended, in flat coordinates.

    Parameters are those of :func:`voirdire.infer.nuts.sample_nuts`.
    """
    rng = np.random.default_rng(seed)
    # few chains would not tell in which directions draws go far
    moves = Moves(search, rng, max(chains, CHAINS), WARM_UP_MOVES)
    # inside a compiled program nothing else compiled may run
    coordinates = replace(moves.where, compiled=False)
    coordinates.energy_gradient(moves.z[:1])  # what is kept is made before threads ask for it
    # coordinates are adapted to chains: what a diagonal of as many variances would add is noise
    programs = nuts_programs(
        _potential_function(coordinates),
        warmup,
        turning=False,
        step_size=moves.step / GRADIENTS_PER_STEP,
        adapt_mass_matrix=False,
        target_accept_prob=TARGET_ACCEPTANCE,
    )
    run = run_nuts_chains(programs, moves.z[:chains], (), rng, warmup, draws, progress)
    flat = [search.model.flat(*coordinates.to_values(chain)) for chain in run.x]
    return replace(run, x=np.stack(flat))


def _potential_function(where: Coordinates) -> Callable[[Array], Any]:
    """Minus the log density at a point, shape (size,), as a function that JAX can differentiate.

    Numbers pass as their bits, shape (numbers, 2): JAX calls back from threads that do not know of double precision.
    """

    def evaluate_bits(bits: Any) -> Any:
        z = np.ascontiguousarray(bits).view(np.float64).reshape(1, -1)
        with np.errstate(all="ignore"):  # an orbit that leaves for infinity is not accepted
            value, slope = where.energy_gradient(z)
        numbers = np.append(np.where(np.isfinite(value), value, np.inf), np.nan_to_num(slope))
        return numbers.view(np.uint32).reshape(-1, 2)

    shape = jax.eval_shape(lambda: jnp.zeros((1 + where.size, 2), jnp.uint32))

    def value_gradient(z: Array) -> Any:
        bits = jax.pure_callback(evaluate_bits, shape, jax.lax.bitcast_convert_type(z, jnp.uint32))
        return jax.lax.bitcast_convert_type(bits, jnp.float64)

    @jax.custom_jvp
    def potential_value(z: Array) -> Any:
        return value_gradient(z)[0]

    @potential_value.defjvp
    def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Any, Any]:
        numbers = value_gradient(primals[0])
        return numbers[0], jnp.dot(numbers[1:], tangents[0])

    return potential_value
