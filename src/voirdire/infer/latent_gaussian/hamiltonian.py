"""Paths of Hamiltonian Monte Carlo for many chains at once (Neal 2011, Handbook of MCMC, chapter 5).

A step takes two gradients, and is half as long again as two leapfrog steps with the same error (Blanes, Casas and
Sanz-Serna 2014, SIAM Journal on Scientific Computing 36).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.cost import MAX_PATH_LENGTH, MAX_PATH_STEPS, MIN_PATH_LENGTH
from voirdire.typing import Bools, Floats

TARGET_ACCEPTANCE = 0.8  # share of accepted paths at which adaptation of the step aims
OUTER_SHARE = 0.21178  # share of a step in the first and in the last of its three changes of momentum

#: Function of points, shape (chains, size): minus their log density, shape (chains,), and its gradient.
EnergyFunction = Callable[[Floats], tuple[Floats, Floats]]


class PathPoint(NamedTuple):
    """Positions of chains, shape (chains, size), with minus the log density there and its gradient."""

    z: Floats
    value: Floats
    slope: Floats


class Path(NamedTuple):
    """Positions of chains after a path, mask of accepted chains, shape (chains,), and mean acceptance probability."""

    end: PathPoint
    went: Bools
    chance: float


#: Function of a start, momentum, number of steps and step length that follows paths; see :func:`follow_path`.
PathFunction = Callable[[PathPoint, Floats, int, float], tuple[PathPoint, Floats]]


def follow_path(
    energy: EnergyFunction, start: PathPoint, momentum: Floats, steps: int, step: float
) -> tuple[PathPoint, Floats]:
    """Follow the paths of all chains with momentum, shape (chains, size); return their ends and the momentum there."""
    position, value, slope = start
    p = momentum
    for _ in range(steps):
        p = p - OUTER_SHARE * step * slope
        position = position + 0.5 * step * p
        p = p - (1.0 - 2.0 * OUTER_SHARE) * step * energy(position)[1]
        position = position + 0.5 * step * p
        value, slope = energy(position)
        p = p - OUTER_SHARE * step * slope
    return PathPoint(position, value, slope), p


def sample_path(
    follow: PathFunction,
    start: PathPoint,
    log_step: float,
    rng: np.random.Generator,
    lengths: tuple[float, float] = (MIN_PATH_LENGTH, MAX_PATH_LENGTH),
) -> Path:
    """Make one transition of all chains; the path length is uniform between ``lengths``; a quarter turn is 1.57."""
    length = rng.uniform(*lengths)
    steps = math.ceil(length / math.exp(log_step))
    step, steps = length / steps, min(steps, MAX_PATH_STEPS)
    momentum = rng.standard_normal(start.z.shape)
    with np.errstate(all="ignore"):  # a diverging path is not accepted
        return accept_ends(start, *follow(start, momentum, steps, step), momentum, rng)


def accept_ends(start: PathPoint, end: PathPoint, p: Floats, momentum: Floats, rng: np.random.Generator) -> Path:
    """Accept or reject ends of paths with momentum p there and ``momentum`` at the start; rejected chains stay."""
    (z, value, slope), (new_z, new_value, new_slope) = start, end
    with np.errstate(all="ignore"):
        gain = value - new_value + 0.5 * ((momentum**2).sum(axis=1) - (p**2).sum(axis=1))
        chance = np.where(np.isnan(gain), 0.0, np.exp(np.minimum(gain, 0.0)))
    went = rng.random(len(z)) < chance
    z, slope = (np.where(went[:, None], *pair) for pair in ((new_z, z), (new_slope, slope)))
    return Path(PathPoint(z, np.where(went, new_value, value), slope), went, float(chance.mean()))


def adapt_step(log_step: float, chance: float, turn: int) -> float:
    """Compute the logarithm of the next step after warm-up move ``turn``, from its acceptance probability."""
    return log_step + (chance - TARGET_ACCEPTANCE) * min(1.0, 10.0 / (turn + 5.0))
