"""Latent values and their spreads: what a nested approximation needs to know of a model and a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.nested.answers import CellAnswers
from voirdire.infer.nested.pattern import Pattern
from voirdire.typing import Bools, Floats, Ints

STEP = 1e-5  # of differences by logarithms of spreads, of what is known in closed form


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
    """A spread or mean that is learned, by its logarithm; its prior Exponential(``rate``).

    Where there is an ``sd`` the prior of the logarithm is Normal(``mean``, ``sd``) instead.
    """

    name: str
    rate: float
    mean: float = 0.0
    sd: float = 0.0


class Prior(NamedTuple):
    """Log density of each latent value, with its slope and its precision; shape (size,) each.

    The precision of one whose prior has a reversed part is that of either part by itself.
    """

    log: Floats
    slope: Floats
    precision: Floats


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
    answers : CellAnswers
        Of the cells, given their predictors.
    latent : callable
        Latent values and logarithms of spreads of flat vectors of the density.
    flat : callable
        The flat vectors of latent values, shape (..., size), and logarithms of spreads.
    near_normal : bool
        Whether answers say enough of each latent value that a trial tells where the approximation holds, however small
        the table.
    scales : sparse matrix, shape (predictors * cells, hypers), or None
        With which logarithms of spreads enter predictors: those of noise, of answers that are numbers.
    """

    groups: tuple[Group, ...]
    hypers: tuple[Hyper, ...]
    pattern: Pattern
    answers: CellAnswers
    latent: Callable[[Floats], tuple[Floats, Floats]]
    flat: Callable[[Floats, Floats], Floats]
    near_normal: bool = False
    scales: Any = None

    def predictors(self, x: Floats, hyper: Floats) -> Floats:
        """Predictors of all cells, shape (..., predictors, cells), of latent values and logarithms of spreads."""
        sums = self.pattern.predictors(x)
        if self.scales is None:
            return sums
        return np.asarray(sums + (self.scales @ hyper.T).T.reshape(*hyper.shape[:-1], *sums.shape[-2:]))

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
        """Prior of the latent values, shape (..., size), given the logarithms of spreads and means, (..., hypers)."""
        log_t, m, turned = self._scales(hyper)
        precision = np.exp(-2.0 * log_t)
        z = (x - m) * np.exp(-log_t)
        log = -0.5 * z * z - log_t - 0.5 * math.log(2.0 * math.pi)
        if not turned.any():
            return Prior(log, (m - x) * precision, precision)
        log, share, other = _with_reversed(log, z, m, log_t, turned)
        return Prior(log, -(z + share * (other - z)) * np.exp(-log_t), precision)

    def curvature_of_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Minus the second derivatives of the log prior, shape (size,): the precision where nothing is reversed."""
        ahead, behind = (self.prior(x + sign * STEP, hyper).slope for sign in (1.0, -1.0))
        return (behind - ahead) / (2.0 * STEP)

    def slopes_of_prior(self, x: Floats, hyper: Floats) -> tuple[Floats, Floats, Floats]:
        """Log prior of the latent values, shape (...), with gradients by them and by the logarithms, (..., hypers)."""
        log_t, m, turned = self._scales(hyper)
        inverse = np.exp(-log_t)
        z = (x - m) * inverse
        log = -0.5 * z * z - log_t - 0.5 * math.log(2.0 * math.pi)
        of_x, of_spread, of_mean = -z, z * z - 1.0, z
        if turned.any():
            log, share, other = _with_reversed(log, z, m, log_t, turned)
            of_x = -(z + share * (other - z))
            of_spread = of_spread + share * (other**2 - z * z)
            of_mean = z - share * (z + other)
        spreads, means = self.levels
        by_hyper = of_spread @ spreads
        if means.any():
            by_hyper = by_hyper + (of_mean * inverse * m) @ means
        return log.sum(axis=-1), of_x * inverse, np.asarray(by_hyper)

    @cached_property
    def levels(self) -> tuple[Floats, Floats]:
        """Which hyperparameter is the spread of each value, and which its mean: 0 or 1, shape (size, hypers) each."""
        spread_at, _, mean_at, _, _ = self._numbers
        each = np.arange(len(self.hypers))
        return (spread_at[:, None] == each).astype(float), (mean_at[:, None] == each).astype(float)

    def means(self, hyper: Floats) -> Floats:
        """Prior mean of each value, shape (..., size)."""
        return self._scales(hyper)[1]

    def _scales(self, hyper: Floats) -> tuple[Floats, Floats, Floats]:
        """Log spread and mean of each value, shape (..., size), and the share of its prior that is reversed."""
        spread_at, log_spread, mean_at, mean, turned = self._numbers
        padded = np.concatenate([hyper, np.zeros((*hyper.shape[:-1], 1))], axis=-1)
        log_t = np.where(spread_at >= 0, padded[..., spread_at], log_spread)
        return log_t, np.where(mean_at >= 0, np.exp(padded[..., mean_at]), mean), turned

    def hyper_prior(self, hyper: Floats) -> tuple[Any, Floats]:
        """Log prior density of the logarithms, shape (...), and its slope, shape (..., hypers)."""
        rates, means, sds = np.array([h[1:] for h in self.hypers]).reshape(-1, 3).T
        values, normal = np.exp(hyper), sds > 0
        z = (hyper - means) / np.where(normal, sds, 1.0)
        of_normal = -0.5 * z * z - np.log(np.where(normal, sds, 1.0)) - 0.5 * math.log(2.0 * math.pi)
        of_exponential = np.log(np.where(normal, 1.0, rates)) + hyper - rates * values
        log = np.where(normal, of_normal, of_exponential)
        return log.sum(axis=-1), np.where(normal, -z / np.where(normal, sds, 1.0), 1.0 - rates * values)


def _with_reversed(
    log: Floats, z: Floats, m: Floats, log_t: Floats, turned: Floats
) -> tuple[Floats, Floats, Floats]:
    """Log density with the reversed part, the part's share in it, and z seen from the reversed mean."""
    other = z + 2.0 * m * np.exp(-log_t)
    with np.errstate(divide="ignore"):
        straight = log + np.log1p(-turned)
        reverse = log - 0.5 * (other**2 - z**2) + np.log(turned)
    both = np.logaddexp(straight, reverse)
    return both, np.exp(reverse - both), other
