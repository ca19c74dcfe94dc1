"""Joint prior of spreads that are parts of one scale, in addition to the prior of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.structure import LogDivided
from voirdire.typing import Bools, Floats, Ints


class Division(NamedTuple):
    """Spreads that are parts of one scale.

    Parameters
    ----------
    prior : LogDivided
        Joint prior of the parts.
    places : array, shape (parts,)
        Positions of the learned parts among the hyperparameters.
    fixed_logs : array, shape (fixed parts,)
        Logarithms of the fixed parts.
    """

    prior: LogDivided
    places: Ints
    fixed_logs: Floats

    def log_density(self, hyper: Array, xp: Any = np) -> Array:
        """Compute the log density, shape (...), of logarithms, (..., hypers), beyond that of independent ones."""
        logs = self._part_logarithms(hyper, xp)
        return self.prior.log_division(logs, logs.shape[-1], xp).sum(axis=-1)

    def slope(self, hyper: Floats) -> Floats:
        """Compute the slope of :meth:`log_density`, shape (..., hypers)."""
        slope = np.zeros(hyper.shape)
        slope[..., self.places] = self.prior.slope(self._part_logarithms(hyper, np))[..., : len(self.places)]
        return slope

    def _part_logarithms(self, hyper: Array, xp: Any) -> Array:
        fixed = xp.broadcast_to(xp.asarray(self.fixed_logs), (*hyper.shape[:-1], len(self.fixed_logs)))
        return xp.concatenate([hyper[..., self.places], fixed], axis=-1)

    def with_fixed(self, kept: Bools, hyper: Floats) -> Division:
        """Fix the hyperparameters that are not ``kept`` at ``hyper``, shape (hypers,) both."""
        stays = kept[self.places]
        fixed_logs = np.concatenate([self.fixed_logs, hyper[self.places[~stays]]])
        return self._replace(places=(np.cumsum(kept) - 1)[self.places[stays]], fixed_logs=fixed_logs)


def build_division(density: LogDensity, names: Sequence[str]) -> Division | None:
    """Find the division of a density; ``names`` are those of its hyperparameters, with levels in brackets."""
    for p in density.parameters:
        if isinstance(p.prior, LogDivided):
            positions = [i for i, name in enumerate(names) if name.split("[")[0] in (p.name, p.prior.others)]
            return Division(p.prior, np.array(positions), np.zeros(0))
    return None
