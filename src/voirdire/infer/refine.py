"""Draws from the Laplace approximation, corrected as far as their cost allows.

Every table gets the third-order correction of :mod:`voirdire.infer.skew`. Where there are few enough parameters for
importance weights to stay even, the corrected draws are then resampled with Pareto-smoothed weights, which makes them
draws of the posterior itself within the orientation found. Where the weights fail (k too large), the corrected draws
stand as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer import engine
from voirdire.infer.importance import pareto_smoothed, systematic
from voirdire.infer.laplace import Laplace
from voirdire.infer.skew import skewed
from voirdire.problem import Problem

Floats = npt.NDArray[np.float64]

RESAMPLED_SIZE = 100  # parameters up to which weights are tried; with more they degenerate
PROPOSALS = 2000
LARGEST_K = 0.7


def laplace_draws(
    problem: Problem, approximation: Laplace, count: int, rng: np.random.Generator
) -> tuple[Floats, float | None]:
    """Return draws, shape (count, size), and the tail shape k of the weights (None where none were tried).

    An approximation that is no proper maximum is drawn from as it is: its correction would mean nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.laplace import laplace
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.problem import pose
    >>> from voirdire.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = pose(load_model("bradley-terry"), read_votes(table))
    >>> draws, k = laplace_draws(problem, laplace(problem, find_mode(problem)), 100, np.random.default_rng(0))
    >>> draws.shape, k < LARGEST_K
    ((100, 1), True)
    """
    if approximation.smallest_curvature <= 0:
        return approximation.draws(count, rng), None
    corrected = skewed(problem, approximation)
    if not 0 < len(corrected.scale) <= RESAMPLED_SIZE:
        return corrected.draws(count, rng)[0], None
    proposals, log_proposal = corrected.draws(max(PROPOSALS, count), rng)
    with engine.double_precision():
        log_target = np.asarray(engine.log_densities(problem.program)(proposals, problem.data))
    weights, k = pareto_smoothed(np.where(np.isfinite(log_target), log_target, -np.inf) - log_proposal)
    if k > LARGEST_K:
        return proposals[:count], k
    return proposals[systematic(weights, count, rng)], k
