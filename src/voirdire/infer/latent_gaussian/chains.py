"""Sampling by chains where the nested approximation does not hold, with as many draws as the time limit allows.

Includes progress reports and early stopping.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.checks import MAX_RHAT, MIN_ESS, HmcValidation, central_interval_share
from voirdire.infer.device.choice import can_run, device_chain_count, device_seconds
from voirdire.infer.diagnose import diagnose_draws
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

RECENT_DRAWS = 50  # latest draws of each chain, by which the leading item is reported


class ChainProgress:
    """Counter of the moves that chains have made, with a line on their state.

    Parameters
    ----------
    problem : Problem
    stop : Stop
    progress : callable or None
        See :class:`.Method`.

    Attributes
    ----------
    total : int
        Expected number of moves in all.
    """

    def __init__(self, problem: Problem, stop: Stop, progress: Progress | None) -> None:
        self._problem, self._stop, self._progress = problem, stop, progress
        self._done, self._said, self.total = 0, "", 0

    def count_move(self) -> None:
        """Count a move.

        Raises
        ------
        Stopped
            The user asked the chains to end.
        """
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self.total, self._done), self._said)
        self._stop.check()

    def note_draws(self, draws: Floats, rhat: float, ess: float) -> None:
        """Update the progress line by draws, shape (chains, draws, size), and their diagnostics."""
        if self._progress is None:
            return
        recent = draws[:, -RECENT_DRAWS:].reshape(-1, draws.shape[2])
        scores = integrated_scores(self._problem.density, self._problem.density.values(recent, np))
        leader = self._problem.items[int(scores.mean(axis=0).argmax())]
        self._said = f"R-hat {rhat:.2f}, effective sample size {ess:.0f}, {leader} first"


MAX_VALIDATION_SECONDS = 30.0  # seconds that a validation may take
MAX_LAPLACE_VALIDATION_SECONDS = 5.0  # the same where the user asked for the approximation alone
VALIDATION_MOVES = 6  # moves of a validation
HIDDEN_DIMENSIONS = (("context",), ("judge", "item"))  # dimensions of values that no table of results shows
MAX_DRAWS = 4000  # draws that are kept, evenly spaced
MAX_DEVICE_DRAWS = 8192  # draws that are kept of the many chains of a graphics processor
MIN_DRAWS = 8  # draws of a chain from which diagnostics exist
LOWEST_ESS = 0.25  # effective sample size assumed for chains that never moved
MOVES_MARGIN = 1.0  # factor on the number of moves that chains seem to need
MAX_QUICK_SECONDS = 1.0  # seconds up to which CHAINS chains are run, else FEW_CHAINS, which converge sooner
MIN_MORE_SHARE, MAX_MORE_TIMES = (0.25, 3.0)  # further moves of one round over the moves made: at least, and at most


class Chains(NamedTuple):
    """Draws of chains.

    Attributes
    ----------
    draws : array, shape (chains, draws, size)
        Draws in flat coordinates; those of :func:`sample_chains` include their Monte Carlo error.
    rhat, ess : float
        Largest R-hat and smallest bulk effective sample size.
    worst_parameter : str
        Parameter with the largest R-hat.
    stopped : bool
        True if the user ended the chains early.
    device : str
        JAX device of the chains; empty without one.
    """

    draws: Floats
    rhat: float
    ess: float
    worst_parameter: str
    stopped: bool = False
    device: str = ""

    @property
    def has_converged(self) -> bool:
        """True if R-hat and the effective sample size meet their limits."""
        return self.rhat <= MAX_RHAT and self.ess >= MIN_ESS


def sample_chains(
    problem: Problem,
    mode: LatentMode,
    rng: np.random.Generator,
    max_seconds: float,
    progress: Progress | None = None,
    device: Any = None,
) -> Chains:
    """Sample until chains converge, time runs out, or the user stops them (:mod:`voirdire.infer.stopping`).

    The number of further moves is estimated from R-hat and the effective sample size so far.

    Raises
    ------
    Stopped
        The user ended the chains before each had :data:`MIN_DRAWS` draws.
    """
    with listen_for_interrupt() as stop:
        chains = _run_chains(problem, mode, rng, max_seconds, ChainProgress(problem, stop, progress), device)
        return chains._replace(draws=include_monte_carlo_error(chains.draws, chains.ess), stopped=stop.asked)


def _run_chains(
    problem: Problem,
    mode: LatentMode,
    rng: np.random.Generator,
    max_seconds: float,
    chain_progress: ChainProgress,
    device: Any,
) -> Chains:
    model = mode.search.model
    spreads_only = samples_spreads_only(model, max_seconds)
    warm = sum(NORMAL_WARM_UP_MOVES if spreads_only else WARM_UP_MOVES)
    chain_progress.total = warm + MIN_MOVES
    if device is not None and can_run(mode.search) and not spreads_only:
        run: Moves | NormalMoves
        run, count, seconds = _device_chains(mode, rng, chain_progress, device)
        max_draws, device_name = MAX_DEVICE_DRAWS // count, str(device)
    else:
        estimate_seconds = spread_seconds if spreads_only else moves_seconds
        count = (
            CHAINS if estimate_seconds(model, warm + MIN_MOVES) <= min(MAX_QUICK_SECONDS, max_seconds) else FEW_CHAINS
        )
        run = (NormalMoves if spreads_only else Moves)(mode.search, rng, count, moved=chain_progress.count_move)
        seconds = estimate_seconds(model, 1, count, run.step)
        max_draws, device_name = MAX_DRAWS // count, ""
    max_moves = int(max_seconds / seconds) - warm
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
        # judges and spreads converge last, and are quick to check
        chains = _with_diagnostics(problem, draws, (*HIDDEN_DIMENSIONS, ("item",)))
        moves = min(_moves_needed(chains, moves_made), max_moves - moves_made)
        if chains.has_converged or is_stopped or moves < MIN_MORE_SHARE * moves_made:
            chains = _with_diagnostics(problem, draws)
            moves = min(_moves_needed(chains, moves_made), max_moves - moves_made)
            if chains.has_converged or is_stopped or moves < MIN_MORE_SHARE * moves_made:
                return chains._replace(device=device_name)
        chain_progress.note_draws(draws, chains.rhat, chains.ess)
        chain_progress.total = warm + moves_made + moves
        while draws.shape[1] + moves // gap > max_draws:
            draws, gap = draws[:, 1::2], 2 * gap


def _device_chains(
    mode: LatentMode, rng: np.random.Generator, chain_progress: ChainProgress, device: Any
) -> tuple[Moves, int, float]:
    """Build chains on a JAX device; return them, their number, and the estimated seconds of a move of all."""
    from voirdire.infer.device.executor import Device

    count = device_chain_count(device)
    chain_device = Device(mode.search, device)
    run = Moves(mode.search, rng, count, moved=chain_progress.count_move, executor=chain_device.executor)
    return run, count, device_seconds(mode.search.model, count, run.step, device)


def chains_of_draws(problem: Problem, draws: Floats) -> Chains:
    """Wrap draws of chains, shape (chains, draws, size), with their diagnostics and their Monte Carlo error."""
    chains = _with_diagnostics(problem, draws)
    return chains._replace(draws=include_monte_carlo_error(draws, chains.ess))


def include_monte_carlo_error(draws: Floats, ess: float) -> Floats:
    """Spread draws, shape (chains, draws, size), so that intervals include the Monte Carlo error of the mean.

    The mean of draws with effective sample size ``ess`` has the variance sd^2 / ess about the posterior mean, so the
    draws are widened to the variance sd^2 (1 + 1 / ess).
    Examples
    --------
    >>> include_monte_carlo_error(np.array([[[1.0], [3.0]]]), 1 / 3).ravel().tolist()
    [0.0, 4.0]
    """
    mean = draws.mean(axis=(0, 1))
    return np.asarray(mean + math.sqrt(1.0 + 1.0 / max(ess, LOWEST_ESS)) * (draws - mean))


def _moves_needed(chains: Chains, moves_made: int) -> int:
    """Estimate the number of further moves until convergence, from R-hat and the effective sample size so far."""
    factor = max((chains.rhat - 1.0) / (MAX_RHAT - 1.0), MIN_ESS / max(chains.ess, 1.0))
    return math.ceil(moves_made * (float(np.clip(MOVES_MARGIN * factor, MIN_MORE_SHARE + 1.0, MAX_MORE_TIMES)) - 1.0))


def validate_draws(
    problem: Problem, mode: LatentMode, draws: Floats, rng: np.random.Generator, *, at_once: bool
) -> HmcValidation | None:
    """Validate the approximation's draws, shape (draws, size), by a few moves; see :mod:`.checks`.

    Returns None where even a few moves would take more than 30 seconds, or 5 seconds with ``at_once``.
    """
    if moves_seconds(mode.search.model, VALIDATION_MOVES, FEW_CHAINS) > (
        MAX_LAPLACE_VALIDATION_SECONDS if at_once else MAX_VALIDATION_SECONDS
    ):
        return None
    run = Moves(mode.search, rng, FEW_CHAINS, warm=(VALIDATION_MOVES - 2, 0))
    ends = mode.search.model.flat(*run.next_draws(2))
    return central_interval_share(problem, draws, np.concatenate([ends[:, i] for i in range(2)]), FEW_CHAINS)


def _with_diagnostics(
    problem: Problem, draws: Floats, without: tuple[tuple[str, ...], ...] = HIDDEN_DIMENSIONS
) -> Chains:
    """Compute diagnostics of chains, ``without`` the parameters of some dimensions."""
    zeros = np.zeros(draws.shape[:2])
    diagnostics = diagnose_draws(problem.density, draws, zeros > 0, zeros, without=without, tails=False)
    return Chains(draws, float(diagnostics["rhat"]), float(diagnostics["ess_bulk"]), str(diagnostics["rhat_of"]))
