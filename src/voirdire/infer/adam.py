"""MAPLE's own estimator: Adam on the summed negative log likelihood (eq. 5 of the paper), without priors.

The paper names gradient descent with 5,000 epochs and a learning rate of 0.01. Plain gradient descent at that rate does
not reproduce its Table 2; Adam (Kingma and Ba 2015, default decay rates) does. The result is one point without
intervals. If the likelihood has no maximum (an item that always wins, a judge that never errs), the point is the end
of the last epoch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer import engine
from voirdire.infer.checks import LAST_EPOCHS
from voirdire.infer.posterior import Mode
from voirdire.model.density import Data, LogDensity
from voirdire.model.problem import Problem
from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats

EPOCHS = 5000
LEARNING_RATE = 0.01
DECAY_RATES = (0.9, 0.999)
EPSILON = 1e-8


def find_mode_by_adam(problem: Problem, seed: int) -> Mode:
    """Fit one problem by the paper's procedure.

    The mode's density is that of the likelihood; its gradient is the largest change of a coordinate in the last epochs.

    Raises
    ------
    InputError
        The paper's procedure does not apply to the model or table.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x", "x", "y"]})
    >>> find_mode_by_adam(encode_votes(load_model("bradley-terry"), read_votes(table)), 0).iterations
    5000
    """
    stacked = {
        name: {key: np.asarray(column)[None] for key, column in part.items()} for name, part in problem.data.items()
    }
    x, earlier = _run_epochs(problem.density, stacked, 1, [seed])
    log_likelihood = problem.density.log_likelihood(problem.density.values(x[0], np), problem.data, np)
    last_change = float(np.abs(x[0] - earlier[0]).max(initial=0.0))
    return Mode(x[0], float(log_likelihood), last_change, EPOCHS, EPOCHS, ())


def adam_modes(density: LogDensity, padded: Data, count: int, seed: list[int]) -> list[Floats]:
    """Fit ``count`` tables of the same sizes by the paper's procedure.

    Parameters
    ----------
    padded : Data
        Tables as stacked by :func:`voirdire.infer.mode.stack_tables`.
    seed : list of int
        Seed of the starting strengths, see :meth:`.LogDensity.maple_starting_points`.
    """
    return list(_run_epochs(density, padded, count, seed)[0])


def _run_epochs(density: LogDensity, stacked: Data, count: int, seed: list[int]) -> tuple[Floats, Floats]:
    """Run the epochs; return their end, and the points ``LAST_EPOCHS`` before it, shape (count, size) each."""
    starts = density.maple_starting_points(np.random.default_rng(seed), count)
    with engine.double_precision():
        end, earlier = _compiled_epochs(density)(starts, stacked)
        return np.asarray(end), np.asarray(earlier)


@lru_cache(maxsize=32)
def _compiled_epochs(density: LogDensity) -> Any:
    def run_table(start: Array, data: Data) -> tuple[Array, Array]:
        slope = jax.grad(lambda x: -density.log_likelihood(density.values(x, jnp), data, jnp))

        def adam_epoch(number: Any, state: Any) -> Any:
            x, mean, square = state
            g = slope(x)
            mean = DECAY_RATES[0] * mean + (1 - DECAY_RATES[0]) * g
            square = DECAY_RATES[1] * square + (1 - DECAY_RATES[1]) * g * g
            step = number + 1.0
            corrected = mean / (1 - DECAY_RATES[0] ** step), square / (1 - DECAY_RATES[1] ** step)
            return x - LEARNING_RATE * corrected[0] / (jnp.sqrt(corrected[1]) + EPSILON), mean, square

        state = (start, jnp.zeros_like(start), jnp.zeros_like(start))
        state = jax.lax.fori_loop(0, EPOCHS - LAST_EPOCHS, adam_epoch, state)
        return jax.lax.fori_loop(EPOCHS - LAST_EPOCHS, EPOCHS, adam_epoch, state)[0], state[0]

    return jax.jit(jax.vmap(run_table))
