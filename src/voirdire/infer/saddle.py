"""Draws of a posterior whose search ended at a saddle: between modes that are alike.

Where nobody can tell which judge is right (each has a class of its own) the search, which begins with all judges
alike, ends at the point where they stay so, and the density rises from there towards each of several modes. These are
searched for in the directions in which it does, and each is drawn from as often as its normal approximation says that
it holds: exp(log density) times the root of the determinant of the covariance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.derivatives import Derivatives
from voirdire.infer.importance import systematic_resample
from voirdire.infer.laplace import Laplace, laplace_approximation
from voirdire.infer.mode import find_mode
from voirdire.infer.refine import laplace_draws
from voirdire.model.problem import Problem
from voirdire.typing import Floats

DIRECTIONS = 4  # in which modes are searched for, both ways
LARGEST = 1000  # parameters: of more the directions would take long
BESIDE = 0.1  # on coordinates: nearer is the same mode
LOWEST = 1e-4  # share of the draws from which a mode counts


class FromModes(NamedTuple):
    """Draws about several modes.

    Attributes
    ----------
    best : Laplace
        The approximation at the mode with most draws.
    draws : array, shape (draws, size)
    k : float or None
        The largest tail shape of the weights at one of them; see :func:`.laplace_draws`.
    modes : int
        Number of modes.
    """

    best: Laplace
    draws: Floats
    k: float | None
    modes: int


def draw_about_modes(
    problem: Problem, saddle: Laplace, count: int, rng: np.random.Generator, rounds: int
) -> FromModes | None:
    """Draws about the modes beside a saddle; None where none is found or there are too many parameters.

    Parameters
    ----------
    saddle : Laplace
        Where a search ended that is no proper maximum.
    rounds : int
        See :func:`.laplace_draws`.
    """
    if len(saddle.mean) > LARGEST:
        return None
    found = modes_beside(problem, saddle)
    if not found:
        return None
    log = np.array([log for _, log in found])
    weights = np.exp(log - log.max())
    weights = np.where(weights < LOWEST * weights.sum(), 0.0, weights)
    of = np.bincount(systematic_resample(weights / weights.sum(), count, rng), minlength=len(found))
    drawn = [
        laplace_draws(problem, one, int(number), rng, rounds)
        for (one, _), number in zip(found, of, strict=True)
        if number
    ]
    tails = [k for _, k in drawn if k is not None]
    draws = rng.permutation(np.concatenate([each for each, _ in drawn]))
    return FromModes(found[int(of.argmax())][0], draws, max(tails, default=None), len(drawn))


def modes_beside(problem: Problem, saddle: Laplace) -> list[tuple[Laplace, float]]:
    """Proper modes beside a saddle, each once, with the logarithms of what their approximations hold.

    But for (2 pi)^(size / 2), which all have.
    """
    derivatives = Derivatives(problem.density, problem.data)
    values, vectors = np.linalg.eigh(derivatives.hessian(saddle.mean))
    found: list[tuple[Laplace, float]] = []
    for value, vector in zip(values[:DIRECTIONS], vectors.T[:DIRECTIONS], strict=True):
        if value >= 0:
            break
        for sign in (1.0, -1.0):
            one = laplace_approximation(problem, find_mode(problem, start=saddle.mean + sign * vector))
            known = any(np.abs(one.mean - other.mean).max() < BESIDE for other, _ in found)
            if one.smallest_curvature > 0 and not known:
                volume = float(np.linalg.slogdet(one.root)[1])
                found.append((one, volume - derivatives.both(one.mean)[0]))
    return found
