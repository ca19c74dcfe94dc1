"""Hessians of NumPy code, column by column, from its tape.

A tape is read once backwards for the gradient. Every column of the Hessian then takes one reading ahead, which finds
how every number changes along one coordinate, and one backwards, which finds how the gradients change with them
(forward over reverse; Griewank and Walther 2008, section 5.3). What is nonlinear is elementwise, so all that a
column needs besides moving numbers about are products with arrays that are the same for every column: first
derivatives, and second derivatives times the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from voirdire.infer.autodiff import LinearMap, Node, record_tape, sum_broadcast_axes
from voirdire.typing import Floats


class _Step:
    """One operation of a tape, ready to be read in either direction."""

    __slots__ = ("change", "curves", "edges", "shape", "turn")

    def __init__(self, node: Node, places: dict[int, _Step]) -> None:
        self.shape = node.value.shape
        self.change: Floats | None = None  # along the coordinate; None where nothing changes
        self.turn: Floats | None = None  # of the gradient by this array
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
    """Second derivatives of a function of one vector.

    Parameters
    ----------
    function : callable
        From a :class:`voirdire.infer.autodiff.Node` of shape (n,) to one of shape ().
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
    """Products of the second derivatives of a function of one vector with vectors, from one reading of its tape.

    Parameters
    ----------
    function, x
        As of :func:`hessian_matrix`.

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
            if node.slope is not None:  # the others have no part in the result
                self._places[id(node)] = _Step(node, self._places)
        start.tape.clear()  # the nodes hold it and it holds them
        self._first, *self._steps = self._places.values()

    def product_with(self, direction: Floats) -> Floats:
        """The product with one vector, shape (n,)."""
        self.ahead(direction)
        return self.back()

    def ahead(self, direction: Floats) -> None:
        """Find how everything changes along a vector."""
        self._first.change, self._first.turn = np.array(direction, dtype=float), None
        for step in self._steps:
            step.ahead()

    def change_of(self, node: Node) -> Floats:
        """Change of a node of the function, which the caller has kept, along the vector of :meth:`ahead`."""
        change = self._places[id(node)].change
        return np.zeros(node.shape) if change is None else np.broadcast_to(change, node.shape)

    def back(self, node: Node | None = None, more: Floats | None = None) -> Floats:
        """The product with the vector of :meth:`ahead`, with ``more`` turn of the gradient by a node."""
        if node is not None and more is not None:
            self._places[id(node)].turned(more)
        for step in reversed(self._steps):
            step.back()
        turn = self._first.turn
        return np.zeros(self._first.shape) if turn is None else np.array(turn)
