"""MAPLE's own procedure: Adam on the summed negative log likelihood, without priors.

The paper names gradient descent with 5,000 epochs and a learning rate of 0.01. Plain gradient descent at that rate does
not arrive at its Table 2; Adam (Kingma and Ba 2015, default decay rates) on the loss of eq. 5 does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from voirdire.infer import engine
from voirdire.model.density import Data, LogDensity
from voirdire.model.terms.arrays import Array

Floats = npt.NDArray[np.float64]

EPOCHS = 5000
RATE = 0.01
DECAY = (0.9, 0.999)
TINY = 1e-8
START_ETA = 0.8


def adam_modes(density: LogDensity, padded: Data, count: int, seed: list[int]) -> list[Floats] | None:
    """Fit ``count`` stacked tables by the paper's procedure; None for models without MAPLE's reliability eta.

    Parameters
    ----------
    padded : Data
        As :func:`voirdire.infer.mode.pad` stacks them.
    seed : list of int
        Seeds the starting strengths, Normal(0, 0.01); reliabilities start at 0.8, weights equal.
    """
    if "reliability" not in density.slices:
        return None
    starts = 0.01 * np.random.default_rng(seed).standard_normal((count, density.size))
    for name, part in density.slices.items():
        if name != "strength":
            starts[:, part] = np.log(START_ETA / (1 - START_ETA)) if name == "reliability" else 0.0
    with engine.double_precision():
        return list(np.asarray(_compiled(density)(starts, padded)))


@lru_cache(maxsize=32)
def _compiled(density: LogDensity) -> Any:
    def one(start: Array, data: Data) -> Array:
        slope = jax.grad(lambda x: -density.log_likelihood(density.values(x, jnp), data, jnp))

        def epoch(number: Any, state: Any) -> Any:
            x, mean, square = state
            g = slope(x)
            mean = DECAY[0] * mean + (1 - DECAY[0]) * g
            square = DECAY[1] * square + (1 - DECAY[1]) * g * g
            step = number + 1.0
            corrected = mean / (1 - DECAY[0] ** step), square / (1 - DECAY[1] ** step)
            return x - RATE * corrected[0] / (jnp.sqrt(corrected[1]) + TINY), mean, square

        return jax.lax.fori_loop(0, EPOCHS, epoch, (start, jnp.zeros_like(start), jnp.zeros_like(start)))[0]

    return jax.jit(jax.vmap(one))
