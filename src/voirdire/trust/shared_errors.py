"""Errors that judges share, pair by pair, where residuals of single judges say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voirdire.typing import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class SharedErrors:
    """Products of errors of every two judges; takes the place of :class:`voirdire.trust.residuals.Residuals`.

    Attributes
    ----------
    judges : int array, shape (judges,)
        Which judges of the problem these are.
    one, other : int array, shape (pairs,)
        Places among ``judges``.
    products, variance : array, shape (pairs, units)
        D / sqrt(V_j V_k) and its variance; 0 where they cannot be had.
    known : bool array, shape (pairs, units)
        Where they can.
    """

    judges: Ints
    one: Ints
    other: Ints
    products: Floats
    variance: Floats
    known: Bools

    @property
    def comparison_count(self) -> int:
        """Number of units: items under criteria."""
        return int(self.products.shape[1])

    def sums(self) -> tuple[Floats, Floats, Floats]:
        """T, its variance and its scale, as of :meth:`.Residuals.sums`."""
        size = len(self.judges)
        found = np.zeros((3, size, size))
        for t, variance, scale in self.resampled(np.ones((1, self.comparison_count))):
            found[:, self.one, self.other] = t[:, 0], variance[:, 0], scale[:, 0]
        t, variance, scale = found + found.swapaxes(1, 2)
        return t, variance, scale

    def resampled(self, weights: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """T, its variance and its scale, as of :meth:`.Residuals.resampled`; all pairs at once."""
        t, variance, scale = (part @ weights.T for part in (self.products, self.variance, self.known))
        # a copy among the others takes its own part from the products of both: below zero is no dependence of these two
        t = np.maximum(t, -np.sqrt(variance))
        yield t, variance, np.maximum(scale, np.abs(t))
