"""Addition to the prior of spreads that are parts of one scale, beside the prior of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.divided import LogDivided
from voirdire.typing import Bools, Floats, Ints


class Division(NamedTuple):
    """Parts of one scale: their places among the hyperparameters, and the logarithms of those that are held.

    Parameters
    ----------
    prior : LogDivided
    at : array, shape (parts,)
    held : array, shape (held,)
    """

    prior: LogDivided
    at: Ints
    held: Floats

    def log_prior(self, hyper: Floats) -> tuple[Floats, Floats]:
        """Log density, shape (...), and its slope, shape (..., hypers)."""
        held = np.broadcast_to(self.held, (*hyper.shape[:-1], len(self.held)))
        logs = np.concatenate([hyper[..., self.at], held], axis=-1)
        slope = np.zeros(hyper.shape)
        slope[..., self.at] = self.prior.slope(logs)[..., : len(self.at)]
        return np.asarray(self.prior.log_division(logs, logs.shape[-1], np).sum(axis=-1)), slope

    def with_fixed(self, kept: Bools, hyper: Floats) -> Division:
        """The same where the hyperparameters that are not ``kept`` are held, shape (hypers,) both."""
        stays = kept[self.at]
        held = np.concatenate([self.held, hyper[self.at[~stays]]])
        return self._replace(at=(np.cumsum(kept) - 1)[self.at[stays]], held=held)


def build_division(density: LogDensity, names: Sequence[str]) -> Division | None:
    """The division of a density whose hyperparameters have such names, the levels of each in brackets."""
    for p in density.parameters:
        if isinstance(p.prior, LogDivided):
            among = [i for i, name in enumerate(names) if name.split("[")[0] in (p.name, p.prior.others)]
            return Division(p.prior, np.array(among), np.zeros(0))
    return None
