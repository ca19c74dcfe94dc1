"""Moves of draws by Hamiltonian Monte Carlo, for posteriors that a normal distribution and weights cannot reach.

Hidden classes make posteriors of mixtures: long tails where a class is nearly empty, several peaks where two classes
could be one. Sparse tables of votes leave open how far items stand apart, and with it all strengths at once. Draws of
the Laplace approximation then are too narrow. Each is moved by transitions that leave the posterior as it is (Gilks and
Berzuini 2001, JRSS B 63: resample, then move), in the whitened coordinates z of the Laplace approximation, x = mean +
root z: a momentum is drawn, ``LEAPFROG_STEPS`` leapfrog steps are made and the end is accepted with probability min(1,
exp(-change of energy)) (Neal 2011, Handbook of MCMC, chapter 5). Many chains move together in compiled code. Moves go
on until the chains have forgotten where they began: until no coordinate's correlation between the chains' starts and
ends exceeds ``MAX_ORIGIN_CORRELATION``, and until they stay where they are: until between two looks no more of them
leave the central 90% than should (:func:`.hmc_validation.central_interval_share`). Chains that cannot leave their peak
do not forget; those that still creep into a tail do not stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer import engine
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.hmc_validation import (
    FIRST_STEP,
    LEAPFROG_STEPS,
    TARGET_ACCEPTANCE,
    central_interval_share,
)
from voirdire.infer.laplace import Laplace
from voirdire.infer.mirror import fold_draws
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

MIXTURE_CHAINS = 1000  # of mixtures, whose peaks take many
CHAIN_RANGE = (100, 200)  # of others, by what a gradient costs
MAX_CHAINS_WORK = 8e6
BLOCK_MOVES = 8  # moves between two looks at what the chains remember
MAX_BLOCKS = 5  # at most
DRAW_SPACING = 4  # moves between two draws of a chain, where few are kept; else every move gives one
MAX_SPACED_ROUNDS = 4
MAX_ORIGIN_CORRELATION = (
    0.3  # correlation of starts and ends; of 1,000 chains that forgot, the largest of 100 is about 0.1
)


@dataclass(frozen=True, eq=False)
class RejuvenatedDraws:
    """Moved draws.

    Attributes
    ----------
    draws : array, shape (count, size)
        Folded where the model has a mirror; one chain after the other in turns, so that evenly spaced draws are of
        different chains.
    memory : float
        Largest absolute correlation between the chains' starts and ends over all coordinates.
    stays : bool
        Whether the chains had arrived before draws were kept.
    chains, moves : int
        Moves of each chain.
    step : float
    """

    draws: Floats
    memory: float
    stays: bool
    chains: int
    moves: int
    step: float

    @property
    def has_converged(self) -> bool:
        """True if the draws are those of the posterior, as far as the chains can tell."""
        return self.memory <= MAX_ORIGIN_CORRELATION and self.stays


def rejuvenate_draws(
    problem: Problem, approximation: Laplace, draws: Floats, count: int, rng: np.random.Generator
) -> RejuvenatedDraws:
    """Move draws until they forget where they began and stay where they are, or the moves are used up.

    Parameters
    ----------
    draws : array, shape (any, size)
        Where the chains begin; under a model with a mirror, the target has all orientations alike.
    count : int
        Draws wanted.
    """
    density, data = problem.density, problem.data
    chains = min(_chain_count(problem), count)
    rounds = -(-count // chains)
    key = jax.random.PRNGKey(int(rng.integers(2**31)))
    start = draws[rng.choice(len(draws), chains, replace=len(draws) < chains)]

    def fold_positions(x: Any) -> Floats:
        x = np.asarray(x)
        return fold_draws(density, x, data)[0] if density.has_mirror else x

    with engine.double_precision():
        advance = _compiled_moves(density)
        mean, root = jnp.asarray(approximation.mean), jnp.asarray(approximation.root)
        arguments = (mean, root, jax.tree.map(jnp.asarray, data))
        z = np.linalg.solve(approximation.root, (start - approximation.mean).T).T
        state, origin = (jnp.asarray(z), jnp.asarray(np.log(FIRST_STEP))), fold_positions(start)
        current, block, converged = origin, 0, False
        while block < MAX_BLOCKS and not converged:
            state, x = advance(state, jax.random.fold_in(key, block), *arguments)
            block, previous, current = block + 1, current, fold_positions(x[-1])
            memory = _origin_correlation(origin, current)
            stays = central_interval_share(problem, previous, current, chains)[1]
            converged = memory <= MAX_ORIGIN_CORRELATION and stays
        gap = DRAW_SPACING if rounds <= MAX_SPACED_ROUNDS else 1
        # chains that stayed where they were during a block may be taken from all of it
        kept_draws = [fold_positions(position) for position in x] if gap == 1 and block > 1 else [current]
        while len(kept_draws) < rounds:
            state, x = advance(state, jax.random.fold_in(key, block), *arguments)
            block, kept_draws = (
                block + 1,
                kept_draws + [fold_positions(position) for position in x[gap - 1 :: gap]],
            )
    step = float(np.exp(state[1]))
    return RejuvenatedDraws(
        np.concatenate(kept_draws[:rounds])[:count], memory, stays, chains, block * BLOCK_MOVES, step
    )


def _chain_count(problem: Problem) -> int:
    if problem.density.mixture:
        return MIXTURE_CHAINS
    return int(np.clip(MAX_CHAINS_WORK / Derivatives(problem.density, problem.data).work, *CHAIN_RANGE))


def _origin_correlation(origin: Floats, end: Floats) -> float:
    a, b = origin - origin.mean(axis=0), end - end.mean(axis=0)
    scale = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return float(np.max(np.abs((a * b).sum(axis=0)) / np.maximum(scale, 1e-300), initial=0.0))


@lru_cache(maxsize=32)
def _compiled_moves(density: LogDensity) -> Callable[..., Any]:
    """``BLOCK_MOVES`` moves of all chains: their state, and their points, shape (moves, chains, size)."""

    def advance_chains(state: Any, key: Array, mean: Array, root: Array, data: Data) -> Any:
        def potential_energy(z: Array) -> Array:
            return -density.symmetric_log_density(mean + root @ z, data, jnp)

        energies = jax.vmap(jax.value_and_grad(potential_energy))

        def leapfrog_step(place: Any, going: Array) -> Any:
            z, p, slope, step = place
            p = p - 0.5 * going * step * slope
            z = z + going * step * p
            value, slope = energies(z)
            return (z, p - 0.5 * going * step * slope, slope, step), value

        def hmc_transition(state: Any, key: Array) -> Any:
            z, log_step = state
            momentum_key, step_key, choice_key = jax.random.split(key, 3)
            p = jax.random.normal(momentum_key, z.shape)
            # steps that differ from chain to chain keep orbits from closing
            step = jnp.exp(log_step) * jax.random.uniform(step_key, (len(z), 1), minval=0.5, maxval=1.5)
            # the first leap stands still: it finds the energy and slope of the start with the one compiled density
            going = (jnp.arange(LEAPFROG_STEPS + 1) > 0).astype(z.dtype)
            (z_end, q, _, _), values = jax.lax.scan(leapfrog_step, (z, p, jnp.zeros_like(z), step), going)
            gain = values[0] - values[-1] + 0.5 * ((p * p).sum(axis=1) - (q * q).sum(axis=1))
            gain = jnp.where(jnp.isfinite(gain), gain, -jnp.inf)
            accepted = jnp.log(jax.random.uniform(choice_key, (len(z),))) < gain
            z = jnp.where(accepted[:, None], z_end, z)
            return (z, log_step + jnp.exp(jnp.minimum(gain, 0.0)).mean() - TARGET_ACCEPTANCE), z

        state, z = jax.lax.scan(hmc_transition, state, jax.random.split(key, BLOCK_MOVES))
        return state, mean + z @ root.T

    return jax.jit(advance_chains)
