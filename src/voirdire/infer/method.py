"""Methods of inference: what may be asked for, and the posterior that each gives with its checks."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.infer import checks as check
from voirdire.infer import mirror
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.diagnose import diagnose
from voirdire.infer.laplace import Laplace, laplace, memory, of_draws
from voirdire.infer.laplace import check_size as check_held
from voirdire.infer.nested.chains import chains, small, tried
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.infer.posterior import Posterior
from voirdire.infer.refine import ROUNDS, laplace_draws
from voirdire.infer.trial import trial
from voirdire.model.check import Check
from voirdire.model.problem import Problem
from voirdire.typing import Floats

if TYPE_CHECKING:
    from voirdire.infer.posterior_mode import Mode

Progress = Callable[[int, int], None]

METHODS = ("auto", "laplace", "nuts", "map", "adam")
SAMPLERS = ("numpyro", "nutpie", "pymc")
LAPLACE_DRAWS = 4000
TOLD = 2e9  # bytes of a fit from which they are told before it begins
UNHELD = "The Laplace approximation does not hold here"  # a note begins with it
BY_ADAM = (
    "By the estimator of MAPLE's paper: the likelihood alone, 5,000 epochs of Adam at a learning rate of 0.01 from "
    "reliabilities of 0.8; no prior and no intervals, and every judge counts by itself. method='auto' has both."
)
UNTRIED = "The table is too large to try the Laplace approximation by moves of its draws."
QUICK = 5_000  # numbers of a table up to which importance weights are evened out before draws are moved
TYPICAL = 1.0  # standard deviations from the mean of the draws within which a mode is shown


@dataclass(frozen=True)
class Method:
    """How a posterior is to be found.

    Attributes
    ----------
    name : str
        "auto", "laplace", "nuts", "map" or "adam" (:mod:`.adam`).
    seed : int
    sampler : str
        What runs NUTS: "numpyro", "nutpie" or "pymc".
    chains, warmup, draws : int
        Of NUTS; warmup and draws per chain.
    progress : callable or None
        Called with (transitions made, transitions in all) while NUTS runs.
    """

    name: str = "auto"
    seed: int = 0
    sampler: str = "numpyro"
    chains: int = 4
    warmup: int = 500
    draws: int = 1000
    progress: Progress | None = None

    @property
    def size(self) -> int:
        """Number of draws, 0 for the mode alone."""
        of_nuts = self.chains * self.draws
        return {"auto": LAPLACE_DRAWS, "laplace": LAPLACE_DRAWS, "nuts": of_nuts}.get(self.name, 0)

    def sampler_of(self, done: str) -> str:
        """What ran NUTS, where that is the method that was ``done`` in the end; else nothing."""
        if done != "nuts":
            return ""
        return self.sampler if self.name == "nuts" else "numpyro"

    def problems(self) -> list[str]:
        """Settings that cannot be, in words.

        Examples
        --------
        >>> Method("vi", seed=-1).problems()
        ["method 'vi' is none of auto, laplace, nuts, map, adam", 'seed -1 is negative; use a whole number from 0']
        """
        problems = []
        if self.name not in METHODS:
            problems.append(f"method {self.name!r} is none of {', '.join(METHODS)}")
        if self.sampler not in SAMPLERS:
            problems.append(f"sampler {self.sampler!r} is none of {', '.join(SAMPLERS)}")
        if self.seed < 0:
            problems.append(f"seed {self.seed} is negative; use a whole number from 0")
        for name, value, least in (
            ("draws", self.draws, 4),
            ("warmup", self.warmup, 20),
            ("chains", self.chains, 1),
        ):
            if value < least:
                problems.append(f"{name} {value} is too few; at least {least}")
        return problems


@dataclass(frozen=True, eq=False)
class Inferred:
    """A posterior, and how it was found.

    Attributes
    ----------
    posterior : Posterior
    checks : tuple of Check
        What its method found amiss.
    sample_stats : dict of array
        What a sampler recorded, shape (chains, draws) each.
    method : str
        What was done: "laplace", "hmc" (:mod:`.hmc_moves`), "nuts", "map" or "adam".
    notes : tuple of str
        What was done of the engine's own accord and what it cost, in words.
    """

    posterior: Posterior
    checks: tuple[Check, ...]
    sample_stats: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    method: str = "laplace"
    notes: tuple[str, ...] = ()


def check_size(problem: Problem, method: Method) -> None:
    """Refuse what its method cannot hold in memory, before a mode is searched for in vain; warn of more than 2 GB.

    Raises
    ------
    InputError
    """
    if method.name == "nuts" or (method.size and not problem.density.is_nested):
        size = problem.density.size
        check_held(size)
        if (expected := memory(size, method.size)) > TOLD:
            warnings.warn(
                f"{size:,} parameters: this fit may take {expected / 1e9:.2g} GB of memory, and minutes; method='map' "
                "takes little of either",
                stacklevel=3,
            )


def infer(problem: Problem, mode: Mode, method: Method) -> Inferred:
    """The posterior of a problem whose mode is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import pose
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = pose(load_model("bradley-terry"), read_votes(table))
    >>> infer(problem, find_mode(problem), Method("map")).posterior.draws is None
    True
    """
    if method.name == "adam":
        # no prior says which of the likelihood's twins it is: where it began does
        posterior = Posterior(problem.density, mode.x, None)
        return Inferred(posterior, (check.arrival(mode.gradient),), method="adam", notes=(BY_ADAM,))
    checks = [check.convergence(mode.gradient, mode.converged)]
    if method.name == "map":
        if isinstance(mode, NestedMode):
            checks += check.propagation(mode.nested.amiss)
        return at_mode(problem, mode, checks)
    if isinstance(mode, NestedMode):
        return _by_nested(problem, mode, method, checks)
    by_hand = problem.density.by_hand(problem.data)
    if by_hand is not None and by_hand.around is not None and method.name != "nuts":
        rng = np.random.default_rng(method.seed)
        draws, proper = by_hand.around(mode.x, LAPLACE_DRAWS, rng)
        checks.append(check.curvature(1.0 if proper else -1.0))
        return _drawn(problem, mode.x, draws[None], checks, rng)
    approximation = laplace(problem, mode)
    if method.name == "nuts":
        return _by_nuts(problem, approximation, method, checks)
    return _by_laplace(problem, approximation, method, checks)


def _by_nested(problem: Problem, mode: NestedMode, method: Method, checks: list[Check]) -> Inferred:
    rng, start = np.random.default_rng(method.seed), time.perf_counter()
    draws = nested_draws(mode, rng)
    if method.name == "nuts":
        return _by_nuts(problem, of_draws(draws), method, checks)
    run = None
    notes: tuple[str, ...] = ()
    if method.name == "auto" and small(mode):
        run = chains(problem, mode, rng)
    elif method.name == "auto":
        trial = tried(problem, mode, draws, rng)
        if trial is None:
            notes = (UNTRIED,)
        elif not trial.holds:
            checks = [*checks, *check.drift(trial)]
            run = chains(problem, mode, rng)
    if run is None:
        checks = [*checks, *check.propagation(mode.nested.amiss)]
        notes = (*notes, *mode.nested.notes)
        return replace(_drawn(problem, mode.x, draws[None], checks, rng), notes=notes)
    number, each = run.draws.shape[:2]
    note = (
        f"{number} chains of Hamiltonian Monte Carlo made {each} draws each, from where the Laplace approximation is "
        f"({_seconds(start)})."
    )
    checks = check.chains(run.rhat, run.of, run.ess, run.met)
    moved = _drawn(problem, run.draws.mean(axis=(0, 1)), run.draws, checks, rng)
    return replace(moved, method="hmc", notes=(note,))


def _drawn(
    problem: Problem, centre: Floats, draws: Floats, checks: list[Check], rng: np.random.Generator
) -> Inferred:
    """The posterior of draws of one orientation, shape (chains, draws, size)."""
    density = problem.density
    if density.has_mirror:
        both = mirror.orientations(density, draws, problem.data, False, rng)
        checks.append(problem.orientation(both.mass))
        draws = both.whole
    return Inferred(Posterior(density, centre, draws), tuple(checks))


def at_mode(problem: Problem, mode: Mode, checks: list[Check]) -> Inferred:
    """The mode alone, with what was found amiss and how much mass its twins have as far as the mode can tell."""
    density = problem.density
    if density.has_mirror:
        _, ratio, _ = mirror.fold(density, mode.x, problem.data)
        checks.append(problem.orientation(mirror.mass_from_oriented(ratio), at_mode=True))
    return Inferred(Posterior(density, mode.x, None), tuple(checks), method="map")


def _by_laplace(problem: Problem, approximation: Laplace, method: Method, checks: list[Check]) -> Inferred:
    density, rng, adaptive = problem.density, np.random.default_rng(method.seed), method.name == "auto"
    # what follows does better than to match moments; of small tables that is done sooner
    large = adaptive and Derivatives(density, problem.data).work > QUICK
    rounds = 0 if large else ROUNDS
    draws, k = laplace_draws(problem, approximation, LAPLACE_DRAWS, rng, rounds)
    proper = approximation.smallest_curvature > 0
    amiss = check.importance(k)
    # even weights do not see a peak that no proposal reached
    tried = k is None or (adaptive and not amiss and not density.mixture)
    if tried and draws.size and proper:
        amiss = check.drift(trial(problem, approximation, draws, rng))
    if adaptive and (amiss or not proper):
        better = _corrected(problem, approximation, draws, method, checks, rng)
        if better is not None:
            return better
    checks += [check.curvature(approximation.smallest_curvature), *amiss]
    draws = draws[None]
    centre = _centre(approximation.mean, draws)
    if density.has_mirror:
        # weighted draws are those of the folded posterior, as a sampler's that targets both orientations alike
        both = mirror.orientations(density, draws, problem.data, k is not None, rng)
        checks.append(problem.orientation(both.mass))
        centre, draws = _centre(approximation.mean, both.folded), both.whole
    return Inferred(Posterior(density, centre, draws), tuple(checks))


def _corrected(
    problem: Problem,
    approximation: Laplace,
    draws: Floats,
    method: Method,
    checks: list[Check],
    rng: np.random.Generator,
) -> Inferred | None:
    """What does better where Laplace does not hold: its draws moved, or NUTS; None where either would take minutes."""
    from voirdire.infer import hmc_moves, nuts

    density, start, said = problem.density, time.perf_counter(), UNHELD
    steps = nuts.USUAL_STEPS
    # draws of mixtures have been moved already
    if not density.mixture and approximation.smallest_curvature > 0 and hmc_moves.affordable(problem):
        run = hmc_moves.moved(problem, approximation, draws, LAPLACE_DRAWS, rng)
        steps = nuts.steps_of(run.step)
        did = f"{run.chains} chains of Hamiltonian Monte Carlo moved its draws {run.moves} times"
        if run.arrived:
            centre, whole = run.draws.mean(axis=0), run.draws[None]
            if density.has_mirror:
                both = mirror.orientations(density, whole, problem.data, True, rng)
                checks.append(problem.orientation(both.mass))
                whole = both.whole
            note = f"{said}: {did}, until they had forgotten where they began ({_seconds(start)})."
            return Inferred(Posterior(density, centre, whole), tuple(checks), method="hmc", notes=(note,))
        said += f", and {did} without arriving"
    if not nuts.affordable(problem, method.chains * (method.warmup + method.draws), steps):
        return None
    sampled = _by_nuts(problem, approximation, replace(method, sampler="numpyro"), checks)
    note = f"{said}: NUTS drew from the posterior itself ({_seconds(start)})."
    return replace(sampled, notes=(note,))


def _seconds(start: float) -> str:
    return f"{time.perf_counter() - start:.0f} s"


def _centre(mode: npt.NDArray[np.float64], draws: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mode, or the mean of the draws, shape (chains, draws, size), where the mode is not typical of them.

    A mode may lie in a corner that hardly any draw visits: strengths that follow one judge, a noise near zero. It is
    typical where no coordinate is more than a standard deviation from the draws' mean.
    """
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    return mode if np.all(np.abs(mean - mode) <= TYPICAL * sd) else mean


