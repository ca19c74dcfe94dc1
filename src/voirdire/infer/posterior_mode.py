"""Result of a search for the posterior mode."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.typing import Floats

TOLERANCE = 1e-6  # on the largest component of the gradient


@dataclass(frozen=True, eq=False)
class Mode:
    """A posterior mode in free coordinates.

    Parameters
    ----------
    x : array, shape (size,)
    log_density : float
        Unnormalised log posterior density there.
    gradient : float
        Largest absolute component of its gradient.
    iterations, evaluations : int
    starts : tuple of float
        Log density reached from each start that was tried; more than one only where the mode is in doubt.
    """

    x: Floats
    log_density: float
    gradient: float
    iterations: int
    evaluations: int
    starts: tuple[float, ...]

    @property
    def converged(self) -> bool:
        """True if the gradient is small for the size of the log density (rounding bounds what is reachable)."""
        return bool(self.gradient <= 10 * TOLERANCE * max(1.0, abs(self.log_density) * 1e-4))
