"""Draws by chains of moves where the nested approximation does not hold, as many as a table's size allows.

Reports on chains while they run, and requests that they end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.checks import MAX_RHAT, MIN_ESS
from voirdire.infer.device.choice import can_run, device_chain_count, device_seconds
from voirdire.infer.diagnose import diagnose_draws
from voirdire.infer.hmc_validation import HmcValidation, central_interval_share
from voirdire.infer.latent_gaussian.cost import (
    CHAINS,
    FEW_CHAINS,
    MIN_MOVES,
    NORMAL_WARM_UP_MOVES,
    WARM_UP_MOVES,
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

RECENT_DRAWS = 50  # draws of each chain that tell what is first so far


class ChainProgress:
    """Count of the moves that chains have made, with a line on their state.

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
        recent = draws[:, -RECENT_DRAWS:].reshape(-1, draws.shape[2])
        scores = integrated_scores(self._problem.density, self._problem.density.values(recent, np))
        leader = self._problem.items[int(scores.mean(axis=0).argmax())]
        self._said = f"R-hat {rhat:.2f}, effective sample size {ess:.0f}, {leader} first"


MAX_VALIDATION_SECONDS = 30.0  # seconds that a trial may take
MAX_LAPLACE_VALIDATION_SECONDS = 5.0  # or where the approximation alone was asked for
VALIDATION_MOVES = 6  # moves of a trial
HIDDEN_DIMENSIONS = (("context",), ("judge", "item"))  # dimensions of what no table shows
MAX_DRAWS = 4000  # that are kept, evenly spaced
MAX_DEVICE_DRAWS = 8192  # of the many chains of a graphics processor
MIN_DRAWS = 8  # of a chain, of which anything can be said
LOWEST_ESS = 0.25  # of chains that never moved
MOVES_MARGIN = 1.0  # times as many moves as chains seem to need
MAX_QUICK_SECONDS = 1.0  # seconds up to which many chains take no longer than a user waits; few meet sooner
MIN_MORE_SHARE, MAX_MORE_TIMES = (
    0.25,
    3.0,
)  # of the moves made, that are worth another look, and are made at once


class Chains(NamedTuple):
    """Draws of chains.

    Attributes
    ----------
    draws : array, shape (chains, draws, size)
        In flat coordinates; those of :func:`sample_chains` are as far apart as their Monte Carlo error asks for.
    rhat, ess : float
        The largest R-hat and the smallest bulk effective sample size, and
    worst_parameter : str
        the parameter whose R-hat it is.
    stopped : bool
        Whether they were asked to end.
    device : str
        Device of JAX that they ran on, if any.
    """

    draws: Floats
    rhat: float
    ess: float
    worst_parameter: str
    stopped: bool = False
    device: str = ""

    @property
    def has_converged(self) -> bool:
        """True if all chains are in the same distribution, as far as they can tell."""
        return self.rhat <= MAX_RHAT and self.ess >= MIN_ESS


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
        chains = _run_chains(problem, mode, rng, most_seconds, ChainProgress(problem, stop, progress), device)
        return chains._replace(draws=include_monte_carlo_error(chains.draws, chains.ess), stopped=stop.asked)


