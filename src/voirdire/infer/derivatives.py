"""Derivatives of one log density: uncompiled for tables of moderate size, compiled for large ones.

Compilation takes some seconds for any table. Below the sizes here, NumPy finishes a whole fit in that time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.hessian import hessian_matrix
from voirdire.infer.search import SearchResult, search_minimum
from voirdire.infer.trust_region import minimise_trust_region
from voirdire.model.density import ClosedFormDerivatives, Data, LogDensity
from voirdire.typing import Floats

MAX_UNCOMPILED_NUMBERS = 200_000  # numbers in a table up to which gradients are not compiled
BATCH_SIZE = 300_000  # numbers times points that are computed together: bounds the memory
# numbers times parameters up to which the Hessian is not compiled: it then takes some two seconds
MAX_UNCOMPILED_HESSIAN_WORK = 3e8
COLUMN_OVERHEAD = 50_000  # fixed cost of a column of the Hessian, in numbers
HESSIAN_BATCH_ROWS = 32  # rows of a compiled Hessian that are computed together: bounds its memory


def count_numbers(data: Data) -> int:
    """Count the numbers in a table.

    Examples
    --------
    >>> count_numbers({"votes": {"judge": np.zeros(3), "weight": np.ones(3)}})
    6
    """
    return sum(np.size(array) for part in data.values() for array in part.values())


class Derivatives:
    """Minus the log posterior density of one table, with its gradient and Hessian.

    Parameters
    ----------
    density : LogDensity
    data : dict
    symmetric : bool
        True to use the density over all orientations (:meth:`.LogDensity.symmetric_log_density`).

    Attributes
    ----------
    closed_form : ClosedFormDerivatives or None
        Derivatives by the density itself, if it has them.
    """

    def __init__(self, density: LogDensity, data: Data, symmetric: bool = False) -> None:
        self._density, self._data = density, data
        self._symmetric = symmetric and density.has_mirror
        self._numbers = count_numbers(data)
        self._moved: Data | None = None
        self.closed_form: ClosedFormDerivatives | None = density.closed_form(data)

    @property
    def work(self) -> int:
        """Cost of a gradient in white coordinates, in numbers of the table; matrix products cost a tenth."""
        return self._numbers + self._density.size**2 // 10

    def value_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Compute minus the log density and its gradient, shape (size,)."""
        if self.closed_form is not None:
            energy, energy_gradient = self.closed_form.value_gradient(x)
            log_sum, log_sum_gradient = self._orientation_terms(x)
            return energy - float(log_sum), energy_gradient - log_sum_gradient
        if self._numbers <= MAX_UNCOMPILED_NUMBERS:
            with np.errstate(all="ignore"):  # a point too far away has a value that is not finite
                value, gradient = autodiff.value_and_gradient(self._taped_energy, x)
                return float(value), gradient
        value, gradient = self._call_compiled(
            lambda engine: engine.value_and_gradient(self._density, self._symmetric), x
        )
        return float(value), np.asarray(gradient)

    def minimum(self, start: Floats, *, tolerance: float, max_iterations: int, gain: float = 0.0) -> SearchResult:
        """Search for the minimum from a point, by second derivatives if the density has them.

        See :func:`.search.search_minimum` and :func:`.trust_region.minimise_trust_region`; only the latter uses
        ``gain``.
        """
        limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}
        if self.closed_form is not None and self.closed_form.curvature is not None:
            return minimise_trust_region(
                self.closed_form.value_gradient, self.closed_form.curvature, start, gain=gain, **limits
            )
        metric = None if self.closed_form is None else self.closed_form.metric
        return search_minimum(self.value_gradient, start, **limits, metric=metric)

    def many(self, x: Floats) -> tuple[Floats, Floats]:
        """Compute :meth:`value_gradient` at points, shape (points, size): values, shape (points,), and gradients."""
        if not self._density.mixture and self._numbers <= MAX_UNCOMPILED_NUMBERS:
            with np.errstate(all="ignore"):
                batches = [autodiff.value_and_gradient(self._taped_energy, block) for block in self._point_batches(x)]
            return np.concatenate([value for value, _ in batches]), np.concatenate([slope for _, slope in batches])
        pairs = [
            (self.value_gradient if self.closed_form is None else self.closed_form.value_gradient)(point) for point in x
        ]
        values, slopes = np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])
        if self.closed_form is None:
            return values, slopes
        log_sum, slope = self._orientation_terms(x)
        return values - log_sum, slopes - slope

    def _orientation_terms(self, x: Floats) -> tuple[Floats, Floats]:
        """Compute the log ratio of the density of all orientations to that of one, and its gradient, by the tape."""
        if not self._symmetric:
            return np.zeros(x.shape[:-1]), np.zeros_like(x)
        with np.errstate(all="ignore"):
            return autodiff.value_and_gradient(
                lambda node: self._density.log_turned(node, self._data, autodiff.TAPE_NUMPY), x
            )

    def log_densities(self, x: Floats) -> Floats:
        """Compute the log density (for mixtures that of one orientation) at many points, shape (points, size)."""
        density, data = self._density, self._data
        if density.mixture and self.closed_form is not None:
            return -np.array([self.closed_form.value_gradient(point)[0] for point in x])
        if density.mixture:
            return np.asarray(self._call_compiled(lambda engine: engine.log_densities(density), x))
        with np.errstate(all="ignore"):
            # NumPy takes a seventh of the time of compiled code for single points or blocks
            evaluate = density.symmetric_log_density if self._symmetric else density.log_density
            return np.concatenate([evaluate(block, data, np) for block in self._point_batches(x)])

    def _point_batches(self, x: Floats) -> list[Floats]:
        """Split points into batches for joint computation: a tape costs as much as some thousand numbers."""
        blocks = -(-len(x) * (self._numbers + self._density.size) // BATCH_SIZE)
        return np.array_split(x, max(1, min(blocks, len(x))))

    def hessian(self, x: Floats) -> Floats:
        """Compute second derivatives, shape (size, size); the caller may overwrite the array."""
        if self.closed_form is not None and self.closed_form.hessian is not None:
            return self.closed_form.hessian(x)
        if (self._numbers + COLUMN_OVERHEAD) * len(x) <= MAX_UNCOMPILED_HESSIAN_WORK:
            with np.errstate(all="ignore"):
                return hessian_matrix(self._taped_energy, x)
        out = np.empty((len(x), len(x)))
        for start in range(0, len(x), HESSIAN_BATCH_ROWS):
            rows = np.zeros((HESSIAN_BATCH_ROWS, len(x)))
            rows[np.arange(HESSIAN_BATCH_ROWS), np.arange(start, start + HESSIAN_BATCH_ROWS) % len(x)] = 1.0
            products = self._call_compiled(lambda engine: engine.hessian_rows(self._density), x, rows)
            out[start : start + HESSIAN_BATCH_ROWS] = np.asarray(products)[: len(x) - start]
        return out

    def _taped_energy(self, x: autodiff.Node) -> autodiff.Node:
        density = self._density
        evaluate = density.symmetric_log_density if self._symmetric else density.log_density
        value: autodiff.Node = -evaluate(x, self._data, autodiff.TAPE_NUMPY)
        return value

    def _call_compiled(self, function: Callable[[Any], Any], *points: Floats) -> Any:
        from voirdire.infer import engine

        with engine.double_precision():
            if self._moved is None:
                self._moved = engine.to_jax_arrays(self._data)
            return function(engine)(*points, self._moved)
