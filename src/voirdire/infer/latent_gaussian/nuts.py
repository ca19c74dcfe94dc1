"""NUTS of latent values and spreads together, for tables of many latent values.

Sampling is in the :mod:`.coordinates` of a nested search, adapted by chains of :mod:`.moves`. There is no dense mass
matrix: for thousands of values it would cost more than the likelihood, and be estimated from too few draws. The
transition and its adaptation are NumPyro's, as in :mod:`voirdire.infer.nuts`; the density and its gradient are
computed by NumPy, with sparse factors.
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

WARM_UP_MOVES = (40, 20)  # moves before and after coordinates are adapted, of the chains from which NUTS starts


def sample_nuts(
    search: SpreadSearch,
    *,
    seed: int,
    chains: int = 4,
    warmup: int = 500,
    draws: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> Draws:
    """Sample from the posterior, starting about the end of a search; draws are in flat coordinates.

    Parameters are those of :func:`voirdire.infer.nuts.sample_nuts`.
    """
    rng = np.random.default_rng(seed)
    # a few chains do not show the wide directions
    moves = Moves(search, rng, max(chains, CHAINS), WARM_UP_MOVES)
    # compiled code may not run inside a compiled program
    coordinates = replace(moves.where, compiled=False)
    coordinates.energy_gradient(moves.z[:1])  # computes cached arrays before threads need them
    # no diagonal mass matrix: coordinates are adapted already, so that it would add noise only
    settings = {"adapt_mass_matrix": False, "target_accept_prob": TARGET_ACCEPTANCE}
    step = moves.step / GRADIENTS_PER_STEP
    programs = nuts_programs(_potential_function(coordinates), warmup, turning=False, step_size=step, **settings)
    run = run_nuts_chains(programs, moves.z[:chains], (), rng, warmup, draws, progress)
    flat = [search.model.flat(*coordinates.to_values(chain)) for chain in run.x]
    return replace(run, x=np.stack(flat))


def _potential_function(coordinates: Coordinates) -> Callable[[Array], Any]:
    """Wrap minus the log density at a point, shape (size,), as a function that JAX can differentiate.

    Numbers pass as bits, shape (numbers, 2): JAX calls back from threads that are not set to double precision.
    """

    def evaluate_bits(bits: Any) -> Any:
        z = np.ascontiguousarray(bits).view(np.float64).reshape(1, -1)
        with np.errstate(all="ignore"):  # a diverging path is not accepted
            value, slope = coordinates.energy_gradient(z)
        numbers = np.append(np.where(np.isfinite(value), value, np.inf), np.nan_to_num(slope))
        return numbers.view(np.uint32).reshape(-1, 2)

    shape = jax.eval_shape(lambda: jnp.zeros((1 + coordinates.size, 2), jnp.uint32))

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
