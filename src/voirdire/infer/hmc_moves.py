"""Moves of draws by Hamiltonian Monte Carlo, for posteriors that importance weights alone cannot reach.

Hidden classes make posteriors of mixtures: long tails where a class is nearly empty, several peaks where two classes
could be one. Resampled draws of the Laplace approximation then are too narrow. Each is moved by a few transitions that
leave the posterior as it is (Gilks and Berzuini 2001, JRSS B 63: resample, then move), in the whitened coordinates
z of the Laplace approximation, x = mean + root z: a momentum is drawn, ``STEPS`` leapfrog steps are made and the end
is accepted with probability min(1, exp(-change of energy)) (Neal 2011, Handbook of MCMC, chapter 5). All chains move
together in compiled code. Moves go on until the chains have forgotten where they began: until no coordinate's
correlation between the chains' starts and ends exceeds ``FORGOTTEN``. Chains that cannot leave their peak do not
forget.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer import engine
from voirdire.infer.laplace import Laplace
from voirdire.infer.mirror import fold
from voirdire.infer.trial import ACCEPTED, FIRST_STEP, STEPS
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

CHAINS = 1000
BLOCK = 8  # moves between two looks at what the chains remember
BLOCKS = 5  # at most
FORGOTTEN = (
    0.3  # correlation of starts and ends; of 1,000 chains that forgot, the largest of 100 is about 0.1
)
LARGEST_WORK = 60_000  # multiplications of one density, beyond which moves would take minutes


def affordable(problem: Problem) -> bool:
    """Whether the moves of one fit take seconds.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import pose_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "no")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> affordable(pose_labels(load_model("hierarchical-dawid-skene"), table))
    True
    """
    cells = sum(np.size(column) for part in problem.data.values() for column in part.values())
    levels = problem.density.sizes.get("class", 1)
    return problem.density.size**2 + levels * cells <= LARGEST_WORK


def moved(
    problem: Problem, approximation: Laplace, draws: Floats, count: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Move draws until they forget where they began, or the moves are used up.

    Parameters
    ----------
    draws : array, shape (any, size)
        Where the chains begin; under a model with a mirror, the target has all orientations alike.
    count : int
        Draws wanted.

    Returns
    -------
    array, shape (count, size)
        Folded where the model has a mirror.
    float
        Largest absolute correlation between the chains' starts and ends over all coordinates.
    """
    density, data = problem.density, problem.data
    chains = min(CHAINS, count)
    rounds = -(-count // chains)
    key = jax.random.PRNGKey(int(rng.integers(2**31)))
    start = draws[rng.choice(len(draws), chains, replace=len(draws) < chains)]

    def folded(x: Any) -> Floats:
        x = np.asarray(x)
        return fold(density, x, data)[0] if density.has_mirror else x

    with engine.double_precision():
        advance = _compiled(density)
        mean, root = jnp.asarray(approximation.mean), jnp.asarray(approximation.root)
        arguments = (mean, root, jax.tree.map(jnp.asarray, data))
        z = np.linalg.solve(approximation.root, (start - approximation.mean).T).T
        state, origin = (jnp.asarray(z), jnp.asarray(np.log(FIRST_STEP))), folded(start)
        for turn in range(BLOCKS):
            state, x = advance(state, jax.random.fold_in(key, turn), *arguments)
            memory = _remembered(origin, folded(x[-1]))
            if memory <= FORGOTTEN:
                break
        kept = [folded(x[-1])]
        for turn in range(BLOCKS, BLOCKS + rounds // 2):
            state, x = advance(state, jax.random.fold_in(key, turn), *arguments)
            kept += [folded(x[BLOCK // 2 - 1]), folded(x[-1])]
    # one chain after the other, so that evenly spaced draws are of different chains
    return np.concatenate(kept[:rounds])[:count], memory


def _remembered(origin: Floats, end: Floats) -> float:
    a, b = origin - origin.mean(axis=0), end - end.mean(axis=0)
    scale = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return float(np.max(np.abs((a * b).sum(axis=0)) / np.maximum(scale, 1e-300), initial=0.0))


@lru_cache(maxsize=32)
def _compiled(density: LogDensity) -> Callable[..., Any]:
    """``BLOCK`` moves of all chains: their state, and their points, shape (moves, chains, size)."""

    def advance(state: Any, key: Array, mean: Array, root: Array, data: Data) -> Any:
        def energy(z: Array) -> Array:
            return -density.symmetric_log_density(mean + root @ z, data, jnp)

        energies = jax.vmap(jax.value_and_grad(energy))

        def leap(place: Any, going: Array) -> Any:
            z, p, slope, step = place
            p = p - 0.5 * going * step * slope
            z = z + going * step * p
            value, slope = energies(z)
            return (z, p - 0.5 * going * step * slope, slope, step), value

        def move(state: Any, key: Array) -> Any:
            z, log_step = state
            of_momentum, of_step, of_choice = jax.random.split(key, 3)
            p = jax.random.normal(of_momentum, z.shape)
            # steps that differ from chain to chain keep orbits from closing
            step = jnp.exp(log_step) * jax.random.uniform(of_step, (len(z), 1), minval=0.5, maxval=1.5)
            # the first leap stands still: it finds the energy and slope of the start with the one compiled density
            going = (jnp.arange(STEPS + 1) > 0).astype(z.dtype)
            (there, q, _, _), values = jax.lax.scan(leap, (z, p, jnp.zeros_like(z), step), going)
            gain = values[0] - values[-1] + 0.5 * ((p * p).sum(axis=1) - (q * q).sum(axis=1))
            gain = jnp.where(jnp.isfinite(gain), gain, -jnp.inf)
            goes = jnp.log(jax.random.uniform(of_choice, (len(z),))) < gain
            z = jnp.where(goes[:, None], there, z)
            return (z, log_step + jnp.exp(jnp.minimum(gain, 0.0)).mean() - ACCEPTED), z

        state, z = jax.lax.scan(move, state, jax.random.split(key, BLOCK))
        return state, mean + z @ root.T

    return jax.jit(advance)
