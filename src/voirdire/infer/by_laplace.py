"""Posteriors by NUTS, or by the Laplace approximation, which the default method improves where it is poor.

If a search ended at a saddle, draws come from the equivalent modes around it. This happens where the answers do not
show which judge is right (each has its own class). The search starts with all judges alike and ends at the point where
they stay alike, from which the density rises towards several modes. These are searched for in the rising directions.
Each mode gets draws in proportion to the mass of its normal approximation: exp(log density) times the root of the
determinant of the covariance.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.checks import validate_by_hmc
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.hmc_cost import moves_affordable
from voirdire.infer.importance import systematic_resample
from voirdire.infer.laplace import Laplace, laplace_approximation
from voirdire.infer.latent_gaussian.mode import LatentMode
from voirdire.infer.method import LAPLACE_DRAWS, NO_LAPLACE_PREFIX, Inferred, Method, oriented_posterior, seconds_since
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.infer.refine import MAX_ROUNDS, laplace_draws
from voirdire.model.problem import Check, Problem
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.infer.nuts import Draws


def infer_by_nuts(problem: Problem, start: Laplace | LatentMode, method: Method, checks: list[Check]) -> Inferred:
    """Sample the posterior by NUTS, in the coordinates of an approximation or of a nested search."""
    density = problem.density
    run = _sample_draws(problem, start, method)
    draws = unfolded = run.x
    if density.has_mirror:
        rng = np.random.default_rng(method.seed)
        orientations = mirror.weigh_orientations(density, run.x, problem.data, run.alike, rng)
        draws, unfolded = orientations.folded, orientations.all_draws
        checks.append(problem.orientation_check(orientations.mass))
        if not run.alike and orientations.folded_share:
            checks.append(check.check_both_modes(orientations.folded_share))
    checks += check.check_sampling(diagnose_draws(density, draws, run.diverging, run.energy))
    stats = {"diverging": run.diverging, "energy": run.energy, "n_steps": run.steps}
    return Inferred(Posterior(density, draws.mean(axis=(0, 1)), unfolded), tuple(checks), stats, "nuts")


def _sample_draws(problem: Problem, start: Laplace | LatentMode, method: Method) -> Draws:
    chains, warmup, draws = method.chains, method.warmup, method.draws
    if method.sampler != "numpyro":
        from voirdire.infer.pymc_model import sample_pymc

        return sample_pymc(problem, method.sampler, method.seed, chains, warmup, draws)
    from voirdire.infer import nuts  # JAX
    from voirdire.infer.latent_gaussian import nuts as nested_nuts

    done, lock, total = 0, threading.Lock(), chains * (warmup + draws)

    def report_progress(count: int) -> None:
        nonlocal done
        with lock:
            done = min(done + count, total)
            if method.progress is not None:
                method.progress(done, total, "")

    if isinstance(start, LatentMode):
        sample = partial(nested_nuts.sample_nuts, start.search)
    else:
        sample = partial(nuts.sample_nuts, problem, start)
    return sample(seed=method.seed, chains=chains, warmup=warmup, draws=draws, progress=report_progress)


MAX_DIRECTIONS = 4  # directions in which modes are searched for, both ways
MAX_PARAMETERS = 1000  # parameters up to which that is done: the directions of more take long
MIN_MODE_DISTANCE = 0.1  # largest difference of coordinates below which two modes are the same
MIN_MODE_SHARE = 1e-4  # share of the mass below which a mode gets no draws


def draw_about_modes(
    problem: Problem, saddle: Laplace, count: int, rng: np.random.Generator, rounds: int
) -> tuple[Laplace, Floats, float | None, int] | None:
    """Draw about the modes near a saddle; None if no mode is found or there are too many parameters.

    Parameters
    ----------
    saddle : Laplace
        Approximation at the end of a search that is not a proper maximum.
    rounds : int
        See :func:`.laplace_draws`.

    Returns
    -------
    Laplace
        Approximation at the mode with most draws.
    array, shape (draws, size)
    float or None
        Largest tail shape of the weights at any mode; see :func:`.laplace_draws`.
    int
        Number of modes with draws.
    """
    if len(saddle.mean) > MAX_PARAMETERS:
        return None
    modes = modes_near_saddle(problem, saddle)
    if not modes:
        return None
    log_mass = np.array([log_mass for _, log_mass in modes])
    weights = np.exp(log_mass - log_mass.max())
    weights = np.where(weights < MIN_MODE_SHARE * weights.sum(), 0.0, weights)
    counts = np.bincount(systematic_resample(weights / weights.sum(), count, rng), minlength=len(modes))
    samples = [
        laplace_draws(problem, mode, int(number), rng, rounds)
        for (mode, _), number in zip(modes, counts, strict=True)
        if number
    ]
    tails = [k for _, k in samples if k is not None]
    draws = rng.permutation(np.concatenate([part for part, _ in samples]))
    return modes[int(counts.argmax())][0], draws, max(tails, default=None), len(samples)


def modes_near_saddle(problem: Problem, saddle: Laplace) -> list[tuple[Laplace, float]]:
    """Find proper modes near a saddle, each once, with the log mass of their approximations.

    The common factor (2 pi)^(size / 2) is left out.
    """
    derivatives = Derivatives(problem.density, problem.data)
    values, vectors = np.linalg.eigh(derivatives.hessian(saddle.mean))
    modes: list[tuple[Laplace, float]] = []
    for value, vector in zip(values[:MAX_DIRECTIONS], vectors.T[:MAX_DIRECTIONS], strict=True):
        if value >= 0:
            break
        for sign in (1.0, -1.0):
            mode = laplace_approximation(problem, find_mode(problem, start=saddle.mean + sign * vector))
            is_known = any(np.abs(mode.mean - earlier.mean).max() < MIN_MODE_DISTANCE for earlier, _ in modes)
            if mode.smallest_curvature > 0 and not is_known:
                volume = float(np.linalg.slogdet(mode.root)[1])
                modes.append((mode, volume - derivatives.value_gradient(mode.mean)[0]))
    return modes


MAX_REFINED_NUMBERS = 5_000  # numbers of a table up to which moments are matched before draws are moved
SEVERAL_MODES_NOTE = "The answers fit {} different explanations; draws include each in proportion to its probability."
TYPICAL_SDS = 1.0  # largest distance of a mode that is shown from the mean of the draws, in standard deviations


def infer_by_laplace(problem: Problem, approximation: Laplace, method: Method, checks: list[Check]) -> Inferred:
    """Infer the posterior by the approximation, or by a better method if the method is "auto"."""
    density, rng, adaptive = problem.density, np.random.default_rng(method.seed), method.name == "auto"
    # moves or NUTS improve more than moment matching, which is quick for small tables only
    large = adaptive and Derivatives(density, problem.data).work > MAX_REFINED_NUMBERS
    rounds = 0 if large else MAX_ROUNDS
    notes: tuple[str, ...] = ()
    mode_draws = None
    if approximation.smallest_curvature <= 0:
        mode_draws = draw_about_modes(problem, approximation, LAPLACE_DRAWS, rng, rounds)
    if mode_draws is None:
        draws, k = laplace_draws(problem, approximation, LAPLACE_DRAWS, rng, rounds)
    else:
        approximation, draws, k, modes = mode_draws
        notes = (SEVERAL_MODES_NOTE.format(modes),) if modes > 1 else ()
    proper = approximation.smallest_curvature > 0
    warning_checks = check.check_importance_weights(k)
    # even weights do not show a peak that no proposal reached
    needs_validation = k is None or (adaptive and not warning_checks and not density.mixture)
    if needs_validation and draws.size and proper:
        remedy = "use method='nuts'" if adaptive else "leave out the method, or use method='nuts'"
        warning_checks = check.check_approximation(validate_by_hmc(problem, approximation, draws, rng), remedy)
    if adaptive and (warning_checks or not proper):
        improved = _find_better_draws(problem, approximation, draws, method, checks, rng)
        if improved is not None:
            return improved
    checks += [check.check_curvature(approximation.smallest_curvature), *warning_checks]
    draws = draws[None]
    centre = _posterior_centre(approximation.mean, draws)
    if density.has_mirror:
        # weighted draws are from the folded posterior, like those of a sampler that targets both orientations
        orientations = mirror.weigh_orientations(density, draws, problem.data, k is not None, rng)
        checks.append(problem.orientation_check(orientations.mass))
        centre, draws = _posterior_centre(approximation.mean, orientations.folded), orientations.all_draws
    return Inferred(Posterior(density, centre, draws), tuple(checks), notes=notes)


def _find_better_draws(
    problem: Problem,
    approximation: Laplace,
    draws: Floats,
    method: Method,
    checks: list[Check],
    rng: np.random.Generator,
) -> Inferred | None:
    """Improve draws where Laplace is poor: by moves of its draws, or by NUTS; None if either would take minutes."""
    from voirdire.infer import hmc_moves, nuts

    density, start, reason = problem.density, time.perf_counter(), NO_LAPLACE_PREFIX
    steps = nuts.DEFAULT_STEPS
    # draws of mixtures were moved already
    if not density.mixture and approximation.smallest_curvature > 0 and moves_affordable(problem):
        run = hmc_moves.rejuvenate_draws(problem, approximation, draws, LAPLACE_DRAWS, rng)
        steps = nuts.leapfrog_count(run.step)
        moves_note = f"{run.chains} chains of Hamiltonian Monte Carlo moved its draws {run.moves} times"
        if run.has_converged:
            note = f"{reason}: {moves_note}, until they no longer depended on their start ({seconds_since(start)})."
            centre, moved = run.draws.mean(axis=0), run.draws[None]
            return oriented_posterior(problem, centre, moved, checks, rng, alike=True, method="hmc", notes=(note,))
        reason += f", and {moves_note} without converging"
    if not nuts.is_affordable(problem, method.chains * (method.warmup + method.draws), steps):
        return None
    sampled = infer_by_nuts(problem, approximation, replace(method, sampler="numpyro"), checks)
    note = f"{reason}: NUTS drew from the posterior itself ({seconds_since(start)})."
    return replace(sampled, notes=(note,))


def _posterior_centre(mode: Floats, draws: Floats) -> Floats:
    """Return the mode, or the mean of the draws, shape (chains, draws, size), if the mode is not typical of them.

    A mode may lie in a region with hardly any draws: strengths that follow one judge, a noise near zero. It is typical
    if every coordinate is within a standard deviation of the draws' mean.
    """
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    return mode if np.all(np.abs(mean - mode) <= TYPICAL_SDS * sd) else mean
