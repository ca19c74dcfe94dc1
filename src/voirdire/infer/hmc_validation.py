"""A trial of draws by moves: do they stay where they are when the posterior itself moves them?

Transitions of Hamiltonian Monte Carlo (Neal 2011, Handbook of MCMC, chapter 5) leave the posterior as it is, and its
draws stay distributed as they were. Draws of an approximation drift towards the posterior. So a few chains
begin at the draws, in the whitened coordinates z of the Laplace approximation, x = mean + root z, where few steps
lead far; after a few transitions it is counted how many values of each parameter (all strengths, all coins ...) lie
within the central 90% of the draws. Of an approximation that holds it is 90%; a smaller share is what its 90% intervals
cover, as far as the chains have come. That costs some hundred gradients, however many parameters there are
(importance weights, which ask for the whole of the density, degenerate beyond a hundred).

The target has all orientations alike (:mod:`.mirror`), and draws and chains are folded before they are compared.
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
TARGET_ACCEPTANCE = 0.8  # share of accepted moves that the step is adapted to
FIRST_STEP = 0.5
MAX_CHAINS = 64
MOVES_PER_CHAIN = 3
COUNTED_MOVES = 2  # of them, the last
MAX_WORK = 6e7  # numbers times gradients that a trial may take: of larger tables fewer chains are moved
MIN_CHAINS = 12  # chains
CENTRAL_PROBABILITY = 0.9
MIN_CENTRAL_SHARE = (
    0.87  # share of the chains within the central 90% of the draws, two standard errors allowed
)


@dataclass(frozen=True)
class HmcValidation:
    """Result of a validation by moves.

    Attributes
    ----------
    holds : bool
        Whether the draws stayed where they were.
    share : float
        Of the moved chains within the central 90% of the draws, for the parameter of which it is smallest.
    parameter : str
        The name of that parameter.
    step : float
        Step that was adapted to.
    """

    holds: bool
    share: float
    parameter: str
    step: float


def validate_by_hmc(
    problem: Problem, approximation: Laplace, draws: Floats, rng: np.random.Generator
) -> HmcValidation:
    """Move some draws and count how many stay within the central 90% of all.

    Parameters
    ----------
    draws : array, shape (count, size)
        Of which the approximation is to be tried; from a proper maximum.

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
        np.clip(
            MAX_WORK / (derivatives.work * MOVES_PER_CHAIN * (LEAPFROG_STEPS + 1)), MIN_CHAINS, MAX_CHAINS
        )
    )
    chosen = draws[rng.choice(len(draws), chains, replace=len(draws) < chains)]
    with np.errstate(all="ignore"):  # an orbit that leaves for infinity is not accepted
        ends, step = _move_chains(derivatives, approximation, chosen, rng)

    share, holds, parameter = central_interval_share(problem, draws, ends.reshape(-1, density.size), chains)
    return HmcValidation(holds, share, parameter, step)


def central_interval_share(
    problem: Problem, before: Floats, after: Floats, chains: int
) -> tuple[float, bool, str]:
    """Share of moved draws that lies within the central 90% of others.

    Parameters
    ----------
    before : array, shape (draws, size)
    after : array, shape (moves * chains, size)
        The places of all chains after one move, then those after the next ...

    Returns
    -------
    float
        The share of the values of one parameter, for the parameter of which it is smallest.
    bool
        Whether it is, of every parameter, as large as of draws of one distribution, up to noise.
    str
        The name of that parameter.
    """
    density = problem.density

    def named_values(x: Floats) -> dict[str, Floats]:
        x = fold_draws(density, x, problem.data)[0] if density.has_mirror else x
        return {name: value for name, value in density.values(x, np).items() if value.size}

    before_values, holds, share, parameter = named_values(before), True, 1.0, ""
    for name, value in named_values(after).items():
        low, high = two_quantiles(
            before_values[name], 0.5 - 0.5 * CENTRAL_PROBABILITY, 0.5 + 0.5 * CENTRAL_PROBABILITY
        )
        inside = ((value >= low) & (value <= high)).reshape(-1, chains, value[0].size)
        by_chain = inside.mean(axis=(0, 2))
        mean, error = by_chain.mean(), max(by_chain.std(ddof=1), 0.5 / chains) / np.sqrt(chains)
        holds &= bool(mean + 2.0 * error >= MIN_CENTRAL_SHARE)
        if mean < share:
            share, parameter = float(mean), name
    return share, holds, parameter


def _move_chains(
    derivatives: Derivatives, approximation: Laplace, start: Floats, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Positions of the chains after each of the last moves, shape (moves, chains, size), and the step adapted to."""
    mean, root = approximation.mean, approximation.root

    def energies_and_slopes(z: Floats) -> tuple[Floats, Floats]:
        values, slopes = derivatives.many(mean + z @ root.T)
        return values, slopes @ root

    z = np.asarray(np.linalg.solve(root, (start - mean).T).T, dtype=np.float64)
    point = PathPoint(z, *energies_and_slopes(z))
    log_step, ends = math.log(FIRST_STEP), []
    for _ in range(MOVES_PER_CHAIN):
        momentum = p = rng.standard_normal(z.shape)
        # steps that differ from chain to chain keep orbits from closing
        step = math.exp(log_step) * rng.uniform(0.5, 1.5, (len(z), 1))
        end = point
        for _ in range(LEAPFROG_STEPS):
            p = p - 0.5 * step * end.slope
            position = end.z + step * p
            end = PathPoint(position, *energies_and_slopes(position))
            p = p - 0.5 * step * end.slope
        moved = accept_ends(point, end, p, momentum, rng)
        point = moved.end
        log_step += moved.chance - TARGET_ACCEPTANCE
        ends.append(mean + point.z @ root.T)
    return np.stack(ends[-COUNTED_MOVES:]), math.exp(log_step)
