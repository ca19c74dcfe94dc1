"""Monotone maps of single values with skewed draws.

The likelihood of a judge who is nearly always right limits the reliability from below only: so many right answers
exclude low values, and only the prior limits high values. With u standard normal, a value is mapped to

    c + s h(u),   h(u) = u + k (sqrt(1 + u^2) - 1),   |k| < 1,

with slope 1 - k far below and 1 + k far above its middle, so that both sides are equally far from the middle in steps
of a path. c, s and k are fitted to quantiles of the chains (16%, 50% and 84%).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from voirdire.model.terms.arrays import Array
from voirdire.typing import Floats, Ints

ONE_SD_QUANTILES = (0.1587, 0.5, 0.8413)  # normal quantiles at -1, 0 and 1 standard deviations
MAX_BEND = 0.85  # largest |k|
BEND_AT_ONE = np.sqrt(2.0) - 1.0  # (h(1) - 1) / k = (h(-1) + 1) / k


class Skewness(NamedTuple):
    """Maps of some latent values.

    Attributes
    ----------
    places : int array, shape (values,)
        Positions of the mapped values among the latent values.
    sd : array, shape (values,)
        Standard deviations that standardise the values to u.
    middle, width, bend : array, shape (values,)
        c, s and k.

    Examples
    --------
    >>> one = np.ones(1)
    >>> skewness = Skewness(np.array([1]), 2.0 * one, 0.0 * one, one, 0.5 * one)
    >>> normal = np.array([[3.0, 0.0], [3.0, 2.0]])
    >>> bent = skewness.bend_values(normal).values
    >>> bent.round(3).tolist(), skewness.straighten_values(bent).tolist()
    ([[3.0, 0.0], [3.0, 1.207]], [[3.0, 0.0], [3.0, 2.0]])
    """

    places: Ints
    sd: Floats
    middle: Floats
    width: Floats
    bend: Floats

    def bend_values(self, normal: Array, xp: Any = np) -> SkewedValues:
        """Map normal values to skewed ones, shape (points, size)."""
        if not self.places.size:
            empty = np.zeros((len(normal), 0))
            return SkewedValues(normal, np.zeros(len(normal)), empty, empty)
        u = normal[:, self.places] / self.sd
        root = xp.sqrt(1.0 + u * u)
        slope = 1.0 + self.bend * u / root
        values = self.middle + self.width * (u + self.bend * (root - 1.0))
        scale = self.width / self.sd
        by_log = self.bend / (root**3 * slope * self.sd)
        return SkewedValues(self._put(normal, values, xp), xp.log(slope * scale).sum(axis=1), slope * scale, by_log)

    def straighten_values(self, values: Array, xp: Any = np) -> Array:
        """Invert :meth:`bend_values`: map skewed values, shape (points, size), to normal ones."""
        k = self.bend
        standardised = (values[:, self.places] - self.middle) / self.width + k
        normal = self.sd * (standardised - k * xp.sqrt(standardised * standardised + 1.0 - k * k)) / (1.0 - k * k)
        return self._put(values, normal, xp)

    def _put(self, rows: Array, values: Array, xp: Any) -> Array:
        """Replace the mapped columns of rows."""
        if xp is not np:
            return rows.at[:, self.places].set(values)
        out = rows.copy()
        out[:, self.places] = values
        return out

    def gradient_by_normal(self, by_values: Floats, skewed: SkewedValues) -> Floats:
        """Turn the gradient of minus a log density by values into that by normal values, shape (points, size)."""
        return np.asarray(self._put(by_values, by_values[:, self.places] * skewed.slope - skewed.by_log, np))


class SkewedValues(NamedTuple):
    """Values, shape (points, size), with the log volume of the map, shape (points,).

    ``slope`` is the slope of each map, and ``by_log`` the slope of its logarithm, shape (points, mapped).
    """

    values: Floats
    log: Floats
    slope: Floats
    by_log: Floats


def no_skewness() -> Skewness:
    """Build maps of no value."""
    empty = np.zeros(0)
    return Skewness(np.zeros(0, dtype=int), empty, empty, empty, empty)


def fit_skewness(places: Ints, sd: Floats, draws: Floats) -> Skewness:
    """Fit the maps of values to draws, shape (draws, chains, values).

    The draws of a chain are alike, so k is the smaller one of the two halves of the chains, or 0 if their signs differ.
    Examples
    --------
    >>> draws = np.exp(np.random.default_rng(0).normal(size=(99, 8, 1)))
    >>> found = fit_skewness(np.array([0]), np.ones(1), draws)
    >>> bool(found.bend[0] == MAX_BEND)
    True
    """
    low, middle, high = np.quantile(draws, ONE_SD_QUANTILES, axis=(0, 1))
    width = np.where(high > low, 0.5 * (high - low), sd)
    halves = np.stack([_bend_coefficients(draws[:, half::2]) for half in range(min(2, draws.shape[1]))])
    is_consistent = (halves > 0).all(axis=0) | (halves < 0).all(axis=0)
    smaller_bend = np.sign(halves[0]) * np.abs(halves).min(axis=0)
    return Skewness(places, sd, middle, width, np.where(is_consistent, np.clip(smaller_bend, -MAX_BEND, MAX_BEND), 0.0))


def _bend_coefficients(draws: Floats) -> Floats:
    """Compute k from draws, shape (draws, chains, values)."""
    low, middle, high = np.quantile(draws, ONE_SD_QUANTILES, axis=(0, 1))
    width = 0.5 * (high - low)
    return np.asarray(0.5 * (high + low - 2.0 * middle) / (BEND_AT_ONE * np.where(width > 0, width, np.inf)))
