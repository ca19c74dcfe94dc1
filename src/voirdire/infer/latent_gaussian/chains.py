"""Draws by chains of moves where the nested approximation does not hold, as many as a table's size allows.

Reports on chains while they run, and requests that they end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.checks import ESS, RHAT
from voirdire.infer.device.choice import can_run, device_chain_count, device_seconds
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.hmc_validation import HmcValidation, central_interval_share
from voirdire.infer.latent_gaussian.cost import (
    CHAINS,
    FEW_CHAINS,
    FEWEST,
    NORMAL_WARM,
    WARM,
    moves_seconds,
    samples_spreads_only,
    spread_seconds,
)
from voirdire.infer.latent_gaussian.mode import LatentMode
from voirdire.infer.latent_gaussian.moves import Moves
from voirdire.infer.latent_gaussian.normal_moves import NormalMoves
from voirdire.infer.method import Progress
from voirdire.infer.posterior import integrated_scores
from voirdire.infer.stopping import Stop, Stopped, listen_for_interrupt
from voirdire.model.problem import Problem
from voirdire.typing import Floats

RECENT = 50  # draws of each chain that tell what is first so far


class Watching:
    """A count of the moves that chains have made, with what is known of them in words.

    Parameters
    ----------
    problem : Problem
    stop : Stop
    progress : callable or None
        See :class:`.Method`.

    Attributes
    ----------
    total : int
        Moves in all, as far as is known.
    """

    def __init__(self, problem: Problem, stop: Stop, progress: Progress | None) -> None:
        self._problem, self._stop, self._progress = problem, stop, progress
        self._done, self._said, self.total = 0, "", 0

    def count_move(self) -> None:
        """Count a move.

        Raises
        ------
        Stopped
            The chains are asked to end.
        """
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self.total, self._done), self._said)
        self._stop.check()

    def note_draws(self, draws: Floats, rhat: float, ess: float) -> None:
        """Take note of draws, shape (chains, draws, size), and how nearly chains have met."""
        if self._progress is None:
            return
        recent = draws[:, -RECENT:].reshape(-1, draws.shape[2])
        found = integrated_scores(self._problem.density, self._problem.density.values(recent, np))
        first = self._problem.items[int(found.mean(axis=0).argmax())]
        self._said = f"R-hat {rhat:.2f}, effective sample size {ess:.0f}, {first} first"


VALIDATION_MOVES = 30.0  # seconds that a trial may take
AT_ONCE = 5.0  # or where the approximation alone was asked for
TRIED = 6  # moves of a trial
UNSHOWN = (("context",), ("judge", "item"))  # dimensions of what no table shows
MOST_DRAWS = 4000  # that are kept, evenly spaced
DEVICE_DRAWS = 8192  # of the many chains of a graphics processor
FEWEST_DRAWS = 8  # of a chain, of which anything can be said
LEAST_ESS = 0.25  # of chains that never moved
SPARE = 1.0  # times as many moves as chains seem to need
QUICK = 1.0  # seconds up to which many chains take no longer than a user waits; few meet sooner
LEAST_MORE, MOST_TIMES = 0.25, 3.0  # of the moves made, that are worth another look, and are made at once


class Chains(NamedTuple):
    """Draws of chains.

    Attributes
    ----------
    draws : array, shape (chains, draws, size)
        In flat coordinates; those of :func:`sample_chains` are as far apart as their Monte Carlo error asks for.
    rhat, ess : float
        The largest R-hat and the smallest bulk effective sample size, and
    of : str
        the parameter whose R-hat it is.
    stopped : bool
        Whether they were asked to end.
    device : str
        Device of JAX that they ran on, if any.
    """

    draws: Floats
    rhat: float
    ess: float
    of: str
    stopped: bool = False
    device: str = ""

    @property
    def has_converged(self) -> bool:
        """True if all chains are in the same distribution, as far as they can tell."""
        return self.rhat <= RHAT and self.ess >= ESS


def sample_chains(
    problem: Problem,
    mode: LatentMode,
    rng: np.random.Generator,
    most_seconds: float,
    progress: Progress | None = None,
    device: Any = None,
) -> Chains:
    """Draws by moves, until chains have met, would take longer, or are asked to end (:mod:`voirdire.infer.stopping`).

    How many more moves they need is guessed from how far they have come.

    Raises
    ------
    Stopped
        They were asked to end before there were draws to speak of.
    """
    with listen_for_interrupt() as stop:
        found = _run_chains(problem, mode, rng, most_seconds, Watching(problem, stop, progress), device)
        return found._replace(draws=include_monte_carlo_error(found.draws, found.ess), stopped=stop.asked)


def _run_chains(
    problem: Problem,
    mode: LatentMode,
    rng: np.random.Generator,
    most_seconds: float,
    watching: Watching,
    device: Any,
) -> Chains:
    model = mode.search.model
    alone = samples_spreads_only(model, most_seconds)
    warm = sum(NORMAL_WARM if alone else WARM)
    watching.total = warm + FEWEST
    if device is not None and can_run(mode.search) and not alone:
        run: Moves | NormalMoves
        run, count, seconds = _device_chains(mode, rng, watching, device)
        most, where = DEVICE_DRAWS // count, str(device)
    else:
        reckoned = spread_seconds if alone else moves_seconds
        count = CHAINS if reckoned(model, warm + FEWEST) <= min(QUICK, most_seconds) else FEW_CHAINS
        run = (NormalMoves if alone else Moves)(mode.search, rng, count, moved=watching.count_move)
        seconds = reckoned(model, 1, count, run.step)
        most, where = MOST_DRAWS // count, ""
    allowed = int(most_seconds / seconds) - warm
    kept, gap, made, moves = np.zeros((count, 0, problem.density.size)), 1, 0, FEWEST
    while True:
        more, ended = [kept], False
        for _ in range(moves // gap):
            try:
                more.append(model.flat(*run.next_draws(1, gap)))
            except Stopped:
                ended = True
                break
        made += gap * (len(more) - 1)
        kept = np.concatenate(more, axis=1)
        if kept.shape[1] < FEWEST_DRAWS:
            raise Stopped
        # what judges and spreads are is known last, and looked at in no time
        found = _with_diagnostics(problem, kept, (*UNSHOWN, ("item",)))
        moves = min(_moves_needed(found, made), allowed - made)
        if found.has_converged or ended or moves < LEAST_MORE * made:
            found = _with_diagnostics(problem, kept)
            moves = min(_moves_needed(found, made), allowed - made)
            if found.has_converged or ended or moves < LEAST_MORE * made:
                return found._replace(device=where)
        watching.note_draws(kept, found.rhat, found.ess)
        watching.total = warm + made + moves
        while kept.shape[1] + moves // gap > most:
            kept, gap = kept[:, 1::2], 2 * gap


def _device_chains(
    mode: LatentMode, rng: np.random.Generator, watching: Watching, device: Any
) -> tuple[Moves, int, float]:
    """Chains on a device of JAX, their number, and about what a move of all takes, in seconds."""
    from voirdire.infer.device.executor import Device

    count = device_chain_count(device)
    on = Device(mode.search, device)
    run = Moves(mode.search, rng, count, moved=watching.count_move, executor=on.executor)
    return run, count, device_seconds(mode.search.model, count, run.step, device)


def chains_of_draws(problem: Problem, draws: Floats) -> Chains:
    """Draws that chains have made, shape (chains, draws, size), with their diagnostics and their Monte Carlo error."""
    found = _with_diagnostics(problem, draws)
    return found._replace(draws=include_monte_carlo_error(draws, found.ess))


def include_monte_carlo_error(draws: Floats, ess: float) -> Floats:
    """Draws, shape (chains, draws, size), spread so that intervals hold the Monte Carlo error of their middle.

    The mean of draws worth ``ess`` independent ones has the variance sd^2 / ess about that of the posterior, which is
    not known better: what is said of a value is of the variance sd^2 (1 + 1 / ess).

    Examples
    --------
    >>> include_monte_carlo_error(np.array([[[1.0], [3.0]]]), 1 / 3).ravel().tolist()
    [0.0, 4.0]
    """
    mean = draws.mean(axis=(0, 1))
    return np.asarray(mean + math.sqrt(1.0 + 1.0 / max(ess, LEAST_ESS)) * (draws - mean))


def _moves_needed(found: Chains, made: int) -> int:
    """Number of further moves until chains that made so many meet, by their R-hat and effective sample size."""
    times = max((found.rhat - 1.0) / (RHAT - 1.0), ESS / max(found.ess, 1.0))
    return math.ceil(made * (float(np.clip(SPARE * times, LEAST_MORE + 1.0, MOST_TIMES)) - 1.0))


def validate_draws(
    problem: Problem, mode: LatentMode, draws: Floats, rng: np.random.Generator, *, at_once: bool
) -> HmcValidation | None:
    """Test of the approximation's draws, shape (draws, size), by a few moves; see :mod:`.hmc_validation`.

    None where even those would take long; some seconds, where an answer is wanted ``at_once``.
    """
    if moves_seconds(mode.search.model, TRIED, FEW_CHAINS) > (AT_ONCE if at_once else VALIDATION_MOVES):
        return None
    run = Moves(mode.search, rng, FEW_CHAINS, warm=(TRIED - 2, 0))
    ends = mode.search.model.flat(*run.next_draws(2))
    share, holds, of = central_interval_share(
        problem, draws, np.concatenate([ends[:, i] for i in range(2)]), FEW_CHAINS
    )
    return HmcValidation(holds, share, of, run.step)


def _with_diagnostics(
    problem: Problem, draws: Floats, without: tuple[tuple[str, ...], ...] = UNSHOWN
) -> Chains:
    """With the diagnostics of what is shown of all contexts, ``without`` what has some dimensions."""
    quiet = np.zeros(draws.shape[:2])
    found = diagnose_draws(problem.density, draws, quiet > 0, quiet, without=without, tails=False)
    return Chains(draws, float(found["rhat"]), float(found["ess_bulk"]), str(found["rhat_of"]))
