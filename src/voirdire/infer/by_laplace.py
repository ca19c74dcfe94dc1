"""The Laplace approximation, tried and, by the default method, made better where it does not hold.

Posteriors by NUTS.

Draws of a posterior whose search ended at a saddle: between modes that are alike.

Where nobody can tell which judge is right (each has a class of its own) the search, which begins with all judges
alike, ends at the point where they stay so, and the density rises from there towards each of several modes. These are
searched for in the directions in which it does, and each is drawn from as often as its normal approximation says that
it holds: exp(log density) times the root of the determinant of the covariance.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.hmc_cost import moves_affordable
from voirdire.infer.hmc_validation import validate_by_hmc
from voirdire.infer.importance import systematic_resample
from voirdire.infer.laplace import Laplace, laplace_approximation
from voirdire.infer.latent_gaussian.mode import LatentMode
from voirdire.infer.method import (
    LAPLACE_DRAWS,
    NO_LAPLACE_PREFIX,
    Inferred,
    Method,
    oriented_posterior,
    seconds_since,
)
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Posterior
from voirdire.infer.refine import MAX_ROUNDS, laplace_draws
from voirdire.model.problem import Check, Problem
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.infer.nuts import Draws


def infer_by_nuts(
    problem: Problem, start: Laplace | LatentMode, method: Method, checks: list[Check]
) -> Inferred:
    """The posterior by NUTS, in the coordinates that an approximation or a nested search gives."""
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
        from voirdire.infer.pymc_samplers import sample_pymc

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
        return nested_nuts.sample_nuts(
            start.search,
            seed=method.seed,
            chains=chains,
            warmup=warmup,
            draws=draws,
            progress=report_progress,
        )
    return nuts.sample_nuts(
        problem, start, seed=method.seed, chains=chains, warmup=warmup, draws=draws, progress=report_progress
    )


MAX_DIRECTIONS = 4  # in which modes are searched for, both ways
MAX_PARAMETERS = 1000  # parameters: of more the directions would take long
MIN_MODE_DISTANCE = 0.1  # on coordinates: nearer is the same mode
MIN_MODE_SHARE = 1e-4  # share of the draws from which a mode counts


class ModeDraws(NamedTuple):
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
) -> ModeDraws | None:
    """Draws about the modes beside a saddle; None where none is found or there are too many parameters.

    Parameters
    ----------
    saddle : Laplace
        Where a search ended that is no proper maximum.
    rounds : int
        See :func:`.laplace_draws`.
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
    return ModeDraws(modes[int(counts.argmax())][0], draws, max(tails, default=None), len(samples))


def modes_near_saddle(problem: Problem, saddle: Laplace) -> list[tuple[Laplace, float]]:
    """Proper modes beside a saddle, each once, with the log mass of their approximations.

    But for (2 pi)^(size / 2), which all have.
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


MAX_REFINED_NUMBERS = (
    5_000  # numbers of a table up to which importance weights are evened out before draws are moved
)
SEVERAL_MODES_NOTE = (
    "The answers leave open which of {} explanations is right: draws are of each as often as it is probable."
)
TYPICAL_SDS = 1.0  # standard deviations from the mean of the draws within which a mode is shown


def infer_by_laplace(
    problem: Problem, approximation: Laplace, method: Method, checks: list[Check]
) -> Inferred:
    """The posterior by the approximation, or by a better method where the method may choose."""
    density, rng, adaptive = problem.density, np.random.default_rng(method.seed), method.name == "auto"
    # what follows does better than to match moments; of small tables that is done sooner
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
    # even weights do not see a peak that no proposal reached
    needs_validation = k is None or (adaptive and not warning_checks and not density.mixture)
    if needs_validation and draws.size and proper:
        remedy = "use method='nuts'" if adaptive else "leave out the method, or use method='nuts'"
        warning_checks = check.check_approximation(
            validate_by_hmc(problem, approximation, draws, rng), remedy
        )
    if adaptive and (warning_checks or not proper):
        improved = _find_better_draws(problem, approximation, draws, method, checks, rng)
        if improved is not None:
            return improved
    checks += [check.check_curvature(approximation.smallest_curvature), *warning_checks]
    draws = draws[None]
    centre = _posterior_centre(approximation.mean, draws)
    if density.has_mirror:
        # weighted draws are those of the folded posterior, as a sampler's that targets both orientations alike
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
    """Find better draws where Laplace does not hold: its draws moved, or NUTS; None where either would take minutes."""
    from voirdire.infer import hmc_moves, nuts

    density, start, reason = problem.density, time.perf_counter(), NO_LAPLACE_PREFIX
    steps = nuts.DEFAULT_STEPS
    # draws of mixtures have been moved already
    if not density.mixture and approximation.smallest_curvature > 0 and moves_affordable(problem):
        run = hmc_moves.rejuvenate_draws(problem, approximation, draws, LAPLACE_DRAWS, rng)
        steps = nuts.leapfrog_count(run.step)
        moves_note = f"{run.chains} chains of Hamiltonian Monte Carlo moved its draws {run.moves} times"
        if run.has_converged:
            note = (
                f"{reason}: {moves_note}, until they had forgotten where they began ({seconds_since(start)})."
            )
            inferred = oriented_posterior(
                problem, run.draws.mean(axis=0), run.draws[None], checks, rng, alike=True
            )
            return replace(inferred, method="hmc", notes=(note,))
        reason += f", and {moves_note} without arriving"
    if not nuts.is_affordable(problem, method.chains * (method.warmup + method.draws), steps):
        return None
    sampled = infer_by_nuts(problem, approximation, replace(method, sampler="numpyro"), checks)
    note = f"{reason}: NUTS drew from the posterior itself ({seconds_since(start)})."
    return replace(sampled, notes=(note,))


def _posterior_centre(mode: Floats, draws: Floats) -> Floats:
    """The mode, or the mean of the draws, shape (chains, draws, size), where the mode is not typical of them.

    A mode may lie in a corner that hardly any draw visits: strengths that follow one judge, a noise near zero. It is
    typical where no coordinate is more than a standard deviation from the draws' mean.
    """
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    return mode if np.all(np.abs(mean - mode) <= TYPICAL_SDS * sd) else mean