def _run_chains(
    problem: Problem,
    mode: LatentMode,
    rng: np.random.Generator,
    most_seconds: float,
    watching: ChainProgress,
    device: Any,
) -> Chains:
    model = mode.search.model
    spreads_only = samples_spreads_only(model, most_seconds)
    warm = sum(NORMAL_WARM_UP_MOVES if spreads_only else WARM_UP_MOVES)
    watching.total = warm + MIN_MOVES
    if device is not None and can_run(mode.search) and not spreads_only:
        run: Moves | NormalMoves
        run, count, seconds = _device_chains(mode, rng, watching, device)
        max_draws, device_name = MAX_DEVICE_DRAWS // count, str(device)
    else:
        estimate_seconds = spread_seconds if spreads_only else moves_seconds
        count = (
            CHAINS
            if estimate_seconds(model, warm + MIN_MOVES) <= min(MAX_QUICK_SECONDS, most_seconds)
            else FEW_CHAINS
        )
        run = (NormalMoves if spreads_only else Moves)(mode.search, rng, count, moved=watching.count_move)
        seconds = estimate_seconds(model, 1, count, run.step)
        max_draws, device_name = MAX_DRAWS // count, ""
    max_moves = int(most_seconds / seconds) - warm
    draws, gap, moves_made, moves = np.zeros((count, 0, problem.density.size)), 1, 0, MIN_MOVES
    while True:
        parts, is_stopped = [draws], False
        for _ in range(moves // gap):
            try:
                parts.append(model.flat(*run.next_draws(1, gap)))
            except Stopped:
                is_stopped = True
                break
        moves_made += gap * (len(parts) - 1)
        draws = np.concatenate(parts, axis=1)
        if draws.shape[1] < MIN_DRAWS:
            raise Stopped
        # what judges and spreads are is known last, and looked at in no time
        chains = _with_diagnostics(problem, draws, (*HIDDEN_DIMENSIONS, ("item",)))
        moves = min(_moves_needed(chains, moves_made), max_moves - moves_made)
        if chains.has_converged or is_stopped or moves < MIN_MORE_SHARE * moves_made:
            chains = _with_diagnostics(problem, draws)
            moves = min(_moves_needed(chains, moves_made), max_moves - moves_made)
            if chains.has_converged or is_stopped or moves < MIN_MORE_SHARE * moves_made:
                return chains._replace(device=device_name)
        watching.note_draws(draws, chains.rhat, chains.ess)
        watching.total = warm + moves_made + moves
        while draws.shape[1] + moves // gap > max_draws:
            draws, gap = draws[:, 1::2], 2 * gap


def _device_chains(
    mode: LatentMode, rng: np.random.Generator, watching: ChainProgress, device: Any
) -> tuple[Moves, int, float]:
    """Chains on a device of JAX, their number, and the seconds that a move of all takes, about."""
    from voirdire.infer.device.executor import Device

    count = device_chain_count(device)
    chain_device = Device(mode.search, device)
    run = Moves(mode.search, rng, count, moved=watching.count_move, executor=chain_device.executor)
    return run, count, device_seconds(mode.search.model, count, run.step, device)


def chains_of_draws(problem: Problem, draws: Floats) -> Chains:
    """Draws that chains have made, shape (chains, draws, size), with their diagnostics and their Monte Carlo error."""
    chains = _with_diagnostics(problem, draws)
    return chains._replace(draws=include_monte_carlo_error(draws, chains.ess))


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
    return np.asarray(mean + math.sqrt(1.0 + 1.0 / max(ess, LOWEST_ESS)) * (draws - mean))


def _moves_needed(found: Chains, made: int) -> int:
    """Number of further moves until chains that made so many meet, by their R-hat and effective sample size."""
    factor = max((found.rhat - 1.0) / (MAX_RHAT - 1.0), MIN_ESS / max(found.ess, 1.0))
    return math.ceil(
        made * (float(np.clip(MOVES_MARGIN * factor, MIN_MORE_SHARE + 1.0, MAX_MORE_TIMES)) - 1.0)
    )


def validate_draws(
    problem: Problem, mode: LatentMode, draws: Floats, rng: np.random.Generator, *, at_once: bool
) -> HmcValidation | None:
    """Test of the approximation's draws, shape (draws, size), by a few moves; see :mod:`.hmc_validation`.

    None where even those would take long; some seconds, where an answer is wanted ``at_once``.
    """
    if moves_seconds(mode.search.model, VALIDATION_MOVES, FEW_CHAINS) > (
        MAX_LAPLACE_VALIDATION_SECONDS if at_once else MAX_VALIDATION_SECONDS
    ):
        return None
    run = Moves(mode.search, rng, FEW_CHAINS, warm=(VALIDATION_MOVES - 2, 0))
    ends = mode.search.model.flat(*run.next_draws(2))
    share, holds, parameter = central_interval_share(
        problem, draws, np.concatenate([ends[:, i] for i in range(2)]), FEW_CHAINS
    )
    return HmcValidation(holds, share, parameter, run.step)


def _with_diagnostics(
    problem: Problem, draws: Floats, without: tuple[tuple[str, ...], ...] = HIDDEN_DIMENSIONS
) -> Chains:
    """Chains with diagnostics of the values that tables show, ``without`` those of some dimensions."""
    zeros = np.zeros(draws.shape[:2])
    diagnostics = diagnose_draws(problem.density, draws, zeros > 0, zeros, without=without, tails=False)
    return Chains(
        draws, float(diagnostics["rhat"]), float(diagnostics["ess_bulk"]), str(diagnostics["rhat_of"])
    )