def _by_nuts(problem: Problem, approximation: Laplace, method: Method, checks: list[Check]) -> Inferred:
    density = problem.density
    run, symmetric = _sampled(problem, approximation, method)
    draws = whole = run.x
    if density.has_mirror:
        both = mirror.orientations(
            density, run.x, problem.data, symmetric, np.random.default_rng(method.seed)
        )
        draws, whole = both.folded, both.whole
        checks.append(problem.orientation(both.mass))
        if not symmetric and both.turned:
            checks.append(check.both_modes(both.turned))
    checks += check.sampling(diagnose(density, draws, run.diverging, run.energy))
    stats = {"diverging": run.diverging, "energy": run.energy, "n_steps": run.steps}
    return Inferred(Posterior(density, draws.mean(axis=(0, 1)), whole), tuple(checks), stats, "nuts")


def _sampled(problem: Problem, approximation: Laplace, method: Method) -> tuple[Any, bool]:
    """Draws, and whether the sampler targeted both orientations alike."""
    chains, warmup, draws = method.chains, method.warmup, method.draws
    if method.sampler != "numpyro":
        from voirdire.infer.pymc_samplers import sample_pymc

        return sample_pymc(problem, method.sampler, method.seed, chains, warmup, draws), False
    from voirdire.infer.nuts import sample

    done, lock, total = 0, threading.Lock(), chains * (warmup + draws)

    def tell(count: int) -> None:
        nonlocal done
        with lock:
            done = min(done + count, total)
            if method.progress is not None:
                method.progress(done, total)

    run = sample(
        problem, approximation, seed=method.seed, chains=chains, warmup=warmup, draws=draws, progress=tell
    )
    return run, True
