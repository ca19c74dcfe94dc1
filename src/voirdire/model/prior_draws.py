"""Draws of parameters from a model's priors."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from voirdire.model.density import LogDensity
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Parameter, Population, Spread, TwoSided
from voirdire.model.terms.structure import LogDivided
from voirdire.typing import Floats

GRID_POINTS = 4000  # points in the grid of a distribution function
MIN_POSITIVE = 1e-300


def draw_from_prior(density: LogDensity, rng: np.random.Generator, only: Collection[str] | None = None) -> Floats:
    """Draw the flat vector of free coordinates from the prior, shape (size,).

    ``only`` names the parameters to draw, including those that their priors depend on; the others are zero.

    The log-odds of a Beta(a, b) probability are the difference of the logarithms of Gamma(a) and Gamma(b) variables,
    which is exact where the probability itself would round to one; the sign changes for reversed judges.
    """
    drawn: dict[str, Floats] = {}
    for p in density.dependency_order:
        if only is not None and p.name not in only:
            drawn[p.name] = np.zeros(math.prod(p.free_shape(density.sizes)))
            continue
        drawn[p.name] = _draw_parameter(p, density, drawn, rng)
        if isinstance(p.prior, LogDivided):
            # independent exponential variables divided by their sum are uniform on the simplex
            n, names = density.count_scale_parts(p.prior), (p.prior.others, p.name)
            undivided = np.log(sum(np.exp(drawn[name]).sum() for name in names))
            shift = np.log(rng.exponential(1.0 / p.prior.rate_of_sum(n))) - undivided
            drawn |= {name: drawn[name] + shift for name in names}
    return np.concatenate([drawn[p.name].ravel() for p in density.parameters])


def _draw_parameter(
    parameter: Parameter, density: LogDensity, drawn_values: dict[str, Floats], rng: np.random.Generator
) -> Floats:
    prior, shape = parameter.prior, parameter.free_shape(density.sizes)
    if isinstance(prior, Spread):
        values = {
            p.name: p.value(drawn_values[p.name], density.sizes, np)
            for p in density.parameters
            if p.name in drawn_values
        }
        sd = np.exp(-density.log_unit(parameter, values, np)[1])
        if isinstance(prior, Population):
            return np.asarray(sd * draw_skewed(prior, prior.mean(values, np), np.exp(prior.log_sd(values)), shape, rng))
        return np.asarray(sd * rng.normal(size=shape))
    if isinstance(prior, LogExponential):
        return np.log(rng.exponential(1.0 / prior.rate, shape))
    if isinstance(prior, LogitBeta):
        odds = np.log(rng.gamma(prior.a, size=shape)) - np.log(rng.gamma(prior.b, size=shape))
        return np.where(rng.random(shape) < prior.reversed, -odds, odds)
    drawn = rng.normal(prior.mean, prior.sd, shape)
    if isinstance(prior, TwoSided):
        return np.where(rng.random(shape) < prior.reversed, -drawn, drawn)
    return np.asarray(drawn)


def draw_skewed(prior: Population, m: Floats, t: Floats, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draws of (x - m) / t from a skewed population; m and t are mean and standard deviation before skewing."""
    z = rng.normal(size=shape)
    is_pending = np.ones(shape, dtype=bool)
    while is_pending.any():
        is_pending &= rng.random(shape) > np.exp(prior.log_weight(m + t * z, np))
        z = np.where(is_pending, rng.normal(size=shape), z)
    return z


def draw_other_parts(prior: LogDivided, parts: int, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw all parts of a scale except the last."""
    shares = rng.dirichlet(np.ones(parts))
    return np.asarray(rng.exponential(1.0 / prior.rate_of_sum(parts)) * shares[:-1]).reshape(shape)


def draw_last_part(prior: LogDivided, parts: int, total: float, rng: np.random.Generator) -> float:
    """Draw the logarithm of the last part of a scale, given the sum of the other parts.

    The total T has a density proportional to exp(-a T) / T^(n - 1) above the other parts' sum.
    """
    rate = prior.rate_of_sum(parts)
    log_sum = np.linspace(np.log(total), np.log(total + 40.0 / rate), GRID_POINTS)
    midpoints = 0.5 * (log_sum[1:] + log_sum[:-1])
    log = -rate * np.exp(midpoints) - (parts - 2) * midpoints  # as a density of log T
    cumulative = np.exp(log - log.max()).cumsum()
    cell = int(np.searchsorted(cumulative, rng.random() * cumulative[-1]))
    return float(np.log(np.exp(log_sum[cell] + rng.random() * (log_sum[1] - log_sum[0])) - total + MIN_POSITIVE))


def level_names(kind: str, count: int) -> tuple[str, ...]:
    """Names of ``count`` levels of one kind.

    Examples
    --------
    >>> level_names("item", 2)
    ('item-1', 'item-2')
    """
    width = len(str(count))
    return tuple(f"{kind}-{number:0{width}d}" for number in range(1, count + 1))
