"""Validation of draws by moves of the posterior, under which draws of a good approximation keep their distribution.

Transitions of Hamiltonian Monte Carlo (Neal 2011, Handbook of MCMC, chapter 5) leave the posterior invariant, so that
its draws keep their distribution, and draws of an approximation drift towards the posterior. A few chains start at the
draws, in the whitened coordinates z of the Laplace approximation, x = mean + root z, where few steps go far. After a
few transitions, the share of values of each parameter (all strengths, all coins ...) within the central 90% of the
draws is computed. For a good approximation it is 90%. A smaller share estimates the coverage of its 90% intervals, up
to the distance that the chains have moved. That costs some hundred gradients for any number of parameters; importance
weights, which depend on the whole density, degenerate beyond a hundred parameters.

The target includes all orientations (:mod:`.mirror`), and draws and chains are folded before they are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from voirdire.infer.derivatives import Derivatives
from voirdire.infer.laplace import Laplace
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, accept_ends
from voirdire.infer.mirror import fold_draws
from voirdire.infer.posterior import two_quantiles
from voirdire.model.problem import Problem
from voirdire.typing import Floats

LEAPFROG_STEPS = 8  # leapfrog steps of a move
TARGET_ACCEPTANCE = 0.8  # share of accepted moves at which adaptation of the step aims
FIRST_STEP = 0.5
MAX_CHAINS = 64
MOVES_PER_CHAIN = 3
COUNTED_MOVES = 2  # last moves that are counted
MAX_WORK = 6e7  # numbers times gradients of a validation, at most: larger tables have fewer chains
MIN_CHAINS = 12  # chains, at least
CENTRAL_PROBABILITY = 0.9
MIN_CENTRAL_SHARE = 0.87  # smallest share of the chains within the central 90% of the draws, up to two standard errors


@dataclass(frozen=True)
class HmcValidation:
    """Result of a validation by moves.

    Attributes
    ----------
    holds : bool
        True if the moved draws stayed within the central 90%.
    share : float
        Share of the moved chains within the central 90% of the draws, for the parameter with the smallest share.
    parameter : str
        Name of that parameter.
    """

    holds: bool
    share: float
    parameter: str


def validate_by_hmc(problem: Problem, approximation: Laplace, draws: Floats, rng: np.random.Generator) -> HmcValidation:
    """Move some draws and compute the share that stays within the central 90% of all draws.

    Parameters
    ----------
    draws : array, shape (count, size)
        Draws of the approximation to validate, which is at a proper maximum.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.laplace import laplace_approximation
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": "x", "second": "y", "winner": ["x", "y"] * 20})
    >>> problem, rng = encode_votes(load_model("bradley-terry"), read_votes(table)), np.random.default_rng(0)
    >>> found = laplace_approximation(problem, find_mode(problem))
    >>> narrow = found.mean + 0.3 * (found.draws(1000, rng) - found.mean)
    >>> [validate_by_hmc(problem, found, draws, rng).holds for draws in (found.draws(1000, rng), narrow)]
    [True, False]
    """
    density, data = problem.density, problem.data
    derivatives = Derivatives(density, data, symmetric=True)
    chains = int(
        np.clip(MAX_WORK / (derivatives.work * MOVES_PER_CHAIN * (LEAPFROG_STEPS + 1)), MIN_CHAINS, MAX_CHAINS)
    )
    chosen = draws[rng.choice(len(draws), chains, replace=len(draws) < chains)]
    with np.errstate(all="ignore"):  # a diverging path is not accepted
        ends = _move_chains(derivatives, approximation, chosen, rng)
    return central_interval_share(problem, draws, ends.reshape(-1, density.size), chains)


def central_interval_share(problem: Problem, reference: Floats, moved: Floats, chains: int) -> HmcValidation:
    """Compute the share of moved draws within the central 90% of the draws before; it holds up to noise.

    Parameters
    ----------
    reference : array, shape (draws, size)
    moved : array, shape (moves * chains, size)
        Positions of all chains after one move, then after the next ...
    """
    density = problem.density

    def named_values(x: Floats) -> dict[str, Floats]:
        x = fold_draws(density, x, problem.data)[0] if density.has_mirror else x
        return {name: value for name, value in density.values(x, np).items() if value.size}

    before_values, holds, share, parameter = named_values(reference), True, 1.0, ""
    for name, value in named_values(moved).items():
        low, high = two_quantiles(before_values[name], 0.5 - 0.5 * CENTRAL_PROBABILITY, 0.5 + 0.5 * CENTRAL_PROBABILITY)
        inside = ((value >= low) & (value <= high)).reshape(-1, chains, value[0].size)
        by_chain = inside.mean(axis=(0, 2))
        mean, error = by_chain.mean(), max(by_chain.std(ddof=1), 0.5 / chains) / np.sqrt(chains)
        holds &= bool(mean + 2.0 * error >= MIN_CENTRAL_SHARE)
        if mean < share:
            share, parameter = float(mean), name
    return HmcValidation(holds, share, parameter)


def _move_chains(derivatives: Derivatives, approximation: Laplace, start: Floats, rng: np.random.Generator) -> Floats:
    """Move chains; return their positions after the last moves, shape (moves, chains, size)."""
    mean, root = approximation.mean, approximation.root

    def energies_and_slopes(z: Floats) -> tuple[Floats, Floats]:
        values, slopes = derivatives.many(mean + z @ root.T)
        return values, slopes @ root

    z = np.asarray(np.linalg.solve(root, (start - mean).T).T, dtype=np.float64)
    point = PathPoint(z, *energies_and_slopes(z))
    log_step, ends = math.log(FIRST_STEP), []
    for _ in range(MOVES_PER_CHAIN):
        momentum = p = rng.standard_normal(z.shape)
        # different steps of chains avoid periodic orbits
        step = math.exp(log_step) * rng.uniform(0.5, 1.5, (len(z), 1))
        end = point
        for _ in range(LEAPFROG_STEPS):
            p = p - 0.5 * step * end.slope
            position = end.z + step * p
            end = PathPoint(position, *energies_and_slopes(position))
            p = p - 0.5 * step * end.slope
        path = accept_ends(point, end, p, momentum, rng)
        point = path.end
        log_step += path.chance - TARGET_ACCEPTANCE
        ends.append(mean + point.z @ root.T)
    return np.stack(ends[-COUNTED_MOVES:])
