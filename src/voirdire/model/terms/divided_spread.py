"""Standard deviations as parts of one scale, which is learned with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogExponential
from voirdire.typing import Floats


@dataclass(frozen=True)
class LogDivided(LogExponential):
    """Prior of a standard deviation and n - 1 others that makes their common scale Exponential(``rate``).

    With T the sum of all n, M = sqrt(2) T / n ~ Exponential(rate), and the shares of T are uniformly distributed on the
    simplex: T and the shares are independent, and the joint density is a exp(-a T) (n - 1)! / T^(n - 1), a = sqrt(2)
    rate / n. The ``others`` have :class:`LogExponential` priors of the same rate, and so does this parameter's own
    density; :meth:`log_division` converts their product to the joint prior.

    If the n were independent, T would be Gamma(n): with more parts the prior of the common scale would be more
    concentrated, although votes contain little information on it. For n = 2 equal parts s, M is
    sqrt(2) s, the standard deviation of the sum of both effects.

    Attributes
    ----------
    others : str
        Name of the parameter with the logarithms of the others, shape (..., n - 1).

    Examples
    --------
    >>> import numpy as np
    >>> prior = LogDivided(rate=0.3, others="log_spread")
    >>> logs = np.log([1.0, 2.0])
    >>> joint = LogExponential(0.3).log_density(logs, np).sum() + prior.log_division(logs, 2, np).sum()
    >>> rate = prior.rate_of_sum(2)
    >>> bool(np.isclose(joint, np.log(rate) - 3.0 * rate - np.log(3.0) + logs.sum()))
    True
    """

    words: ClassVar[str] = (
        "log divided Exponential(rate): with T the sum of exp(x) of this and the others, n in all, a = sqrt(2) rate / "
        "n, the joint density of all n is log a - a T + log (n - 1)! - (n - 1) log T + the sum of all x, which takes "
        "the place of log rate + x - rate exp(x) of each"
    )

    others: str

    def __str__(self) -> str:
        return f"log divided Exponential({self.rate:g}) with {self.others}"

    def log_division(self, logs: Array, n: int, xp: Any) -> Array:
        """Log joint density minus that of independent exponential priors, in shares; only their sum is meaningful.

        Parameters
        ----------
        logs : array, shape (..., n)
            Logarithms of all n standard deviations.
        n : int

        Returns
        -------
        array, shape (..., n)
        """
        highest = logs.max(axis=-1)[..., None]
        log_sum = highest + xp.log(xp.exp(logs - highest).sum(axis=-1))[..., None]
        return (self.division_constant(n) - (n - 1) * log_sum) / n + self.beyond(n) * xp.exp(logs)

    def division_constant(self, n: int) -> float:
        """Constant of :meth:`log_division` summed over n parts, beside (1 - n) log T + beyond T, T their sum."""
        return math.log(self.rate_of_sum(n)) - n * math.log(self.rate) + math.lgamma(n)

    def beyond(self, n: int) -> float:
        """Coefficient of T in :meth:`log_division` summed over all n parts."""
        return self.rate - self.rate_of_sum(n)

    def slope(self, logs: Floats) -> Floats:
        """Slope of :meth:`log_division` by each logarithm, shape (..., n)."""
        n, spreads = logs.shape[-1], np.exp(logs)
        by_sum = self.beyond(n) - (n - 1) / spreads.sum(axis=-1)
        return np.asarray(spreads * by_sum[..., None])

    def rate_of_sum(self, n: int) -> float:
        """Rate of the exponential distribution of the sum of all n standard deviations."""
        return math.sqrt(2.0) * self.rate / n
