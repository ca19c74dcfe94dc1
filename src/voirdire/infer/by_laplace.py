"""The Laplace approximation, tried and, by the default method, made better where it does not hold."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.by_nuts import infer_by_nuts
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.hmc_cost import moves_affordable
from voirdire.infer.laplace import Laplace
from voirdire.infer.method import LAPLACE_DRAWS, UNHELD, Inferred, Method, seconds_since
from voirdire.infer.posterior import Posterior
from voirdire.infer.refine import ROUNDS, laplace_draws
from voirdire.infer.saddle import draw_about_modes
from voirdire.infer.trial import validate_by_hmc
from voirdire.model.check import Check
from voirdire.model.problem import Problem
from voirdire.typing import Floats

QUICK = 5_000  # numbers of a table up to which importance weights are evened out before draws are moved
MODES = (
    "The answers leave open which of {} explanations is right: draws are of each as often as it is probable."
)
TYPICAL = 1.0  # standard deviations from the mean of the draws within which a mode is shown


def infer_by_laplace(
    problem: Problem, approximation: Laplace, method: Method, checks: list[Check]
) -> Inferred:
    """The posterior by the approximation, or by what does better where the method may choose."""
    density, rng, adaptive = problem.density, np.random.default_rng(method.seed), method.name == "auto"
    # what follows does better than to match moments; of small tables that is done sooner
    large = adaptive and Derivatives(density, problem.data).work > QUICK
    rounds = 0 if large else ROUNDS
    notes: tuple[str, ...] = ()
    beside = None
    if density.mixture and approximation.smallest_curvature <= 0:
        beside = draw_about_modes(problem, approximation, LAPLACE_DRAWS, rng, rounds)
    if beside is None:
        draws, k = laplace_draws(problem, approximation, LAPLACE_DRAWS, rng, rounds)
    else:
        approximation, draws, k, modes = beside
        notes = (MODES.format(modes),) if modes > 1 else ()
    proper = approximation.smallest_curvature > 0
    amiss = check.check_importance_weights(k)
    # even weights do not see a peak that no proposal reached
    tried = k is None or (adaptive and not amiss and not density.mixture)
    if tried and draws.size and proper:
        remedy = "use method='nuts'" if adaptive else "leave out the method, or use method='nuts'"
        amiss = check.check_approximation(validate_by_hmc(problem, approximation, draws, rng), remedy)
    if adaptive and (amiss or not proper):
        better = _find_better_draws(problem, approximation, draws, method, checks, rng)
        if better is not None:
            return better
    checks += [check.check_curvature(approximation.smallest_curvature), *amiss]
    draws = draws[None]
    centre = _posterior_centre(approximation.mean, draws)
    if density.has_mirror:
        # weighted draws are those of the folded posterior, as a sampler's that targets both orientations alike
        both = mirror.weigh_orientations(density, draws, problem.data, k is not None, rng)
        checks.append(problem.orientation_check(both.mass))
        centre, draws = _posterior_centre(approximation.mean, both.folded), both.whole
    return Inferred(Posterior(density, centre, draws), tuple(checks), notes=notes)


def _find_better_draws(
    problem: Problem,
    approximation: Laplace,
    draws: Floats,
    method: Method,
    checks: list[Check],
    rng: np.random.Generator,
) -> Inferred | None:
    """Find better draws where Laplace does not hold: its draws moved, or NUTS; None where either would take minutes."""
    from voirdire.infer import hmc_moves, nuts

    density, start, said = problem.density, time.perf_counter(), UNHELD
    steps = nuts.USUAL_STEPS
    # draws of mixtures have been moved already
    if not density.mixture and approximation.smallest_curvature > 0 and moves_affordable(problem):
        run = hmc_moves.rejuvenate_draws(problem, approximation, draws, LAPLACE_DRAWS, rng)
        steps = nuts.leapfrog_count(run.step)
        did = f"{run.chains} chains of Hamiltonian Monte Carlo moved its draws {run.moves} times"
        if run.has_converged:
            centre, whole = run.draws.mean(axis=0), run.draws[None]
            if density.has_mirror:
                both = mirror.weigh_orientations(density, whole, problem.data, True, rng)
                checks.append(problem.orientation_check(both.mass))
                whole = both.whole
            note = f"{said}: {did}, until they had forgotten where they began ({seconds_since(start)})."
            return Inferred(Posterior(density, centre, whole), tuple(checks), method="hmc", notes=(note,))
        said += f", and {did} without arriving"
    if not nuts.is_affordable(problem, method.chains * (method.warmup + method.draws), steps):
        return None
    sampled = infer_by_nuts(problem, approximation, replace(method, sampler="numpyro"), checks)
    note = f"{said}: NUTS drew from the posterior itself ({seconds_since(start)})."
    return replace(sampled, notes=(note,))


def _posterior_centre(mode: Floats, draws: Floats) -> Floats:
    """The mode, or the mean of the draws, shape (chains, draws, size), where the mode is not typical of them.

    A mode may lie in a corner that hardly any draw visits: strengths that follow one judge, a noise near zero. It is
    typical where no coordinate is more than a standard deviation from the draws' mean.
    """
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    return mode if np.all(np.abs(mean - mode) <= TYPICAL * sd) else mean
