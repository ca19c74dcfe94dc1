"""Derivatives of one log density, uncompiled or compiled, and Hessians of NumPy code.

Compilation takes some seconds for any table. Below the sizes here, NumPy finishes a whole fit in that time.

Hessians of NumPy code, column by column, from its tape.

A tape is read once backwards for the gradient. Every column of the Hessian then takes one forward reading, for the
change of every number along one coordinate, and one backward reading, for the change of the gradients (forward over
reverse; Griewank and Walther 2008, section 5.3). All nonlinear operations are elementwise, so a column needs, besides
rearrangements, only products with arrays that are the same for every column: first derivatives, and second derivatives
times the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.autodiff import LinearMap, Node, record_tape, sum_broadcast_axes
from voirdire.infer.matrix_free import minimise_trust_region
from voirdire.infer.search import SearchResult, search_minimum
from voirdire.model.density import ClosedFormDerivatives, Data, LogDensity
from voirdire.typing import Floats


class _Step:
    """One operation of a tape, for readings in both directions."""

    __slots__ = ("change", "curves", "edges", "shape", "turn")

    def __init__(self, node: Node, places: dict[int, _Step]) -> None:
        self.shape = node.value.shape
        self.change: Floats | None = None  # along the direction; None for no change
        self.turn: Floats | None = None  # change of the gradient by this array
        self.edges: list[tuple[_Step, LinearMap, LinearMap]] = []
        for source, back, ahead in node.inputs:
            if ahead is None:
                back = ahead = partial(np.multiply, np.asarray(back(np.ones(self.shape))))
            self.edges.append((places[id(source)], back, ahead))
        self.curves: list[tuple[_Step, _Step, Floats]] = []
        for left, right, second in [] if node.curves is None else node.curves():
            if id(left) in places and id(right) in places:
                weight = np.asarray(node.slope * second)
                self.curves.append((places[id(left)], places[id(right)], weight))

    def ahead(self) -> None:
        self.change = self.turn = None
        for source, _, ahead in self.edges:
            if source.change is not None:
                part = ahead(source.change)
                self.change = part if self.change is None else self.change + part
        if self.change is not None and self.change.shape != self.shape:
            self.change = np.broadcast_to(self.change, self.shape)

    def back(self) -> None:
        if self.turn is not None:
            for source, back, _ in self.edges:
                source.turned(back(self.turn))
        for left, right, weight in self.curves:
            if right.change is not None:
                left.turned(weight * right.change)

    def turned(self, part: Floats) -> None:
        part = sum_broadcast_axes(part, self.shape)
        self.turn = part if self.turn is None else self.turn + part


def hessian_matrix(function: Callable[[Node], Node], x: Floats) -> Floats:
    """Compute the second derivatives of a function of one vector.

    Parameters
    ----------
    function : callable
        Function from a :class:`voirdire.infer.autodiff.Node` of shape (n,) to one of shape ().
    x : array, shape (n,)

    Returns
    -------
    array, shape (n, n)

    Examples
    --------
    >>> from voirdire.infer.autodiff import TAPE_NUMPY
    >>> hessian_matrix(lambda x: (x * TAPE_NUMPY.exp(x)).sum() + x[0] * x[1], np.array([0.0, 1.0])).round(3).tolist()
    [[2.0, 1.0], [1.0, 8.155]]
    """
    tape, out, unit = HessianProducts(function, x), np.empty((len(x), len(x))), np.zeros(len(x))
    for i, row in enumerate(out):
        unit[i] = 1.0
        row[:] = tape.product_with(unit)
        unit[i] = 0.0
    return out


class HessianProducts:
    """Products of vectors with the second derivatives of a function of one vector, from one reading of its tape.

    Parameters
    ----------
    function, x
        See :func:`hessian_matrix`.

    Examples
    --------
    >>> from voirdire.infer.autodiff import TAPE_NUMPY
    >>> tape = HessianProducts(lambda x: (x * TAPE_NUMPY.exp(x)).sum() + x[0] * x[1], np.array([0.0, 1.0]))
    >>> tape.product_with(np.array([1.0, 0.0])).round(3).tolist()
    [2.0, 1.0]
    """

    def __init__(self, function: Callable[[Node], Node], x: Floats) -> None:
        start, _ = record_tape(function, x)
        self._places: dict[int, _Step] = {}
        for node in start.tape:
            if node.slope is not None:  # the others do not affect the result
                self._places[id(node)] = _Step(node, self._places)
        start.tape.clear()  # breaks the reference cycle of nodes and tape
        self._first, *self._steps = self._places.values()

    def product_with(self, direction: Floats) -> Floats:
        """Compute the product with one vector, shape (n,)."""
        self.ahead(direction)
        return self.back()

    def ahead(self, direction: Floats) -> None:
        """Compute the change of every number along a vector."""
        self._first.change, self._first.turn = np.array(direction, dtype=float), None
        for step in self._steps:
            step.ahead()

    def change_of(self, node: Node) -> Floats:
        """Return the change of a node of the function, kept by the caller, along the vector of :meth:`ahead`."""
        change = self._places[id(node)].change
        return np.zeros(node.shape) if change is None else np.broadcast_to(change, node.shape)

    def back(self, node: Node | None = None, extra_gradient: Floats | None = None) -> Floats:
        """Compute the product with the vector of :meth:`ahead`; add ``extra_gradient`` to the change at a node."""
        if node is not None and extra_gradient is not None:
            self._places[id(node)].turned(extra_gradient)
        for step in reversed(self._steps):
            step.back()
        turn = self._first.turn
        return np.zeros(self._first.shape) if turn is None else np.array(turn)


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
