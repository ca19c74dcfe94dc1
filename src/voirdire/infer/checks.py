"""Checks by a method of inference of its own result, and validation of draws by moves of the posterior.

Validation of draws by moves of the posterior, under which draws of a good approximation keep their distribution.

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
from voirdire.model.problem import Check, Level, Problem
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


MAX_RHAT = 1.01
MIN_ESS = 400.0
MAX_AGREEING_RHAT, MIN_AGREEING_ESS = (1.1, 100.0)  # limits of R-hat and effective sample size for chains that agree
MIN_EBFMI = 0.3
LAST_EPOCHS = 500  # last epochs of Adam, over which changes are checked
MAX_LAST_CHANGE = 0.1  # largest change of a coordinate over these epochs at convergence
MAX_PARETO_K = 0.7  # largest k of reliable importance weights (Vehtari et al. 2024)


def check_convergence(gradient: float, converged: bool) -> Check:
    """Check whether the search for the mode converged."""
    if converged:
        return Check("convergence", "ok", gradient, f"The mode was found (largest gradient component {gradient:.1e}).")
    message = (
        f"The search for the mode stopped with a gradient of {gradient:.1e}; the numbers below are not the mode's. Use "
        "tighter priors or report the table."
    )
    return Check("convergence", "fail", gradient, message)


def check_adam_convergence(largest_change: float) -> Check:
    """Check whether a coordinate still moved in the last epochs of Adam; ``largest_change`` is the largest change."""
    if largest_change <= MAX_LAST_CHANGE:
        message = f"The last {LAST_EPOCHS} epochs of Adam moved no number by more than {largest_change:.1e}."
        return Check("convergence", "ok", largest_change, message)
    message = (
        f"The last {LAST_EPOCHS} epochs of Adam still moved a number by {largest_change:.2g}: the likelihood has no "
        "highest point (an item that always wins, a judge that never errs), and the numbers are where the epochs end. "
        "Use method='map', whose priors keep them finite."
    )
    return Check("convergence", "warn", largest_change, message)


def check_curvature(smallest: float) -> Check:
    """Check whether the posterior is curved in every direction at the mode."""
    if smallest > 0:
        return Check("curvature", "ok", smallest, "The posterior falls off in every direction around the mode.")
    message = (
        "The mode is no proper maximum (a direction of the posterior is flat or rises), so Laplace intervals are "
        "not to be trusted; use method='nuts' or tighter priors."
    )
    return Check("curvature", "fail", smallest, message)


def check_importance_weights(k: float | None) -> list[Check]:
    """Warn if the tail shape k shows that importance weights cannot correct the Laplace draws; else return nothing."""
    if k is None or k <= MAX_PARETO_K:
        return []
    message = (
        f"The posterior is far from the normal approximation (Pareto k {k:.2f}, above {MAX_PARETO_K}): intervals may "
        "be too narrow; use method='nuts'."
    )
    return [Check("approximation", "warn", k, message)]


def check_approximation(validation: HmcValidation, remedy: str) -> list[Check]:
    """Warn if draws of the approximation are too narrow, with the remedy; else return nothing."""
    if validation.holds:
        return []
    message = (
        f"The approximation is too narrow here: its {CENTRAL_PROBABILITY:.0%} intervals hold about "
        f"{validation.share:.0%} ({validation.parameter}); {remedy}."
    )
    return [Check("approximation", "warn", validation.share, message)]


def check_propagation(amiss: str) -> list[Check]:
    """Warn if expectation propagation was needed and did not converge; ``amiss`` is the reason, else empty."""
    if not amiss:
        return []
    message = (
        f"There are few answers for each latent value, and expectation propagation did not converge ({amiss}): spreads "
        "were found by Laplace's method, which makes them and the intervals too small. Ask more about fewer items, "
        "or in fewer contexts."
    )
    return [Check("approximation", "warn", None, message)]


def check_chains(rhat: float, parameter: str, smallest_ess: float) -> list[Check]:
    """Check whether chains have converged; replaces the check of the search from which they started.

    Chains that ended early but agree have fewer effective draws, which their intervals include. Chains that disagree
    may be in different regions, so that their draws are unreliable.
    """
    fact = f"largest R-hat {rhat:.2f}, {parameter}; smallest effective sample size {smallest_ess:.0f}"
    if rhat <= MAX_RHAT and smallest_ess >= MIN_ESS:
        return [Check("convergence", "ok", rhat, f"The sampler has converged ({fact}).")]
    error = 1.0 / np.sqrt(max(smallest_ess, 1.0))
    if rhat <= MAX_AGREEING_RHAT and smallest_ess >= MIN_AGREEING_ESS:
        message = (
            f"The sampler has converged, with few draws ({fact}): numbers are known to {error:.0%} of a standard "
            "deviation, which the intervals include. More seconds (seconds=, --seconds) give more draws."
        )
        return [Check("convergence", "ok", rhat, message)]
    message = (
        f"The sampler has not converged ({fact}): numbers may be off by {error:.0%} of a standard deviation or more, "
        "and intervals too narrow; give it longer (seconds=, --seconds)."
    )
    return [Check("convergence", "warn", rhat if np.isfinite(rhat) else None, message)]


def check_both_modes(share: float) -> Check:
    """Warn that chains of a sampler that targets one orientation were partly in the other."""
    message = (
        f"{share:.0%} of the draws lay in the mirrored mode and were folded back: this sampler cannot weigh the two "
        "modes. Use sampler='numpyro', which targets both alike."
    )
    return Check("both-modes", "warn", share, message)


def check_sampling(diagnostics: dict[str, float | str]) -> list[Check]:
    """Check R-hat, bulk and tail effective sample size, divergences and E-BFMI of a NUTS run."""
    rhat, bulk, tail = (float(diagnostics[key]) for key in ("rhat", "ess_bulk", "ess_tail"))
    worst_rhat, worst_bulk, worst_tail = (diagnostics[f"{name}_of"] for name in ("rhat", "ess_bulk", "ess_tail"))
    divergences, ebfmi = float(diagnostics["divergences"]), float(diagnostics["ebfmi"])
    size, more = "effective sample size", "draw more (draws=, warmup=; --draws, --warmup)"
    missed = "the sampler missed a narrow region; use tighter priors"
    rows = (
        ("rhat", rhat <= MAX_RHAT, f"Largest R-hat {rhat:.4f} ({worst_rhat})", f"chains disagree; {more}"),
        ("ess_bulk", bulk >= MIN_ESS, f"Smallest bulk {size} {bulk:.0f} ({worst_bulk})", f"means are noisy; {more}"),
        (
            "ess_tail",
            tail >= MIN_ESS,
            f"Smallest tail {size} {tail:.0f} ({worst_tail})",
            f"interval ends are noisy; {more}",
        ),
        ("divergences", divergences == 0, f"{divergences:.0f} divergent transitions", missed),
        ("ebfmi", ebfmi >= MIN_EBFMI, f"Smallest E-BFMI {ebfmi:.2f}", f"the energy is explored slowly; {more}"),
    )
    return [_threshold_check(row[0], float(diagnostics[row[0]]), *row[1:]) for row in rows]


def _threshold_check(name: str, value: float, fine: bool, fact: str, otherwise: str) -> Check:
    if fine:
        return Check(name, "ok", value, f"{fact}.")
    level: Level = "fail" if name in ("rhat", "divergences") else "warn"
    return Check(name, level, value if np.isfinite(value) else None, f"{fact}: {otherwise}.")
