"""Coordinates adapted to what draws of chains show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.coordinates import Coordinates, cholesky_root
from voirdire.infer.latent_gaussian.skewness import QUANTILES, fit_skewness
from voirdire.typing import Floats

DIRECTIONS = 5  # that are stretched, at most
FURTHER = 2.0  # variance from which a direction is
FARTHEST = 4.0  # standard deviations of most draws, beyond which one is in another mode
MAD = 1.4826  # standard deviations in a median absolute deviation of normal draws
FORGOTTEN = (
    1 / 3
)  # of the variance of draws, that of chains' means is at most where they have forgotten their start
LEFT = 1e-3  # of the covariance that spreads had
STRETCHED = 1.25  # standard deviation of a coordinate from which it is
TINY = 1e-12


def adapt_coordinates(where: Coordinates, points: Floats) -> Coordinates:
    """Coordinates adapted to draws of chains, shape (draws, chains, size), in those given.

    Draws of a chain are alike, and in thousands of dimensions any few of them go far in some direction: directions
    are those of half of the chains, and stretched as far as the other half goes in them. Draws in another mode,
    where steps would have to be shorter, count as the farthest of this one.
    """
    x, hyper = where.to_values(points.reshape(-1, where.size))
    # with a little of what it was, where chains hardly move
    covariance = np.cov(_clip_draws(hyper).T).reshape(where.root.shape) + LEFT * where.root @ where.root.T
    none = np.zeros((where.size, 0)), np.zeros(0)
    there = replace(
        where, root=cholesky_root(covariance), scale=np.ones(where.size), along=none[0], gain=none[1]
    )
    there = _adapt_skewness(there, x, hyper, points.shape[1])
    if points.shape[1] < 2:
        return there
    z = _clip_draws(there.from_values(x, hyper))
    there = replace(there, scale=coordinate_scales(z.std(axis=0)))
    z = (z / there.scale).reshape(points.shape)
    one, other = (half.reshape(-1, where.size) for half in (z[:, ::2], z[:, 1::2]))
    directions = np.linalg.svd(one - one.mean(axis=0), full_matrices=False)[2][:DIRECTIONS]
    widths = (other @ directions.T).std(axis=0)
    kept = np.flatnonzero(widths**2 > FURTHER)
    return replace(there, along=directions[kept].T, gain=widths[kept] - 1.0)


def coordinate_scales(sd: Floats, least: float = STRETCHED) -> Floats:
    """How far coordinates are stretched, of the standard deviations of draws: not at all, where these are about one.

    Draws that hardly move say nothing, so that none is stretched by less than a quarter.
    """
    return np.asarray(np.where((sd < 1.0 / least) | (sd > least), np.maximum(sd, 1.0 / FARTHEST), 1.0))


def _adapt_skewness(where: Coordinates, x: Floats, hyper: Floats, chains: int) -> Coordinates:
    """The same with what draws say of the values whose prior is skewed: what answers tell of them, and how.

    Draws are those of one chain beside the other, ``chains`` at a time. Values whose chains have not forgotten where
    they began stay as they are.
    """
    at, prior, observation_precision = (
        where.search.model.skewed_values,
        where.prior,
        where.observation_precision.copy(),
    )
    draws = x[:, at].reshape(len(x) // chains, chains, len(at))
    moved = draws.mean(axis=0).var(axis=0) < FORGOTTEN * draws.var(axis=(0, 1))
    if not moved.any():
        return where
    at, draws = at[moved], draws[..., moved]
    low, _, high = np.quantile(draws, QUANTILES, axis=(0, 1))
    observation_precision[at] = np.maximum(
        4.0 / np.maximum(high - low, TINY) ** 2 - prior[at], TINY * prior[at]
    )
    there = replace(where, observation_precision=observation_precision)
    middle = there.values_from_white(where.white_spreads(hyper), np.zeros_like(x))
    normal = ((x - middle.x) / middle.width)[:, at].reshape(draws.shape)
    return replace(
        there, skewness=fit_skewness(at, 1.0 / np.sqrt(prior[at] + where.observation_precision[at]), normal)
    )


def _clip_draws(z: Floats) -> Floats:
    """Draws, shape (draws, size), of which none is farther from the median than the farthest of most."""
    middle = np.median(z, axis=0)
    farthest = FARTHEST * MAD * np.median(np.abs(z - middle), axis=0)
    return np.asarray(np.clip(z, middle - farthest, middle + farthest))
