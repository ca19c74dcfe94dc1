"""What a parameter is: its name, its dimensions, its prior and the coordinates it is estimated in.

Every parameter lives on the whole real line: strengths and log weights as they are, probabilities as
log-odds. So a density, its gradient and its Laplace approximation need no further transformation, and
the same vector means the same thing to every engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from voirdire.terms.arrays import Array, log_sigmoid, zero_sum, zero_sum_free


@dataclass(frozen=True)
class Normal:
    """Normal prior with ``mean`` and ``sd`` (> 0), on the parameter's own scale."""

    mean: float
    sd: float

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at ``x``, elementwise."""
        z = (x - self.mean) / self.sd
        return -0.5 * z * z - math.log(self.sd) - 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class LogitBeta:
    """Beta(``a``, ``b``) prior on a probability p, as a density of its log-odds x.

    log f(x) = a log p + b log(1 - p) - log B(a, b) with p = sigmoid(x): the Beta density times the
    Jacobian p (1 - p). Its mode in x is at p = a / (a + b), the Beta's mean.
    """

    a: float
    b: float

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at the log-odds ``x``, elementwise."""
        norm = math.lgamma(self.a) + math.lgamma(self.b) - math.lgamma(self.a + self.b)
        return self.a * log_sigmoid(x, xp) + self.b * log_sigmoid(-x, xp) - norm


@dataclass(frozen=True)
class Parameter:
    """One named array of unknowns.

    Parameters
    ----------
    name : str
    dims : tuple of str
        Names of its axes, among "judge", "criterion", "item"; () for a single number.
    prior : Normal or LogitBeta
        Elementwise. Under ``zero_sum`` it is the prior of the free coordinates (see
        :func:`voirdire.terms.arrays.zero_sum`).
    zero_sum : bool
        Whether the values sum to zero along the last axis.

    Examples
    --------
    >>> p = Parameter("strength", ("criterion", "item"), Normal(0.0, 3.0), zero_sum=True)
    >>> p.shape({"criterion": 2, "item": 5}), p.free_shape({"criterion": 2, "item": 5})
    ((2, 5), (2, 4))
    """

    name: str
    dims: tuple[str, ...]
    prior: Normal | LogitBeta
    zero_sum: bool = False

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Shape of the values, given the number of levels of each dimension."""
        return tuple(sizes[dim] for dim in self.dims)

    def free_shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Shape of the free coordinates."""
        shape = self.shape(sizes)
        return (*shape[:-1], shape[-1] - 1) if self.zero_sum else shape

    def value(self, free: Array, sizes: dict[str, int], xp: Any) -> Array:
        """Values from free coordinates (any leading axes, e.g. draws, are kept)."""
        return zero_sum(free, self.shape(sizes)[-1], xp) if self.zero_sum else free

    def free(self, value: Array) -> Array:
        """Free coordinates from values."""
        return zero_sum_free(value) if self.zero_sum else value
