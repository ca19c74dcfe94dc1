"""Parameter of a model: its name, dimensions, prior and coordinates of estimation.

Every parameter has values on the whole real line: strengths and log weights unchanged, probabilities as
log-odds. A density, its gradient and its Laplace approximation therefore need no further transformation, and
a vector has the same meaning in every engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, log_normal_cdf, log_sigmoid, zero_sum, zero_sum_free


@dataclass(frozen=True)
class Normal:
    """Normal prior with ``mean`` and ``sd`` (> 0), on the parameter's own scale."""

    words: ClassVar[str] = "Normal(m, s): -(x - m)^2 / (2 s^2) - log s - log(2 pi) / 2"

    mean: float
    sd: float

    def __str__(self) -> str:
        return f"Normal({self.mean:g}, {self.sd:g})"

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at ``x``, elementwise."""
        z = (x - self.mean) / self.sd
        return -0.5 * z * z - (math.log(self.sd) + 0.5 * math.log(2.0 * math.pi))


@dataclass(frozen=True)
class LogNormal(Normal):
    """Normal prior on the logarithm x of a standard deviation or slope that is estimated like a spread.

    The density is that of :class:`Normal`. Where spreads are estimated by marginal likelihood
    (:mod:`voirdire.infer.latent_gaussian`), so is this parameter, with the latent values integrated out.
    """


@dataclass(frozen=True)
class LogitBeta:
    """Prior on a probability p, (1 - reversed) Beta(a, b) + reversed Beta(b, a), as a density of its log-odds x.

    Each component is the Beta density times the Jacobian p (1 - p) of p = sigmoid(x): a log p + b log(1 - p)
    - log B(a, b) on the log scale. ``reversed`` (from 0 to below 1/2) is the prior probability that a judge's answers
    are reversed. It bounds one judge's influence on the orientation of the panel: with a > b, a Beta(a, b) alone
    vanishes at p = 0, so that two judges that are always wrong outweigh ten that are mostly right, while here the
    densities at p and at 1 - p differ by a factor of (1 - reversed) / reversed at most.
    """

    words: ClassVar[str] = (
        "logit Beta(a, b; r): p = sigmoid(x) ~ (1 - r) Beta(a, b) + r Beta(b, a), with the Jacobian "
        "log[(1 - r) p^a (1 - p)^b + r p^b (1 - p)^a] - log B(a, b)"
    )

    a: float
    b: float
    reversed: float

    def __str__(self) -> str:
        return f"logit Beta({self.a:g}, {self.b:g}; {self.reversed:g})"

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at the log-odds ``x``, elementwise."""
        norm = math.lgamma(self.a) + math.lgamma(self.b) - math.lgamma(self.a + self.b)
        right = log_sigmoid(x, xp)
        wrong = right - x  # log sigmoid(-x)
        straight = self.a * right + self.b * wrong + math.log1p(-self.reversed)
        if self.reversed == 0:
            return straight - norm
        return xp.logaddexp(straight, self.a * wrong + self.b * right + math.log(self.reversed)) - norm


