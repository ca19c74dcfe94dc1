"""Hamiltonian Monte Carlo of latent values and spreads, starting from a nested approximation.

Normal distributions about modes are too narrow where answers inform each latent value little: with a dozen votes on an
item in each context, strengths, coins and spreads trade off against each other far from any mode. So chains start from
the approximation, in its :mod:`.coordinates`, and make transitions that leave the posterior invariant (Neal 2011,
Handbook of MCMC, chapter 5). In these coordinates all directions have similar periods, so that a few steps give a
nearly independent draw.

An :class:`Executor` computes the operations: this processor, or another device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from voirdire.infer.latent_gaussian.adapting import MAX_MODE_SDS, adapt_coordinates, coordinate_scales
from voirdire.infer.latent_gaussian.coordinates import Coordinates, build_coordinates
from voirdire.infer.latent_gaussian.cost import (
    CHAINS,
    FEW_CHAINS,
    FEW_TRIES,
    FIRST_STEP,
    TRIES,
    WARM_UP_MOVES,
    moves_seconds,
)
from voirdire.infer.latent_gaussian.hamiltonian import Path, PathPoint, adapt_step, sample_path
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.spread_posterior import spread_covariance
from voirdire.typing import Bools, Floats


class Executor(Protocol):
    """Operations in one set of coordinates, for points of shape (chains, size)."""

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute minus the log density, shape (chains,), up to a constant, and its gradient, shape (chains, size)."""

    def follow_path(self, start: PathPoint, momentum: Floats, steps: int, step: float) -> tuple[PathPoint, Floats]:
        """See :func:`.hamiltonian.follow_path`."""

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute latent values, shape (chains, values), and log spreads and means, shape (chains, hypers)."""

    def rescale_chains(self, z: Floats, rng: np.random.Generator, tries: int, *, exchanging: bool) -> Floats:
        """See :meth:`.Coordinates.rescale_chains`."""


RESCALING_MOVE = 50  # moves after which coordinates are rescaled by the draws so far; these draws are kept
MIN_RESCALED_SD = 1.15  # standard deviation of draws from which a coordinate is then rescaled
MIN_COMPILED_SECONDS = 0.5  # seconds of a warm-up from which compilation saves time
MAX_ADAPTATION_CHAINS = 16  # chains used to adapt coordinates, at most: more cost more time than they save


class Moves:
    """Chains that start from the normal distribution in the coordinates of a search's end.

    Parameters
    ----------
    search : SpreadSearch
    rng : numpy.random.Generator
    chains : int
    warm : (int, int)
        Moves before and after coordinates are adapted to the chains; no adaptation if the second is 0.
    moved : callable, optional
        Function that is called after every move; its exceptions end the chains.
    executor : callable, optional
        Function from coordinates to their :class:`Executor`; by default the coordinates, on this processor.

    Attributes
    ----------
    where : Coordinates
    z : array, shape (chains, size)
        Positions of the chains in these coordinates.
    """

    def __init__(
        self,
        search: SpreadSearch,
        rng: np.random.Generator,
        chains: int = CHAINS,
        warm: tuple[int, int] = WARM_UP_MOVES,
        moved: Callable[[], None] = lambda: None,
        executor: Callable[[Coordinates], Executor] = lambda where: where,
    ) -> None:
        self._rng, self._moved, self._executor, self._seen = rng, moved, executor, 0
        # steps of spreads take as long as paths in large tables: make fewer, unless moves are few
        self._seldom = chains <= FEW_CHAINS and warm[1] > 0
        compiled = moves_seconds(search.model, warm[0] + warm[1], chains) > MIN_COMPILED_SECONDS
        self._use_coordinates(replace(build_coordinates(search, spread_covariance(search)), compiled=compiled))
        self.z = rng.standard_normal((chains, self.where.size))
        self._sums = np.zeros((2, self.where.size))
        self._log_step = math.log(FIRST_STEP) - 0.25 * math.log(self.where.size)
        self._value, self._slope = self._run.energy_gradient(self.z)
        # the coordinates fit one mode, where paths are long; chains move to other modes later
        positions, accepted = self._warm_up(warm[0], exchanging=not warm[1])
        if not warm[1]:
            return
        # drop the first third of moves; chains that never moved restart from positions of other chains
        is_stuck = ~np.any(accepted[len(accepted) // 3 :], axis=0)
        if is_stuck.all():
            return
        self.z[is_stuck] = self.z[rng.choice(np.flatnonzero(~is_stuck), int(is_stuck.sum()))]
        adaptation_chains = np.flatnonzero(~is_stuck)[:MAX_ADAPTATION_CHAINS]
        adapted = adapt_coordinates(
            self.where, np.stack([z[adaptation_chains] for z in positions[len(positions) // 3 :]])
        )
        self.z = adapted.from_values(*self.where.to_values(self.z))
        self._use_coordinates(adapted)
        self._value, self._slope = self._run.energy_gradient(self.z)
        self._warm_up(warm[1])

    def _use_coordinates(self, coordinates: Coordinates) -> None:
        """Continue in other coordinates."""
        self.where: Coordinates = coordinates
        self._run: Executor = self._executor(coordinates)

    def _warm_up(self, moves: int, *, exchanging: bool = True) -> tuple[list[Floats], list[Bools]]:
        """Move chains while the step is adapted; return their positions, and masks of accepted paths.

        The final log step is the mean over the later half of the moves.
        """
        positions, accepted, steps = [], [], []
        for turn in range(moves):
            path = self._run_paths()
            accepted.append(path.went)
            self._log_step = adapt_step(self._log_step, path.chance, turn)
            self._rescale_spreads(exchanging=exchanging)
            positions.append(self.z)
            steps.append(self._log_step)
            self._moved()
        self._log_step = float(np.mean(steps[moves // 2 :]))
        return positions, accepted

    @property
    def step(self) -> float:
        """Length of a step."""
        return math.exp(self._log_step)

    def next_draws(self, count: int, gap: int = 1) -> tuple[Floats, Floats]:
        """Draw from every chain, ``gap`` moves apart: latent values, (chains, draws, size), and log spreads."""
        values = [self._run.to_values([self._move_chains() for _ in range(gap)][-1]) for _ in range(count)]
        x, hyper = (np.stack(part, axis=1) for part in zip(*values, strict=True))
        return x, hyper

    def _move_chains(self) -> Floats:
        """Make one transition of all chains."""
        self._run_paths()
        self._seen += 1
        if self._seen % 2 or not self._seldom:
            self._rescale_spreads()
        if self._seen <= RESCALING_MOVE:
            clipped = np.clip(self.z, -MAX_MODE_SDS, MAX_MODE_SDS)  # draws in another mode count as the limit
            self._sums += np.stack([clipped, clipped**2]).sum(axis=1)
            if self._seen == RESCALING_MOVE:
                self._scale_again()
        self._moved()
        return self.z

    def _scale_again(self) -> None:
        """Rescale each coordinate by the standard deviation of its draws so far."""
        mean, square = self._sums / (self._seen * len(self.z))
        factors = coordinate_scales(np.sqrt(np.maximum(square - mean**2, 0.0)), MIN_RESCALED_SD)
        self._use_coordinates(replace(self.where, scale=self.where.scale * factors))
        self.z = self.z / factors
        self._slope = self._slope * factors

    def _run_paths(self) -> Path:
        """Follow paths of all chains, and accept or reject their ends."""
        path = sample_path(
            self._run.follow_path, PathPoint(self.z, self._value, self._slope), self._log_step, self._rng
        )
        self.z, self._value, self._slope = path.end
        return path

    def _rescale_spreads(self, *, exchanging: bool = True) -> None:
        """Step the spreads of all chains, with their values rescaled."""
        tries = FEW_TRIES if self._seldom else TRIES
        self.z = self._run.rescale_chains(self.z, self._rng, tries, exchanging=exchanging)
        self._value, self._slope = self._run.energy_gradient(self.z)
