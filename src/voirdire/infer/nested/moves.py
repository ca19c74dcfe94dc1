"""Hamiltonian Monte Carlo of latent values and spreads, from where a nested approximation is.

Normal distributions about modes are too narrow where answers say little of each latent value: with a dozen votes on an
item in each context strengths, coins and spreads trade off against each other far from any mode. So chains go on from
the approximation, in its :mod:`.coordinates`, by transitions that leave the posterior itself as it is (Neal 2011,
Handbook of MCMC, chapter 5). In these coordinates every direction turns round in about the same time, so that a few
steps make a draw that hardly remembers the last. A step asks for two gradients and goes half as far again as two of the
leapfrog would, with as small an error (Blanes, Casas and Sanz-Serna 2014, SIAM Journal on Scientific Computing 36).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from voirdire.infer.nested.coordinates import Coordinates, coordinates
from voirdire.infer.nested.cost import CHAINS, LONGEST, MOST_STEPS, SHORTEST, STEP, WARM, seconds
from voirdire.infer.nested.nested import spread_covariance
from voirdire.infer.nested.rescaling import rescaled
from voirdire.infer.nested.search import Nested
from voirdire.typing import Bools, Floats

ACCEPTED = 0.8  # share of accepted moves that the step is adapted to
COMPILED = 0.5  # seconds of a warm-up from which compiling pays
OUTER = 0.21178  # share of a step that the first and the last of its three changes of momentum take


class Moves:
    """Chains that go on, from the normal distribution in the coordinates of a search's end.

    Parameters
    ----------
    nested : Nested
    rng : numpy.random.Generator
    chains : int
    warm : (int, int)
        Moves before and after coordinates are adapted to the chains; they are not, where there are none after.

    Attributes
    ----------
    where : Coordinates
    z : array, shape (chains, size)
        Where chains are, in these.
    """

    def __init__(
        self, nested: Nested, rng: np.random.Generator, chains: int = CHAINS, warm: tuple[int, int] = WARM
    ) -> None:
        self._rng = rng
        compiled = seconds(nested.model, warm[0] + warm[1], chains) > COMPILED
        self.where: Coordinates = replace(coordinates(nested, spread_covariance(nested)), compiled=compiled)
        self.z = rng.standard_normal((chains, self.where.size))
        self._log_step = math.log(STEP) - 0.25 * math.log(self.where.size)
        self._value, self._slope = self.where.energy(self.z)
        # coordinates are those of one mode, in which paths are long: chains that go to others come later
        first, went = self._warmed(warm[0], exchanging=not warm[1])
        if not warm[1]:
            return
        # what the chains had forgotten by then is what they began with; those that never moved begin where others are
        still = ~np.any(went[len(went) // 3 :], axis=0)
        if still.all():
            return
        self.z[still] = self.z[rng.choice(np.flatnonzero(~still), int(still.sum()))]
        there = self.where.adapted(np.stack([z[~still] for z in first[len(first) // 3 :]]))
        self.z = there.white(self.z, self.where)
        self.where = there
        self._value, self._slope = self.where.energy(self.z)
        self._warmed(warm[1])

    def _warmed(self, moves: int, *, exchanging: bool = True) -> tuple[list[Floats], list[Bools]]:
        """Where chains were in moves during which the step is adapted, and which paths were accepted.

        The step ends at the mean of the later half's.
        """
        places, went, steps = [], [], []
        for turn in range(moves):
            went.append(self._path(turn))
            self._rescale(exchanging=exchanging)
            places.append(self.z)
            steps.append(self._log_step)
        self._log_step = float(np.mean(steps[moves // 2 :]))
        return places, went

    @property
    def step(self) -> float:
        """Length of a step."""
        return math.exp(self._log_step)

    def draws(self, count: int, gap: int = 1) -> tuple[Floats, Floats]:
        """The next draws of every chain, ``gap`` moves apart: latent values, (chains, draws, size), and log spreads."""
        places = [self.where.place([self._move() for _ in range(gap)][-1]) for _ in range(count)]
        x, hyper = (np.stack(part, axis=1) for part in zip(*places, strict=True))
        return x, hyper

    def _move(self) -> Floats:
        """One transition of all chains."""
        self._path()
        self._rescale()
        return self.z

    def _path(self, turn: int | None = None) -> Bools:
        """Paths of all chains, and which were accepted; in ``turn`` of the warm-up the step is adapted."""
        rng, z, value, slope = self._rng, self.z, self._value, self._slope
        length = rng.uniform(SHORTEST, LONGEST)
        steps = math.ceil(length / math.exp(self._log_step))
        step, steps = length / steps, min(steps, MOST_STEPS)
        momentum = rng.standard_normal(z.shape)
        place, there, its_slope, p = z, value, slope, momentum
        with np.errstate(all="ignore"):  # an orbit that leaves for infinity is not accepted
            for _ in range(steps):
                p = p - OUTER * step * its_slope
                place = place + 0.5 * step * p
                p = p - (1.0 - 2.0 * OUTER) * step * self.where.energy(place)[1]
                place = place + 0.5 * step * p
                there, its_slope = self.where.energy(place)
                p = p - OUTER * step * its_slope
            gain = value - there + 0.5 * ((momentum**2).sum(axis=1) - (p**2).sum(axis=1))
            chance = np.where(np.isnan(gain), 0.0, np.exp(np.minimum(gain, 0.0)))
        goes = rng.random(len(z)) < chance
        self.z, self._slope = (np.where(goes[:, None], *both) for both in ((place, z), (its_slope, slope)))
        self._value = np.where(goes, there, value)
        if turn is not None:
            self._log_step += (float(chance.mean()) - ACCEPTED) * min(1.0, 10.0 / (turn + 5.0))
        return goes

    def _rescale(self, *, exchanging: bool = True) -> None:
        """Steps of the spreads of all chains that take their values along."""
        with np.errstate(all="ignore"):  # what is not finite is not accepted
            self.z = rescaled(self.where, self.z, self._rng, exchanging=exchanging)
        self._value, self._slope = self.where.energy(self.z)
