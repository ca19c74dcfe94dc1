"""Priors of latent values by groups, and of the logarithms of their spreads and means."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.division import Division
from voirdire.model.terms.arrays import Array, log_normal_cdf
from voirdire.typing import Floats, Ints

DIFFERENCE_STEP = 1e-5  # step of differences of closed forms by logarithms of spreads
UNSKEWED_SHARE = 0.5  # reversed share of a prior that is not skewed


class Group(NamedTuple):
    """Latent values of one name and one prior: Normal(m, t), or skewed (:class:`.Population`) by ``reversed`` != 1/2.

    Attributes
    ----------
    name : str
    size : int
        Number of values.
    spread : str or float
        Hyperparameter for log t, or t itself.
    mean : str or float
        Hyperparameter for log m, or m itself.
    reversed : float
        Share of the population that is reversed; 1/2 for no skewness.
    kept : bool
        True if many answers inform each value, so that it is kept when the others are integrated out; see
        :mod:`.latent_gaussian.marginal`.
    """

    name: str
    size: int
    spread: str | float
    mean: str | float = 0.0
    reversed: float = UNSKEWED_SHARE
    kept: bool = False


class Hyperparameter(NamedTuple):
    """A spread or mean that is learned by its logarithm, with the prior Exponential(``rate``).

    If ``sd`` is positive, the prior of the logarithm is Normal(``mean``, ``sd``) instead.
    """

    name: str
    rate: float
    mean: float = 0.0
    sd: float = 0.0


class Prior(NamedTuple):
    """Log prior density of each latent value, its slope and its precision, shape (size,) each.

    For a skewed prior, the precision is that of the normal prior.
    """

    log: Floats
    slope: Floats
    precision: Floats


class LatentPriors:
    """Priors of a :class:`.LatentGaussianModel`."""

    groups: tuple[Group, ...]
    hypers: tuple[Hyperparameter, ...]
    division: Division | None

    @cached_property
    def _numbers(self) -> tuple[Ints, Floats, Ints, Floats]:
        """Position of each group's spread among the hyperparameters (-1 if fixed), its log; likewise its mean."""
        position = {hyper.name: i for i, hyper in enumerate(self.hypers)}
        spreads, means = ([getattr(group, name) for group in self.groups] for name in ("spread", "mean"))
        return (
            np.array([position.get(str(entry), -1) for entry in spreads], dtype=int),
            np.array([0.0 if isinstance(entry, str) else math.log(entry) for entry in spreads], dtype=float),
            np.array([position.get(str(entry), -1) for entry in means], dtype=int),
            np.array([0.0 if isinstance(entry, str) else entry for entry in means], dtype=float),
        )

    @cached_property
    def _reversed(self) -> Floats:
        """Reversed share of the prior of each group, shape (groups,)."""
        return np.array([group.reversed for group in self.groups], dtype=float)

    @cached_property
    def sizes(self) -> Ints:
        """Number of values of each group."""
        return np.array([group.size for group in self.groups], dtype=int)

    def prior(self, x: Floats, hyper: Floats) -> Prior:
        """Compute the prior of latent values, (..., size), given logarithms of spreads and means, (..., hypers)."""
        return self._prior_and_slopes(x, hyper)[0]

    def _prior_and_slopes(self, x: Floats, hyper: Floats) -> tuple[Prior, Floats, Floats]:
        """Compute the prior of each value, and its slopes by log t and log m, shape (..., size)."""
        log_t, m = self._value_scales(hyper)
        inverse = np.exp(-log_t)
        z = (x - m) * inverse
        log = -0.5 * z * z - log_t - 0.5 * math.log(2.0 * math.pi)
        of_x, of_spread, of_mean = -z * inverse, z * z - 1.0, z * inverse * m
        if self.skewed_values.size:
            skew = self.skew_effect(x[..., self.skewed_values], hyper)
            for total, part in zip((log, of_x, of_spread, of_mean), skew, strict=True):
                total[..., self.skewed_values] += part
        return Prior(log, of_x, np.broadcast_to(inverse * inverse, log.shape)), of_spread, of_mean

    def curvature_of_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Compute minus the second derivatives of the log prior, shape (size,): the precision without skewness."""
        ahead, behind = (self.prior(x + sign * DIFFERENCE_STEP, hyper).slope for sign in (1.0, -1.0))
        return (behind - ahead) / (2.0 * DIFFERENCE_STEP)

    def steepness_of_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Compute :meth:`curvature_of_prior`, but not below the precision, so that Newton steps are not too long."""
        precision = np.array(self.prior(x, hyper).precision)
        if self.skewed_values.size:
            precision[self.skewed_values] = np.maximum(precision, self.curvature_of_prior(x, hyper))[self.skewed_values]
        return precision

    def slopes_of_prior(self, x: Floats, hyper: Floats) -> tuple[Floats, Floats, Floats]:
        """Compute the log prior, shape (...), and its gradients by latent values and by logarithms, (..., hypers)."""
        prior, of_spread, of_mean = self._prior_and_slopes(x, hyper)
        spreads, means = self.levels
        by_hyper = of_spread @ spreads
        if means.any():
            by_hyper = by_hyper + of_mean @ means
        return prior.log.sum(axis=-1), prior.slope, np.asarray(by_hyper)

    @cached_property
    def skewed_values(self) -> Ints:
        """Positions of the values with a skewed prior."""
        return np.flatnonzero(self.expand_group_values(self._reversed) != UNSKEWED_SHARE)

    @cached_property
    def _skewed_groups(self) -> tuple[Ints, Floats]:
        """Group and reversed share of each value with a skewed prior."""
        group = self.expand_group_values(np.arange(len(self.groups)))[self.skewed_values]
        return group, self._reversed[group]

    def skew_effect(self, x: Floats, hyper: Floats) -> SkewEffect:
        """Compute the effect of skewness on the prior of the skewed values, shape (..., skewed)."""
        priors, (group, share) = self.group_priors(hyper), self._skewed_groups
        log_t, m = priors.log_spread[..., group], priors.mean[..., group]
        variance = np.exp(2.0 * log_t)
        root = np.sqrt(1.0 + variance)
        log_weight, of_x = _skew_weight(x, share)
        log_total, total_slope = _skew_weight(m / root, share)
        return SkewEffect(log_weight - log_total, of_x, total_slope * m * variance / root**3, -total_slope * m / root)

    @cached_property
    def levels(self) -> tuple[Floats, Floats]:
        """Indicators, 0 or 1, of each value's spread and mean among the hyperparameters, (size, hypers) each."""
        spread_at, _, mean_at, _ = self._numbers
        numbers = np.arange(len(self.hypers))
        spreads, means = (np.repeat(positions, self.sizes)[:, None] == numbers for positions in (spread_at, mean_at))
        return spreads.astype(float), means.astype(float)

    def group_priors(self, hyper: Array, xp: Any = np) -> GroupPriors:
        """Compute spreads and means of groups at logarithms of spreads and means, shape (..., hypers)."""
        spread_at, log_spread, mean_at, mean = self._numbers
        padded = _pad_last(hyper, xp)
        log_spread = xp.where(spread_at >= 0, padded[..., spread_at], log_spread)
        return GroupPriors(spread_at, mean_at, log_spread, xp.where(mean_at >= 0, xp.exp(padded[..., mean_at]), mean))

    def rescaled(self, x: Array, hyper: Array, new_hyper: Array, xp: Any = np) -> tuple[Array, Array]:
        """Rescale values as logarithms go from ``hyper`` to ``new_hyper``; return them and the log volume."""
        log_ratio = _pad_last(new_hyper - hyper, xp)[..., self._numbers[0]]
        deviation = (x - self.prior_means(hyper, xp)) * self.expand_group_values(xp.exp(log_ratio), xp)
        return self.prior_means(new_hyper, xp) + deviation, (log_ratio * self.sizes).sum(axis=-1)

    def prior_means(self, hyper: Array, xp: Any = np) -> Array:
        """Compute the prior mean of each value, shape (..., size), or (size,) if no mean is learned."""
        _, _, mean_at, mean = self._numbers
        if (mean_at < 0).all():
            return self.expand_group_values(mean)
        return self.expand_group_values(self.group_priors(hyper, xp).mean, xp)

    def _value_scales(self, hyper: Floats) -> tuple[Floats, Floats]:
        """Compute the log spread and the mean of each value, shape (..., size)."""
        priors = self.group_priors(hyper)
        return self.expand_group_values(priors.log_spread), self.expand_group_values(priors.mean)

    def expand_group_values(self, of_groups: Array, xp: Any = np) -> Array:
        """Repeat numbers of groups, shape (..., groups), for each of their values, shape (..., size)."""
        if xp is np:
            return np.repeat(of_groups, self.sizes, axis=-1)
        return of_groups @ self._members  # a product, so that its gradient is one, too

    @cached_property
    def _members(self) -> Floats:
        """Indicators, 0 or 1, of the values of each group, shape (groups, size)."""
        return np.repeat(np.eye(len(self.groups)), self.sizes, axis=1)

    def log_prior(self, x: Floats, hyper: Floats) -> Floats:
        """Compute the log prior of all latent values together, shape (...)."""
        return np.asarray(self.relative_log_prior(x, hyper) - 0.5 * math.log(2.0 * math.pi) * x.shape[-1])

    def relative_log_prior(self, x: Array, hyper: Array, xp: Any = np) -> Array:
        """Compute :meth:`log_prior` up to a constant."""
        priors = self.group_priors(hyper, xp)
        deviation = x - self.expand_group_values(priors.mean, xp)
        z = deviation * self.expand_group_values(xp.exp(-priors.log_spread), xp)
        log = -0.5 * (z * z).sum(axis=-1) - (priors.log_spread * self.sizes).sum(axis=-1)
        if not self.skewed_values.size:
            return log
        group, share = self._skewed_groups
        standard_mean = priors.mean[..., group] / xp.sqrt(1.0 + xp.exp(2.0 * priors.log_spread[..., group]))
        log_weight, log_total = (
            _log_skew_weight(values, share, xp) for values in (x[..., self.skewed_values], standard_mean)
        )
        return log + (log_weight - log_total).sum(axis=-1)

    def hyper_prior(self, hyper: Floats) -> tuple[Any, Floats]:
        """Compute the log prior density of the logarithms, shape (...), and its slope, shape (..., hypers)."""
        rates, means, sds = self.hyper_numbers
        sd = np.where(sds > 0, sds, 1.0)
        slope = np.where(sds > 0, (means - hyper) / sd**2, 1.0 - rates * np.exp(hyper))
        if self.division is not None:
            slope = slope + self.division.slope(hyper)
        return self.relative_hyper_prior(hyper) + self.hyper_constant, slope

    def relative_hyper_prior(self, hyper: Array, xp: Any = np) -> Array:
        """Compute the log density of :meth:`hyper_prior` less :attr:`hyper_constant`."""
        rates, means, sds = self.hyper_numbers
        z = (hyper - means) / np.where(sds > 0, sds, 1.0)
        log = xp.where(sds > 0, -0.5 * z * z, hyper - rates * xp.exp(hyper)).sum(axis=-1)
        return log if self.division is None else log + self.division.log_density(hyper, xp)

    @cached_property
    def hyper_numbers(self) -> tuple[Floats, Floats, Floats]:
        """Rates, means and standard deviations of the priors of logarithms, shape (hypers,) each."""
        rates, means, sds = np.array([hyper[1:] for hyper in self.hypers]).reshape(-1, 3).T
        return rates, means, sds

    @cached_property
    def hyper_constant(self) -> float:
        """Constant of the log prior density of all logarithms, without that of a division."""
        rates, _, sds = self.hyper_numbers
        normal_constant = -np.log(np.where(sds > 0, sds, 1.0)) - 0.5 * math.log(2.0 * math.pi)
        return float(np.where(sds > 0, normal_constant, np.log(np.where(sds > 0, 1.0, rates))).sum())


