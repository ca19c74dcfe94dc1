"""Latent values and their spreads: what a nested approximation needs to know of a model and a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.hessian import products
from voirdire.infer.nested.arrow import Pattern
from voirdire.typing import Bools, Floats, Ints

STEP = 1e-5  # of differences by logarithms of spreads, of what is known in closed form
BEND = 1e-3  # of second differences of gradients, in standard deviations of the predictors


class Group(NamedTuple):
    """Latent values of one name and one prior, (1 - reversed) Normal(m, t) + reversed Normal(-m, t).

    Attributes
    ----------
    name : str
    size : int
    spread : str or float
        The hyperparameter whose exponential is t, or t itself.
    mean : str or float
        The hyperparameter whose exponential is m, or m itself.
    reversed : float
    few : bool
        Whether each is told by many answers, so that it stays when the others are integrated out; see
        :mod:`.nested.marginal`.
    """

    name: str
    size: int
    spread: str | float
    mean: str | float = 0.0
    reversed: float = 0.0
    few: bool = False


class Hyper(NamedTuple):
    """A spread or mean that is learned, by its logarithm; its prior Exponential(``rate``)."""

    name: str
    rate: float


class Prior(NamedTuple):
    """Log density of each latent value, with its slope and minus its curvature; shape (size,) each.

    ``firm`` is the curvature of the component alone, which is never negative.
    """

    log: Floats
    slope: Floats
    precision: Floats
    firm: Floats


@dataclass(frozen=True, eq=False)
class Field:
    """A model of one table as answers that depend on sums of latent values.

    Parameters
    ----------
    groups : tuple of Group
        In the order of the latent values.
    hypers : tuple of Hyper
    pattern : Pattern
        Which latent values make the predictors of each cell of answers.
    log_likelihood : callable
        Of predictors, shape (predictors, cells), for the array namespace given: sum over the cells.
    latent : callable
        Latent values and logarithms of spreads of flat vectors of the density.
    flat : callable
        The flat vectors of latent values, shape (..., size), and logarithms of spreads.
    """

    groups: tuple[Group, ...]
    hypers: tuple[Hyper, ...]
    pattern: Pattern
    log_likelihood: Callable[[Any, Any], Any]
    latent: Callable[[Floats], tuple[Floats, Floats]]
    flat: Callable[[Floats, Floats], Floats]

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each group stands."""
        found, start = {}, 0
        for group in self.groups:
            found[group.name] = slice(start, start + group.size)
            start += group.size
        return found

    @cached_property
    def few(self) -> Bools:
        """Which latent values stay when the others are integrated out, shape (size,)."""
        return np.repeat([group.few for group in self.groups], [group.size for group in self.groups])

    @cached_property
    def others(self) -> Pattern:
        """The pattern of the values that are integrated out, given those that stay."""
        pattern = self.pattern
        few = np.append(self.few, False)
        return replace(
            pattern,
            index=np.where(few[pattern.index], self.size, pattern.index),
            coefficients=np.where(few[pattern.index], 0.0, pattern.coefficients),
        )

    @property
    def size(self) -> int:
        """Number of latent values."""
        return self.pattern.size

    @cached_property
    def _numbers(self) -> tuple[Ints, Floats, Ints, Floats, Floats]:
        """Of each value: place of its spread among the hyperparameters, or the number given; so of its mean."""
        at = {hyper.name: i for i, hyper in enumerate(self.hypers)}
        sizes = [group.size for group in self.groups]

        def column(of: Callable[[Group], Any], kind: type) -> Any:
            return np.repeat(np.array([of(group) for group in self.groups], dtype=kind), sizes)

        return (
            column(lambda g: at.get(str(g.spread), -1), int),
            column(lambda g: 0.0 if isinstance(g.spread, str) else math.log(g.spread), float),
            column(lambda g: at.get(str(g.mean), -1), int),
            column(lambda g: 0.0 if isinstance(g.mean, str) else g.mean, float),
            column(lambda g: g.reversed, float),
        )

    def prior(self, x: Floats, hyper: Floats) -> Prior:
        """Prior of the latent values, given the logarithms of spreads and means, shape (hypers,)."""
        spread_at, log_spread, mean_at, mean, turned = self._numbers
        log_t = np.where(spread_at >= 0, np.append(hyper, 0.0)[spread_at], log_spread)
        m = np.where(mean_at >= 0, np.append(np.exp(hyper), 0.0)[mean_at], mean)
        precision = np.exp(-2.0 * log_t)
        z = (x - m) * np.exp(-log_t)
        log = -0.5 * z * z - log_t - 0.5 * math.log(2.0 * math.pi)
        slope = (m - x) * precision
        two = np.flatnonzero(turned)
        if not two.size:
            return Prior(log, slope, precision, precision)
        apart = 2.0 * m[two] * np.exp(-log_t[two])
        other = z[two] + apart
        with np.errstate(divide="ignore"):
            straight = log[two] + np.log1p(-turned[two])
            reverse = straight - 0.5 * (other**2 - z[two] ** 2) + np.log(turned[two] / (1.0 - turned[two]))
        log[two] = np.logaddexp(straight, reverse)
        share = np.exp(reverse - log[two])  # of the judges turned round
        slope[two] = -(z[two] + share * apart) * np.exp(-log_t[two])
        firm = precision.copy()
        precision[two] *= 1.0 - share * (1.0 - share) * apart**2
        return Prior(log, slope, precision, firm)

    def hyper_prior(self, hyper: Floats) -> tuple[float, Floats]:
        """Log prior density of the logarithms, and its slope."""
        rates = np.array([h.rate for h in self.hypers])
        values = np.exp(hyper)
        return float((np.log(rates) + hyper - rates * values).sum()), 1.0 - rates * values

    def both(self, predictors: Floats) -> tuple[float, Floats]:
        """Log likelihood and its gradient by the predictors, shape (predictors, cells)."""
        with np.errstate(all="ignore"):
            value, slope = autodiff.gradient(
                lambda flat: self._of(flat, predictors.shape), predictors.ravel()
            )
        return float(value), slope.reshape(predictors.shape)

    def curvature(self, predictors: Floats) -> Floats:
        """Minus the second derivatives of the log likelihood, shape (cells, predictors, predictors)."""
        kinds, cells = predictors.shape
        directions = np.repeat(np.eye(kinds), cells, axis=1)
        with np.errstate(all="ignore"):
            found = products(lambda flat: self._of(flat, predictors.shape), predictors.ravel(), directions)
        return -found.reshape(kinds, kinds, cells).transpose(2, 0, 1)

    def bend(self, predictors: Floats, covariance: Floats) -> Floats:
        """Half of the curvature's change by the predictors, summed with covariances: (predictors, cells).

        That is half the gradient of sum_ab C_ab W_ab, for C ``covariance`` and W :meth:`curvature`, by second
        differences of the gradient along the columns of a root of C.
        """
        kinds = len(predictors)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        centre = self.both(predictors)[1]
        total = np.zeros_like(predictors)
        for a in range(kinds):
            along = BEND * root[:, :, a].T
            total += self.both(predictors + along)[1] + self.both(predictors - along)[1] - 2.0 * centre
        return -0.5 * total / BEND**2

    def _of(self, flat: Any, shape: tuple[int, ...]) -> Any:
        return self.log_likelihood(flat.reshape(shape), autodiff.TAPED)
