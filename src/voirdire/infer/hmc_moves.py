"""Moves of draws by Hamiltonian Monte Carlo, for posteriors that a normal distribution with weights does not cover.

Hidden classes give posteriors of mixtures long tails (a class that is nearly empty) and several peaks (two classes that
could be one). Sparse tables of votes hardly identify the distances of items, and with them all strengths. Draws of the
Laplace approximation are then too narrow. Each draw is moved by transitions that leave the posterior invariant (Gilks
and Berzuini 2001, JRSS B 63: resample, then move), in the whitened coordinates z of the Laplace approximation,
x = mean + root z. A transition draws a momentum, makes ``LEAPFROG_STEPS`` leapfrog steps and accepts the end with
probability min(1, exp(-change of energy)) (Neal 2011, Handbook of MCMC, chapter 5). Many chains move together in
compiled code.

Moves stop when two conditions hold. The chains have forgotten their start: no coordinate's correlation between starts
and ends exceeds ``MAX_ORIGIN_CORRELATION``. And they are stationary: after a block of moves enough of them are within
the central 90% from before it (:func:`.checks.central_interval_share`). Chains that cannot leave their peak
fail the first condition; chains that still drift into a tail fail the second.
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
from voirdire.infer.checks import FIRST_STEP, LEAPFROG_STEPS, TARGET_ACCEPTANCE, central_interval_share
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.laplace import Laplace
from voirdire.infer.mirror import fold_draws
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

MIXTURE_CHAINS = 1000  # chains of mixtures, whose peaks need many
CHAIN_RANGE = (100, 200)  # fewest and most chains of other models, by the cost of a gradient
MAX_CHAINS_WORK = 8e6
BLOCK_MOVES = 8  # moves between two checks of the chains
MAX_BLOCKS = 5  # blocks of moves, at most
DRAW_SPACING = 4  # moves between two draws of a chain if it keeps few; else every move is a draw
MAX_SPACED_ROUNDS = 4
# of starts and ends; for 1,000 independent chains the largest of 100 correlations is about 0.1
MAX_ORIGIN_CORRELATION = 0.3


@dataclass(frozen=True, eq=False)
class RejuvenatedDraws:
    """Moved draws.

    Attributes
    ----------
    draws : array, shape (count, size)
        Draws, folded if the model has a mirror, and ordered so that evenly spaced draws are from different chains.
    memory : float
        Largest absolute correlation between the chains' starts and ends over all coordinates.
    stays : bool
        True if the chains were stationary before draws were kept.
    chains, moves : int
        Number of chains, and moves of each chain.
    step : float
        Adapted step.
    """

    draws: Floats
    memory: float
    stays: bool
    chains: int
    moves: int
    step: float

    @property
    def has_converged(self) -> bool:
        """True if the draws are from the posterior, by the checks of the chains."""
        return self.memory <= MAX_ORIGIN_CORRELATION and self.stays


def rejuvenate_draws(
    problem: Problem, approximation: Laplace, draws: Floats, count: int, rng: np.random.Generator
) -> RejuvenatedDraws:
    """Move draws until they have forgotten their start and are stationary, or the limit of moves is reached.

    Parameters
    ----------
    draws : array, shape (any, size)
        Draws from which chains start; for a model with a mirror, the target is the density over all orientations.
    count : int
        Number of draws to return.
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
            stays = central_interval_share(problem, previous, current, chains).holds
            converged = memory <= MAX_ORIGIN_CORRELATION and stays
        gap = DRAW_SPACING if rounds <= MAX_SPACED_ROUNDS else 1
        # all moves of a block in which chains were stationary may be kept
        kept_draws = [fold_positions(position) for position in x] if gap == 1 and block > 1 else [current]
        while len(kept_draws) < rounds:
            state, x = advance(state, jax.random.fold_in(key, block), *arguments)
            block, kept_draws = (block + 1, kept_draws + [fold_positions(position) for position in x[gap - 1 :: gap]])
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
    """Compile ``BLOCK_MOVES`` moves of all chains, which return their state and points, shape (moves, chains, size)."""

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
            # different steps of chains avoid periodic orbits
            step = jnp.exp(log_step) * jax.random.uniform(step_key, (len(z), 1), minval=0.5, maxval=1.5)
            # the first step has length zero: it computes energy and slope at the start by the same compiled density
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
