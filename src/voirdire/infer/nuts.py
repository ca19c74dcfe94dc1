"""NUTS on Laplace-whitened coordinates.

In these coordinates the posterior is close to a standard normal however strongly strengths and reliabilities depend on
each other, so that few leapfrog steps cross it. The transition is NumPyro's. This module only runs it: chains in
threads, in blocks of draws (so that progress can be shown), with one compilation per program and table shape.

If all coordinates oscillate with one frequency, they all turn round after half a period, pi. A tree that is doubled
beyond it brings them back to their start, or to the opposite side; scales then mix worse, at twice the cost. So after
warm-up the step is set to make trees end there: 2^D - 1 steps are a little more than pi.

The coordinates make a Laplace approximation nearly standard normal, at linear cost where possible. With H the Hessian
at the mode, s_i = H_ii^(-1/2) and (lambda, q) the eigenpairs of the scaled Hessian s_i H_ij s_j,

    x = mode + s * (I + sum over some j of (lambda_j^(-1/2) - 1) q_j q_j') z

has precisely the approximation's covariance if the sum is over all j. Pairs with lambda_j within 10% of 1 are left out:
the remaining map has standard deviations within 5% of 1. Items that depend on each other only through a few common
parameters (scores, whose 1,694 parameters for 420 items keep 30 pairs) then take two thin matrices instead of one
square one, which would be most of a gradient's cost. With few parameters all pairs are kept: tables of one shape then
have maps of one shape, and share compiled programs. Any such map is exact for a sampler, because it draws from the
posterior in any coordinates.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from voirdire.infer import engine
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.laplace import Laplace
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

LOG_EIGENVALUE_TOLERANCE = 0.1  # absolute logarithm of an eigenvalue up to which it is left out
MAX_FULL_PARAMETERS = 150  # parameters up to which all pairs are kept


class Whitening(NamedTuple):
    """Linear map from white coordinates z to free coordinates x (see the module).

    Attributes
    ----------
    mean, scale : array, shape (size,)
        Mode, and s.
    across : array, shape (size, kept)
        Eigenvectors q_j.
    gain : array, shape (kept,)
        lambda_j^(-1/2) - 1.
    """

    mean: Array
    scale: Array
    across: Array
    gain: Array

    def free(self, z: Array) -> Array:
        """Map white coordinates to free ones, shape (..., size)."""
        return self.mean + self.scale * (z + ((z @ self.across) * self.gain) @ self.across.T)


def whitening_map(approximation: Laplace) -> Whitening:
    """Compute the map of a Laplace approximation.

    Examples
    --------
    >>> root = np.linalg.cholesky([[2.0, 0.6], [0.6, 1.0]])
    >>> map = whitening_map(Laplace(np.zeros(2), root, 0.0, 1.0))
    >>> sides = map.free(np.eye(2))
    >>> (sides.T @ sides).round(6).tolist()
    [[2.0, 0.6], [0.6, 1.0]]
    """
    size = len(approximation.mean)
    inverse: Any = np.linalg.solve(approximation.root, np.eye(size))
    hessian = inverse.T @ inverse
    scale = 1.0 / np.sqrt(np.diag(hessian))
    eigenvalue, vector = np.linalg.eigh(hessian * scale[:, None] * scale)
    is_kept = (np.abs(np.log(np.maximum(eigenvalue, 1e-300))) > LOG_EIGENVALUE_TOLERANCE) | (
        size <= MAX_FULL_PARAMETERS
    )
    return Whitening(approximation.mean, scale, vector[:, is_kept], eigenvalue[is_kept] ** -0.5 - 1.0)


BLOCK_DRAWS = 50  # draws per call of the compiled block
TARGET_ACCEPT = 0.9
TREE_LENGTH = 1.03 * math.pi  # length of a tree after which coordinates of one frequency have turned round
MAX_STEP_GROWTH = 1.1  # factor by which a step may become longer than adapted
MIN_ADJUSTED_STEP = 0.1  # steps below it belong to posteriors that are not close to normal, and are kept


DEFAULT_STEPS = 15  # steps of a transition if the step length is unknown
SECONDS_PER_NUMBER = 1e-8  # seconds that a number of a table adds to a gradient
PARALLEL_CHAINS = 2  # chains that run at the same time
MAX_SECONDS = 60.0

NutsPrograms = tuple[Callable[..., Any], Callable[..., Any]]


def is_affordable(problem: Problem, transitions: int, steps: int) -> bool:
    """Return True if the transitions, of ``steps`` leapfrog steps each, are expected to take a minute at most.

    The estimate is by the size of the table, not by a clock, so that a seed gives the same result on every machine.
    """
    work = Derivatives(problem.density, problem.data).work
    return transitions * steps * work * SECONDS_PER_NUMBER / PARALLEL_CHAINS <= MAX_SECONDS


def leapfrog_count(step: float) -> int:
    """Estimate the leapfrog steps of a transition from the step length ``step`` of moves.

    Examples
    --------
    >>> [leapfrog_count(step) for step in (0.9, 0.4, 0.1)]
    [7, 15, 63]
    """
    return int(2 ** math.ceil(math.log2(TREE_LENGTH / step + 1.0)) - 1) if step > 0 else DEFAULT_STEPS * 100


@dataclass(frozen=True, eq=False)
class Draws:
    """Posterior draws in free coordinates, with the sampler's records.

    Parameters
    ----------
    x : array, shape (chains, draws, size)
    diverging : bool array, shape (chains, draws)
    energy : array, shape (chains, draws)
    steps : int array, shape (chains, draws)
        Leapfrog steps of each transition.
    alike : bool
        True if all orientations were targeted alike.
    """

    x: Floats
    diverging: npt.NDArray[np.bool_]
    energy: Floats
    steps: npt.NDArray[np.int64]
    alike: bool = False


def sample_nuts(
    problem: Problem,
    approximation: Laplace,
    *,
    seed: int,
    chains: int = 4,
    warmup: int = 500,
    draws: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> Draws:
    """Sample from the posterior (over both orientations if the model has a mirror; see :mod:`.mirror`).

    Parameters
    ----------
    approximation : Laplace
        Approximation for the whitening and the overdispersed starting points.
    seed : int
    chains, warmup, draws : int
        ``warmup`` and ``draws`` are per chain.
    progress : callable, optional
        Function called with the number of transitions since its last call, from several threads.
    """
    density, white = problem.density, whitening_map(approximation)
    rng = np.random.default_rng(seed)
    starts = 1.5 * rng.standard_normal((chains, density.size))
    run = run_nuts_chains(
        _compiled_programs(density, warmup), starts, (white, problem.data), rng, warmup, draws, progress
    )
    return replace(run, x=white.free(run.x), alike=True)


def run_nuts_chains(
    programs: NutsPrograms,
    starts: Floats,
    arguments: tuple[Any, ...],
    rng: np.random.Generator,
    warmup: int,
    draws: int,
    progress: Callable[[int], None] | None = None,
) -> Draws:
    """Run chains from points, shape (chains, size), in the coordinates of ``programs``.

    Parameters
    ----------
    programs : NutsPrograms
        Programs of :func:`nuts_programs`, for the same warm-up.
    arguments : tuple
        Further arguments of the potential, after the point.
    """
    chains = len(starts)
    keys = rng.integers(0, 2**32, size=chains, dtype=np.uint64)
    begin, advance = programs

    def run_chain(index: int) -> list[tuple[Any, ...]]:
        with engine.double_precision():
            arrays = jax.tree.map(engine.as_dense_array, arguments)
            state = begin(jax.random.PRNGKey(int(keys[index])), jnp.asarray(starts[index]), *arrays)
            blocks = []
            for start in range(0, warmup + draws, BLOCK_DRAWS):
                state, record = advance(state, *arrays)
                record = jax.tree.map(np.asarray, record)
                if start + BLOCK_DRAWS > warmup:
                    blocks.append(tuple(part[max(0, warmup - start) :] for part in record))
                if progress is not None:
                    progress(BLOCK_DRAWS)
            return blocks

    workers = min(chains, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        runs = list(pool.map(run_chain, range(chains)))
    joined = [tuple(np.concatenate(part)[:draws] for part in zip(*blocks, strict=True)) for blocks in runs]
    z, diverging, energy, steps = (np.stack(part) for part in zip(*joined, strict=True))
    return Draws(z, diverging, energy, steps.astype(np.int64))


@lru_cache(maxsize=32)
def _compiled_programs(density: LogDensity, warmup: int) -> NutsPrograms:
    def potential_energy(z: Array, white: Whitening, data: Data) -> Array:
        return -density.symmetric_log_density(white.free(z), data, jnp)

    return nuts_programs(potential_energy, warmup, target_accept_prob=TARGET_ACCEPT)


def nuts_programs(potential: Callable[..., Array], warmup: int, turning: bool = True, **settings: Any) -> NutsPrograms:
    """Build programs that start a chain and continue it, compiled at the first call.

    Parameters
    ----------
    potential : callable
        Minus the log density at a point, shape (size,), and further arguments.
    turning : bool
        True if all coordinates turn round together, so that the step is set by :func:`half_period_step`.
    **settings
        Settings of NumPyro's NUTS.
    """
    from numpyro.infer import NUTS

    def nuts_kernel(arguments: tuple[Any, ...]) -> Any:
        return NUTS(potential_fn=lambda z: potential(z, *arguments), **settings)

    def begin_chain(key: jax.Array, start: jax.Array, *arguments: Any) -> Any:
        return nuts_kernel(arguments).init(key, warmup, start, (), {})

    def advance_chain(state: Any, *arguments: Any) -> Any:
        nuts = nuts_kernel(arguments)
        # NumPyro sets up its adaptation schedule in init; the state it returns here is not used
        nuts.init(jax.random.PRNGKey(0), warmup, state.z, (), {})

        def one_transition(state: Any, _: None) -> Any:
            adapted = state.adapt_state
            if turning:
                step = jnp.where(state.i == warmup, half_period_step(adapted.step_size, jnp), adapted.step_size)
                state = state._replace(adapt_state=adapted._replace(step_size=step))
            state = nuts.sample(state, (), {})
            return state, (state.z, state.diverging, state.energy, state.num_steps)

        return jax.lax.scan(one_transition, state, None, length=BLOCK_DRAWS)

    return jax.jit(begin_chain), jax.jit(advance_chain)


def half_period_step(step: Array, xp: Any) -> Array:
    """Return the step near an adapted one such that 2^D - 1 steps, for a whole D, are just over half a period.

    Examples
    --------
    >>> [round(float(half_period_step(step, np)), 3) for step in (0.05, 0.2, 0.3, 0.45)]
    [0.05, 0.216, 0.216, 0.462]
    """
    depth = xp.ceil(xp.log2(TREE_LENGTH / (MAX_STEP_GROWTH * step) + 1.0))
    return xp.where(step < MIN_ADJUSTED_STEP, step, TREE_LENGTH / (2.0**depth - 1.0))
