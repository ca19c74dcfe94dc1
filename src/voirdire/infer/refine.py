"""Draws from the Laplace approximation, corrected as far as their cost allows.

Every table gets the third-order correction of :mod:`voirdire.infer.skew`. Where there are few enough parameters for
importance weights to stay even, the corrected draws are proposals only, with tails a little heavier than normal, and
are resampled with Pareto-smoothed weights: their distribution then is the posterior as far as the proposals reach.

Under a model with a mirror M, proposals are folded into the half A where the prior is larger, where they have the
density q(x) + q(Mx) (the sum over all twins, where there are more), and the target is that of the folded posterior,
L(x) (prior(x) + prior(Mx)).

Posteriors of mixtures (labels, whose hidden classes are summed out) have tails and peaks that no such proposal reaches:
there the resampled draws are moved until they have forgotten where they began (:mod:`voirdire.infer.moves`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voirdire.infer import engine
from voirdire.infer.importance import pareto_smoothed, systematic
from voirdire.infer.laplace import Laplace
from voirdire.infer.mirror import fold, symmetric_log_prior
from voirdire.infer.moves import FORGOTTEN, affordable, moved
from voirdire.infer.skew import skewed
from voirdire.problem import Posed

Floats = npt.NDArray[np.float64]

RESAMPLED_SIZE = 100  # parameters up to which weights are tried; with more they degenerate
PROPOSALS = 4  # per draw wanted, and one more
FREEDOM = 30.0  # of the proposals' multivariate t distribution


def laplace_draws(
    problem: Posed, approximation: Laplace, count: int, rng: np.random.Generator
) -> tuple[Floats, float | None]:
    """Return draws, shape (count, size), and the tail shape k of the weights (None where there were none).

    Where moves made the draws forget the weights, k is 0. Draws that were weighted are folded already
    (:func:`voirdire.infer.mirror.fold`). An approximation that is no proper
    maximum is drawn from as it is: its correction would mean nothing.

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
    >>> draws.shape, k < 0.7
    ((100, 1), True)
    """
    if approximation.smallest_curvature <= 0:
        return approximation.draws(count, rng), None
    corrected = skewed(problem, approximation)
    program = problem.program
    moving = program.mixture and affordable(problem)
    if not 0 < len(corrected.scale) <= RESAMPLED_SIZE and not moving:
        return corrected.draws(count, rng), None
    proposals = corrected.draws(PROPOSALS * (count + 1), rng, FREEDOM)
    if program.has_mirror:
        proposals = fold(program, proposals, problem.data)[0]
    with engine.double_precision():
        log_target = np.asarray(engine.log_densities(program)(proposals, problem.data))
    log_proposal = corrected.log_density(proposals, FREEDOM)
    if program.has_mirror:
        log_target = (
            log_target
            - program.log_oriented(proposals, problem.data, np)
            + symmetric_log_prior(program, proposals, problem.data, np)
        )
        for twin in program.twins(proposals, np):
            log_proposal = np.logaddexp(log_proposal, corrected.log_density(np.asarray(twin), FREEDOM))
    weights, k = pareto_smoothed(np.where(np.isfinite(log_target), log_target, -np.inf) - log_proposal)
    draws = proposals[systematic(weights, count, rng)]
    if not moving:
        return draws, k
    draws, memory = moved(problem, approximation, draws, count, rng)
    return draws, 0.0 if memory <= FORGOTTEN else k
