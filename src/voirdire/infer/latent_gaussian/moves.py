"""Hamiltonian Monte Carlo of latent values and spreads, from where a nested approximation is.

Normal distributions about modes are too narrow where answers say little of each latent value: with a dozen votes on an
item in each context strengths, coins and spreads trade off against each other far from any mode. So chains go on from
the approximation, in its :mod:`.coordinates`, by transitions that leave the posterior itself as it is (Neal 2011,
Handbook of MCMC, chapter 5). In these coordinates every direction turns round in about the same time, so that a few
steps make a draw that hardly remembers the last.

Operations that chains ask for, wherever they are computed: on this processor here, elsewhere on another device.
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
    """Operations in one set of coordinates, on points of shape (chains, size)."""

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Minus the log density of points, shape (chains,), up to a constant, and its gradient, (chains, size)."""

    def follow_path(
        self, here: PathPoint, momentum: Floats, steps: int, step: float
    ) -> tuple[PathPoint, Floats]:
        """See :func:`.hamiltonian.follow_path`."""

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """Latent values, shape (chains, values), and logarithms of spreads and means, shape (chains, hypers)."""

    def rescale_chains(self, z: Floats, rng: np.random.Generator, tries: int, *, exchanging: bool) -> Floats:
        """See :meth:`.Coordinates.rescale_chains`."""


RESCALING_MOVE = (
    50  # moves after which coordinates are stretched again, by how far these went; the draws are kept
)
MIN_RESCALED_SD = 1.15  # standard deviation of a coordinate from which it is then
MIN_COMPILED_SECONDS = 0.5  # seconds of a warm-up from which compiling pays
MAX_ADAPTATION_CHAINS = (
    16  # chains at most that coordinates are adapted to: directions of more take longer than they gain
)


class Moves:
    """Chains that go on, from the normal distribution in the coordinates of a search's end.

    Parameters
    ----------
    search : SpreadSearch
    rng : numpy.random.Generator
    chains : int
    warm : (int, int)
        Moves before and after coordinates are adapted to the chains; they are not, where there are none after.
    moved : callable, optional
        Called after every move; what it raises ends them.
    executor : callable, optional
        Of coordinates, what computes in them; by default they do, on this processor.

    Attributes
    ----------
    where : Coordinates
    z : array, shape (chains, size)
        Where chains are, in these.
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
        # of many values steps of spreads take as long as paths, and a part of them does; not where a few moves tell all
        self._seldom = chains <= FEW_CHAINS and warm[1] > 0
        compiled = moves_seconds(search.model, warm[0] + warm[1], chains) > MIN_COMPILED_SECONDS
        self._use_coordinates(
            replace(build_coordinates(search, spread_covariance(search)), compiled=compiled)
        )
        self.z = rng.standard_normal((chains, self.where.size))
        self._sums = np.zeros((2, self.where.size))
        self._log_step = math.log(FIRST_STEP) - 0.25 * math.log(self.where.size)
        self._value, self._slope = self._run.energy_gradient(self.z)
        # coordinates are those of one mode, in which paths are long: chains that go to others come later
        positions, accepted = self._warm_up(warm[0], exchanging=not warm[1])
        if not warm[1]:
            return
        # what the chains had forgotten by then is what they began with; those that never moved begin where others are
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

    def _use_coordinates(self, where: Coordinates) -> None:
        """Go on in coordinates."""
        self.where: Coordinates = where
        self._run: Executor = self._executor(where)

    def _warm_up(self, moves: int, *, exchanging: bool = True) -> tuple[list[Floats], list[Bools]]:
        """Move chains while the step is adapted; return their positions, and which paths were accepted.

        The step ends at the mean of the later half's.
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
        """The next draws of every chain, ``gap`` moves apart: latent values, (chains, draws, size), and log spreads."""
        values = [self._run.to_values([self._move_chains() for _ in range(gap)][-1]) for _ in range(count)]
        x, hyper = (np.stack(part, axis=1) for part in zip(*values, strict=True))
        return x, hyper

    def _move_chains(self) -> Floats:
        """One transition of all chains."""
        self._run_paths()
        self._seen += 1
        if self._seen % 2 or not self._seldom:
            self._rescale_spreads()
        if self._seen <= RESCALING_MOVE:
            clipped = np.clip(
                self.z, -MAX_MODE_SDS, MAX_MODE_SDS
            )  # of draws in another mode they know nothing
            self._sums += np.stack([clipped, clipped**2]).sum(axis=1)
            if self._seen == RESCALING_MOVE:
                self._scale_again()
        self._moved()
        return self.z

    def _scale_again(self) -> None:
        """Stretch coordinates by how far the draws so far go in each."""
        mean, square = self._sums / (self._seen * len(self.z))
        factors = coordinate_scales(np.sqrt(np.maximum(square - mean**2, 0.0)), MIN_RESCALED_SD)
        self._use_coordinates(replace(self.where, scale=self.where.scale * factors))
        self.z = self.z / factors
        self._slope = self._slope * factors

    def _run_paths(self) -> Path:
        """Paths of all chains."""
        path = sample_path(
            self._run.follow_path, PathPoint(self.z, self._value, self._slope), self._log_step, self._rng
        )
        self.z, self._value, self._slope = path.end
        return path

    def _rescale_spreads(self, *, exchanging: bool = True) -> None:
        """Steps of the spreads of all chains that take their values along."""
        tries = FEW_TRIES if self._seldom else TRIES
        self.z = self._run.rescale_chains(self.z, self._rng, tries, exchanging=exchanging)
        self._value, self._slope = self._run.energy_gradient(self.z)