@dataclass(frozen=True)
class TwoSided:
    """Prior (1 - reversed) Normal(mean, sd) + reversed Normal(-mean, sd) of a slope that may be reversed.

    As in :class:`LogitBeta`, ``reversed`` (from 0 to below 1/2) bounds one judge's influence on the orientation of
    the panel: the densities at x and at -x differ by a factor of (1 - reversed) / reversed at most.
    """

    words: ClassVar[str] = (
        "two-sided Normal(m, s; r): log[(1 - r) phi((x - m) / s) + r phi((x + m) / s)] - log s, "
        "phi the standard normal density"
    )

    mean: float
    sd: float
    reversed: float

    def __str__(self) -> str:
        return f"two-sided Normal({self.mean:g}, {self.sd:g}; {self.reversed:g})"

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at ``x``, elementwise."""
        straight = Normal(self.mean, self.sd).log_density(x, xp) + math.log1p(-self.reversed)
        if self.reversed == 0:
            return straight
        return xp.logaddexp(straight, Normal(-self.mean, self.sd).log_density(x, xp) + math.log(self.reversed))


@dataclass(frozen=True)
class LogExponential:
    """Exponential prior of ``rate`` (> 0) on a standard deviation s, as a density of x = log s.

    The density is log rate + x - rate exp(x), including the Jacobian. Its mode is at s = 1 / rate. The density of s is
    highest at s = 0, the base model without differences (Simpson et al. 2017, Statistical Science 32).
    """

    words: ClassVar[str] = (
        "log Exponential(rate): exp(x) ~ Exponential(rate), with the Jacobian log rate + x - rate exp(x)"
    )

    rate: float

    def __str__(self) -> str:
        return f"log Exponential({self.rate:g})"

    def log_density(self, x: Array, xp: Any) -> Array:
        """Log density at ``x`` = log s, elementwise."""
        return math.log(self.rate) + x - self.rate * xp.exp(x)


def _words_in_units(mean: str, taken: str) -> str:
    """Write the log density of coordinates in data-dependent units, with a mean and what is ``taken`` off for it."""
    return (
        f"Normal({mean}, s) in units of u: the coordinate is psi = (x - {taken}) / u, u a function of the others "
        "and the table: -(psi u / s)^2 / 2 + log(u / s) - log(2 pi) / 2"
    )


@dataclass(frozen=True)
class Spread:
    """Normal prior in data-dependent units: in row c its sd is exp(``log_sd_name``_c), its mean ``level``_c.

    The estimated coordinate is psi = (x - level_c) / u, where u = (exp(-2 log_sd_c) + information)^(-1/2) approximates
    the standard deviation of x given everything else, such as the judges' noise. The maximum over psi of the density
    is then about the density of the other parameters with x integrated out (Laplace's method), up to a constant. The
    maximum over x would converge to a spread, or a judge's noise, of zero, and that over x / exp(log_sd) to an infinite
    spread (Neyman and Scott 1948, Econometrica 16). The posterior does not depend on the units.
    :meth:`.LogDensity.information` gives the information.

    Attributes
    ----------
    log_sd_name : str
        Name of the parameter with the logarithms of the standard deviations, over the leading dimensions of x; ""
        where the standard deviation is ``sd``.
    level : str
        Name of the parameter with the means; "" for zero.
    sd : float
        Fixed standard deviation.
    axes : int
        Number of axes of x that the spread does not have.
    """

    words: ClassVar[str] = _words_in_units("m", "m")

    log_sd_name: str
    level: str = ""
    sd: float = 1.0
    axes: int = 1

    def __str__(self) -> str:
        sd = f"exp({self.log_sd_name})" if self.log_sd_name else f"{self.sd:g}"
        return f"Normal({self.level or 0}, {sd}) in units of u"

    def log_sd(self, values: dict[str, Array]) -> Array:
        """Logarithm of the standard deviation, broadcasting with x."""
        return values[self.log_sd_name][(..., *[None] * self.axes)] if self.log_sd_name else math.log(self.sd)

    def mean(self, values: dict[str, Array], xp: Any) -> Array:
        """The mean, broadcasting with x."""
        return values[self.level][..., None] if self.level else 0.0

    def log_ratio(self, log_sd: Array, information: Array, xp: Any) -> Array:
        """Log of u relative to the standard deviation, averaged over the information's last axis.

        Examples
        --------
        >>> import numpy as np
        >>> float(np.exp(Spread("log_spread").log_ratio(0.0, np.array([3.0]), np)).round(3))
        0.5
        """
        variance = xp.exp(2.0 * log_sd)[..., None] if self.log_sd_name else math.exp(2.0 * log_sd)
        return -0.5 * xp.log1p(information * variance).mean(axis=-1)

    def log_density(self, psi: Array, log_ratio: Array, values: dict[str, Array], xp: Any) -> Array:
        """Log density of coordinates, elementwise; ``values`` determine the mean and the spread."""
        return _standard_log_density(psi * xp.exp(log_ratio)) + log_ratio


@dataclass(frozen=True)
class Around(Spread):
    """Normal prior of the columns of x about values shared by all rows: its mean in column i is ``level``_i."""

    words: ClassVar[str] = _words_in_units("m_i", "m_i")

    def mean(self, values: dict[str, Array], xp: Any) -> Array:
        """The mean, broadcasting with x."""
        return values[self.level][..., None, :]


@dataclass(frozen=True)
class AroundBoth(Around):
    """As :class:`Around`, with an additional mean for each row: in row c and column i ``level``_i + ``rows``_c."""

    words: ClassVar[str] = _words_in_units("m_i + l_c", "m_i - l_c")

    rows: str = ""

    def mean(self, values: dict[str, Array], xp: Any) -> Array:
        """The mean, broadcasting with x."""
        return values[self.level][..., None, :] + values[self.rows][..., :, None]


@dataclass(frozen=True)
class Population(Spread):
    """Prior of judges' parameters, Normal(m, t) with less mass below zero, m = exp(level), t = exp(log_sd).

    The density is that of Normal(m, t) times w(x) = r + (1 - 2 r) Phi(x), divided by the mean of w, which is
    r + (1 - 2 r) Phi(m / sqrt(1 + t^2)); r is ``reversed`` (from 0 to 1/2, which leaves the normal density). It is a
    mixture of a normal and an extended skew-normal density (Azzalini 1985, Scandinavian Journal of Statistics 12).
    Mean and spread of the population are learned with its judges, in data-dependent units (:class:`Spread`).

    The skewing factor gives x against -x the prior odds of (1 - r) / r at most, for any m and t. Where a few good
    judges are among many that guess, a normal population alone is wide and almost symmetric about zero, as if these few
    were equally likely to be always wrong. (1 - r) / r also bounds a single judge's influence beyond the population's.
    """

    words: ClassVar[str] = (
        "skewed Normal(m, s; r) in units of u: the coordinate is psi = (x - m) / u, u a function of the others: "
        "log phi(psi u / s) + log(u / s) + log[r + (1 - 2 r) Phi(x)] - log[r + (1 - 2 r) Phi(m / (1 + s^2)^(1/2))], "
        "phi and Phi the standard normal density and distribution function"
    )

    reversed: float = 0.0

    def __str__(self) -> str:
        return f"skewed Normal(exp({self.level}), exp({self.log_sd_name}); {self.reversed:g}) in units of u"

    def mean(self, values: dict[str, Array], xp: Any) -> Array:
        """Mean m before skewing, broadcasting with x."""
        return xp.exp(values[self.level])[..., None]

    def log_weight(self, x: Array, xp: Any) -> Array:
        """Log of w at ``x``."""
        return log_skew(x, self.reversed, xp)

    def log_mean_weight(self, values: dict[str, Array], xp: Any) -> Array:
        """Log of the mean of w, broadcasting with x."""
        m = self.mean(values, xp)
        return log_skew(m * xp.exp(-0.5 * xp.log1p(xp.exp(2.0 * self.log_sd(values)))), self.reversed, xp)

    def log_density(self, psi: Array, log_ratio: Array, values: dict[str, Array], xp: Any) -> Array:
        """As in :class:`Spread`."""
        z = psi * xp.exp(log_ratio)
        x = self.mean(values, xp) + z * xp.exp(self.log_sd(values))
        return _standard_log_density(z) + log_ratio + self.log_weight(x, xp) - self.log_mean_weight(values, xp)


def log_skew(x: Array, reversed_share: float, xp: Any) -> Array:
    """Log of r + (1 - 2 r) Phi(x), r the share.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_skew(np.array([-9.0, 0.0, 9.0]), 0.1, np)).round(3).tolist()
    [0.1, 0.5, 0.9]
    """
    above = log_normal_cdf(x, xp) + math.log1p(-2.0 * reversed_share)
    return xp.logaddexp(above, math.log(reversed_share)) if reversed_share else above


def _standard_log_density(z: Array) -> Array:
    """Log density of the standard normal distribution."""
    return -0.5 * z * z - 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Parameter:
    """One named array of unknown values.

    Parameters
    ----------
    name : str
    dims : tuple of str
        Names of its axes, such as "judge", "criterion", "item"; () for a single number.
    prior : Normal, LogitBeta, TwoSided, LogExponential or Spread
        Elementwise. Under ``zero_sum`` it is the prior of the free coordinates (see
        :func:`voirdire.model.terms.arrays.zero_sum`).
    zero_sum : bool
        True where the values sum to zero along the last axis.

    Examples
    --------
    >>> p = Parameter("strength", ("criterion", "item"), Normal(0.0, 3.0), zero_sum=True)
    >>> p.shape({"criterion": 2, "item": 5}), p.free_shape({"criterion": 2, "item": 5})
    ((2, 5), (2, 4))
    """

    name: str
    dims: tuple[str, ...]
    prior: Normal | LogitBeta | TwoSided | LogExponential | Spread
    zero_sum: bool = False

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Shape of the values, given the number of levels of each dimension."""
        return tuple(sizes[dim] for dim in self.dims)

    def free_shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Shape of the free coordinates."""
        shape = self.shape(sizes)
        return (*shape[:-1], shape[-1] - 1) if self.zero_sum else shape

    def value(self, free: Array, sizes: dict[str, int], xp: Any) -> Array:
        """Values from free coordinates; leading axes (e.g. draws) are kept."""
        return zero_sum(free, self.shape(sizes)[-1], xp) if self.zero_sum else free

    def free(self, value: Array) -> Array:
        """Free coordinates from values."""
        return zero_sum_free(value) if self.zero_sum else value


def spread_parameters(
    name: str, dims: tuple[str, ...], spread: str, rate: float, *, rows: int = 0, zero_sum: bool = False
) -> tuple[Parameter, Parameter]:
    """Parameters of values ~ Normal(0, s), and of the logarithm of s ~ Exponential(rate), called ``spread``.

    Parameters
    ----------
    name, dims
        Name and dimensions of the values.
    rows : int
        Number of leading dimensions with a separate spread for each level.

    Examples
    --------
    >>> [p.dims for p in spread_parameters("taste", ("judge", "item"), "log_taste_spread", 1.0, rows=1)]
    [('judge', 'item'), ('judge',)]
    """
    prior = Spread(spread, axes=len(dims) - rows)
    return (Parameter(name, dims, prior, zero_sum=zero_sum), Parameter(spread, dims[:rows], LogExponential(rate)))
