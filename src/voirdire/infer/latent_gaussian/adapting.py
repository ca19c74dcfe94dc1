"""Adaptation of coordinates to the draws of chains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.coordinates import Coordinates, cholesky_root, no_stretch
from voirdire.infer.latent_gaussian.skewness import ONE_SD_QUANTILES, fit_skewness
from voirdire.typing import Floats

MAX_DIRECTIONS = 5  # largest number of directions that are stretched
MIN_DIRECTION_VARIANCE = 2.0  # variance of draws from which a direction is stretched
MAX_MODE_SDS = 4.0  # standard deviations from the median beyond which a draw is in another mode
SDS_PER_MAD = 1.4826  # standard deviation of normal draws over their median absolute deviation
# largest variance of the chains' means over that of all draws, where chains have forgotten their start
MAX_MEAN_VARIANCE_SHARE = 1 / 3
KEPT_COVARIANCE_SHARE = 1e-3  # share of the old covariance of spreads that is kept
MIN_STRETCHED_SD = 1.25  # standard deviation of draws from which a coordinate is stretched
TINY = 1e-12


def adapt_coordinates(coordinates: Coordinates, points: Floats) -> Coordinates:
    """Adapt coordinates to draws of chains in them, shape (draws, chains, size).

    The draws of a chain are alike, and in thousands of dimensions any few draws go far in some direction. So directions
    are found from one half of the chains and stretched by the standard deviation of the other half along them. Draws
    in another mode, where steps would have to be shorter, are moved to the limit of this mode.
    """
    x, hyper = coordinates.to_values(points.reshape(-1, coordinates.size))
    # a small share of the old covariance helps where chains hardly move
    covariance = np.cov(_clip_draws(hyper).T).reshape(coordinates.root.shape)
    root = cholesky_root(covariance + KEPT_COVARIANCE_SHARE * coordinates.root @ coordinates.root.T)
    scale, along, gain = no_stretch(coordinates.size)
    adapted = replace(coordinates, root=root, scale=scale, along=along, gain=gain)
    adapted = _adapt_skewness(adapted, x, hyper, points.shape[1])
    if points.shape[1] < 2:
        return adapted
    z = _clip_draws(adapted.from_values(x, hyper))
    adapted = replace(adapted, scale=coordinate_scales(z.std(axis=0)))
    z = (z / adapted.scale).reshape(points.shape)
    first_half, second_half = (half.reshape(-1, coordinates.size) for half in (z[:, ::2], z[:, 1::2]))
    directions = np.linalg.svd(first_half - first_half.mean(axis=0), full_matrices=False)[2][:MAX_DIRECTIONS]
    widths = (second_half @ directions.T).std(axis=0)
    is_wide = np.flatnonzero(widths**2 > MIN_DIRECTION_VARIANCE)
    return replace(adapted, along=directions[is_wide].T, gain=widths[is_wide] - 1.0)


def coordinate_scales(sd: Floats, min_sd: float = MIN_STRETCHED_SD) -> Floats:
    """Scale each coordinate by the standard deviation of its draws; 1 where that is about one.

    No scale is below 1/4: draws that hardly move carry no information.
    """
    return np.asarray(np.where((sd < 1.0 / min_sd) | (sd > min_sd), np.maximum(sd, 1.0 / MAX_MODE_SDS), 1.0))


def _adapt_skewness(coordinates: Coordinates, x: Floats, hyper: Floats, chains: int) -> Coordinates:
    """Adapt the skewness of values with a skewed prior to their draws.

    Rows of ``x`` and ``hyper`` are ordered by draw, then by chain (``chains`` of them). Values are left as they are
    where chains have not forgotten their start.
    """
    skewed, prior = coordinates.search.model.skewed_values, coordinates.prior
    observation_precision = coordinates.observation_precision.copy()
    draws = x[:, skewed].reshape(len(x) // chains, chains, len(skewed))
    has_mixed = draws.mean(axis=0).var(axis=0) < MAX_MEAN_VARIANCE_SHARE * draws.var(axis=(0, 1))
    if not has_mixed.any():
        return coordinates
    skewed, draws = skewed[has_mixed], draws[..., has_mixed]
    low, _, high = np.quantile(draws, ONE_SD_QUANTILES, axis=(0, 1))
    of_answers = 4.0 / np.maximum(high - low, TINY) ** 2 - prior[skewed]
    observation_precision[skewed] = np.maximum(of_answers, TINY * prior[skewed])
    adapted = replace(coordinates, observation_precision=observation_precision)
    centre = adapted.values_from_white(coordinates.whiten_spreads(hyper), np.zeros_like(x))
    normal = ((x - centre.x) / centre.width)[:, skewed].reshape(draws.shape)
    sd = 1.0 / np.sqrt(prior[skewed] + coordinates.observation_precision[skewed])
    return replace(adapted, skewness=fit_skewness(skewed, sd, normal))


def _clip_draws(z: Floats) -> Floats:
    """Clip draws, shape (draws, size), to at most :data:`MAX_MODE_SDS` robust standard deviations from the median."""
    median = np.median(z, axis=0)
    farthest = MAX_MODE_SDS * SDS_PER_MAD * np.median(np.abs(z - median), axis=0)
    return np.asarray(np.clip(z, median - farthest, median + farthest))