class GroupPriors(NamedTuple):
    """Priors of groups.

    Attributes
    ----------
    spread_at, mean_at : int array, shape (groups,)
        Position of the hyperparameter of the spread, or mean; -1 if that is fixed.
    log_spread, mean : array, shape (..., groups)
        Logarithm of the spread, and the mean itself.
    """

    spread_at: Ints
    mean_at: Ints
    log_spread: Floats
    mean: Floats


class SkewEffect(NamedTuple):
    """Log ratio of the skewed to the normal prior, and its slopes by the value, log t and log m; (..., skewed) each."""

    log: Floats
    of_x: Floats
    of_spread: Floats
    of_mean: Floats


def _pad_last(rows: Array, xp: Any) -> Array:
    """Append a zero to rows, for values at position -1."""
    return xp.concatenate([rows, xp.zeros((*rows.shape[:-1], 1))], axis=-1)


def _log_skew_weight(x: Array, share: Floats, xp: Any) -> Array:
    """Compute the log of r + (1 - 2 r) Phi(x), with r the reversed share."""
    with np.errstate(divide="ignore"):
        return xp.logaddexp(log_normal_cdf(x, xp) + np.log1p(-2.0 * share), np.log(share))


def _skew_weight(x: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Compute :func:`_log_skew_weight` and its slope."""
    log = _log_skew_weight(x, share, np)
    return log, np.exp(np.log1p(-2.0 * share) - 0.5 * x * x - log) / math.sqrt(2.0 * math.pi)
