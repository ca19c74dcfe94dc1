"""Operations that chains ask for, wherever they are computed: on this processor here, elsewhere on another device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voirdire.infer.nested.coordinates import Coordinates
from voirdire.infer.nested.hamiltonian import Place
from voirdire.infer.nested.rescaling import rescale_chains
from voirdire.typing import Floats


class Executor(Protocol):
    """Operations in one set of coordinates, on points of shape (chains, size)."""

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Minus the log density of points, shape (chains,), up to a constant, and its gradient, (chains, size)."""

    def follow_path(self, here: Place, momentum: Floats, steps: int, step: float) -> tuple[Place, Floats]:
        """See :func:`.hamiltonian.follow_path`."""

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """Latent values, shape (chains, values), and logarithms of spreads and means, shape (chains, hypers)."""

    def rescale_chains(self, z: Floats, rng: np.random.Generator, tries: int, *, exchanging: bool) -> Floats:
        """See :func:`.rescaling.rescale_chains`."""


@dataclass(frozen=True, eq=False)
class OnProcessor:
    """Operations on this processor, by the kernel where it has the answers.

    Parameters
    ----------
    where : Coordinates
    """

    where: Coordinates

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """See :class:`Executor`."""
        return self.where.energy_gradient(z)

    def follow_path(self, here: Place, momentum: Floats, steps: int, step: float) -> tuple[Place, Floats]:
        """See :class:`Executor`."""
        return self.where.follow_path(here, momentum, steps, step)

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """See :class:`Executor`."""
        return self.where.to_values(z)

    def rescale_chains(self, z: Floats, rng: np.random.Generator, tries: int, *, exchanging: bool) -> Floats:
        """See :class:`Executor`."""
        with np.errstate(all="ignore"):  # what is not finite is not accepted
            return rescale_chains(self.where, z, rng, tries, exchanging=exchanging)
