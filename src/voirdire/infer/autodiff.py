"""Derivatives of NumPy code by reverse accumulation, for densities too small to be worth compiling.

Every operation on a :class:`Node` records its inputs and the map from a gradient of its output to gradients of its
inputs (the vector-Jacobian product). The records are then read backwards from the result (Linnainmaa 1976, BIT 16;
Griewank and Walther 2008, chapter 3). Supported are only the operations that terms use: arithmetic, ``abs``, sums and
means, indexing, reshaping and the functions of :data:`TAPE_NUMPY`, which replaces NumPy as the terms' ``xp``.

For second derivatives (:mod:`voirdire.infer.derivatives`) an operation that only rearranges numbers (indexing, sums,
reshaping) also records the map from a change of its input to that of its output; an elementwise operation records its
second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from voirdire.infer.indexing import repeats_of_axis, scatter_gradient
from voirdire.model.terms.arrays import reversed_normal_hazard
from voirdire.typing import Floats

LinearMap: TypeAlias = Callable[[Floats], Floats]
SecondDerivatives: TypeAlias = Callable[[], list[tuple[Any, Any, Any]]]

#: Origin of an array: a node ``source``; ``back``, the map from the gradient by the array to that by ``source``; and
#: ``ahead``, the map from a change of ``source`` to that of the array, or None if it is an elementwise product with
#: ``back`` of ones. Plain tuples are used because a tape makes some hundred at every point.
Origin: TypeAlias = "tuple[Node, LinearMap, LinearMap | None]"

_FLOAT = np.dtype(float)


class Node:
    """Array whose origin is recorded.

    Attributes
    ----------
    value : array
    inputs : tuple of Origin
        Nodes from which the array was computed.
    curves : function or None
        Function that returns the second derivatives that are not zero, elementwise, as (input, input, array); mixed
        ones in both orders.
    tape : list of Node
        All nodes of one evaluation in the order of their creation, each after its inputs.
    slope : array or None
        Gradient of the result by the array, while it is accumulated.
    """

    __slots__ = ("curves", "inputs", "slope", "tape", "value")
    __array_ufunc__ = None  # so that NumPy leaves array + Node to Node

    def __init__(self, value: Any, inputs: tuple[Origin, ...] = (), curves: SecondDerivatives | None = None) -> None:
        if type(value) is not np.ndarray or value.dtype is not _FLOAT:
            value = np.asarray(value, dtype=float)
        self.value: Floats = value
        self.inputs = inputs
        self.curves = curves
        self.slope: Floats | None = None
        self.tape: list[Node] = inputs[0][0].tape if inputs else []
        self.tape.append(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.value.ndim

    def __neg__(self) -> Node:
        return Node(-self.value, ((self, np.negative, np.negative),))

    def __abs__(self) -> Node:
        # at zero the one-sided slope: smooth functions of |x| then have second derivatives there, too
        return Node(np.abs(self.value), ((self, lambda g: np.where(self.value < 0, -g, g), None),))

    def __add__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value + other, ((self, _identity_map, _identity_map),))
        return Node(
            self.value + other.value, ((self, _identity_map, _identity_map), (other, _identity_map, _identity_map))
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value - other, ((self, _identity_map, _identity_map),))
        return Node(self.value - other.value, ((self, _identity_map, _identity_map), (other, np.negative, np.negative)))

    def __rsub__(self, other: Any) -> Node:
        return Node(other - self.value, ((self, np.negative, np.negative),))

    def __mul__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value * other, ((self, lambda g: g * other, None),))
        a, b = self.value, other.value
        inputs = (self, lambda g: g * b, None), (other, lambda g: g * a, None)
        return Node(a * b, inputs, lambda: [(self, other, 1.0), (other, self, 1.0)])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value / other, ((self, lambda g: g / other, None),))
        a, b = self.value, other.value

        def second_derivatives() -> list[tuple[Any, Any, Any]]:
            mixed = -1.0 / (b * b)
            return [(self, other, mixed), (other, self, mixed), (other, other, -2.0 * a / b * mixed)]

        return Node(
            a / b, ((self, lambda g: g / b, None), (other, lambda g: -g * a / (b * b), None)), second_derivatives
        )

    def __rtruediv__(self, other: Any) -> Node:
        inputs = ((self, lambda g: -g * other / (self.value * self.value), None),)
        return Node(other / self.value, inputs, lambda: [(self, self, 2.0 * other / self.value**3)])

    def __pow__(self, power: float) -> Node:
        return Node(
            self.value**power,
            ((self, lambda g: g * power * self.value ** (power - 1), None),),
            lambda: [(self, self, power * (power - 1) * self.value ** (power - 2))],
        )

    def __getitem__(self, index: Any) -> Node:
        positions = index[1] if type(index) is tuple and len(index) == 2 and index[0] is Ellipsis else index
        if (repeats := repeats_of_axis(positions, self.value.shape[-1:])) == 1 and (
            positions is not index or self.ndim == 1
        ):
            return self
        if repeats and positions is not index:
            tile: LinearMap = lambda t: np.concatenate([t] * repeats, axis=-1)  # noqa: E731
            back = lambda g: g.reshape(*g.shape[:-1], repeats, -1).sum(axis=-2)  # noqa: E731
            return Node(tile(self.value), ((self, back, tile),))
        if self.value.ndim == 1 and type(positions) is np.ndarray and positions.dtype.kind in "iu":
            return self._gather_at(positions)
        back = lambda g: scatter_gradient(g, self.value.shape, index)  # noqa: E731
        return Node(self.value[index], ((self, back, lambda t: t[index]),))

    def _gather_at(self, index: Any) -> Node:
        """Gather numbers of a vector at positions that may repeat."""
        flat, size = index.ravel(), len(self.value)
        back: LinearMap = lambda g: np.bincount(flat, g.ravel(), size).astype(float, copy=False)  # noqa: E731
        return Node(self.value.take(index), ((self, back, lambda t: t.take(index)),))

    def reshape(self, *shape: Any) -> Node:
        """Reshape as NumPy does."""
        back: LinearMap = lambda g: g.reshape(self.value.shape)  # noqa: E731
        return Node(self.value.reshape(*shape), ((self, back, lambda t: t.reshape(*shape)),))

    def transpose(self, *axes: int) -> Node:
        """Transpose as NumPy does."""
        order = np.argsort(axes)
        inputs = ((self, lambda g: g.transpose(order), lambda t: t.transpose(axes)),)
        return Node(self.value.transpose(axes), inputs)

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Node:
        """Sum as NumPy does."""

        def backward_gradient(g: Floats) -> Floats:
            out = np.empty(self.value.shape)  # NumPy's broadcast_to takes ten times as long
            if axis is None or keepdims:
                out[...] = g
            elif axis == -1:
                out[...] = g[..., None]
            else:
                out[...] = np.expand_dims(g, axis)
            return out

        def forward_change(t: Floats) -> Floats:
            return np.asarray(t.sum(axis=axis, keepdims=keepdims))

        return Node(forward_change(self.value), ((self, backward_gradient, forward_change),))

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Node:
        """Average as NumPy does."""
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * (total.value.size / self.value.size)

    def max(self, axis: int, keepdims: bool = False) -> Node:
        """Take the maximum as NumPy does; several largest elements share the gradient."""
        top = self.value.max(axis=axis, keepdims=True)
        share = self.value == top
        share = share / share.sum(axis=axis, keepdims=True)

        def backward_gradient(g: Floats) -> Floats:
            return np.asarray(share * (g if keepdims else np.expand_dims(g, axis)))

        def forward_change(t: Floats) -> Floats:
            return np.asarray((share * t).sum(axis=axis, keepdims=keepdims))

        return Node(top if keepdims else top.squeeze(axis), ((self, backward_gradient, forward_change),))


class _TapeNumpy:
    """NumPy functions used by the terms, for nodes and plain arrays alike."""

    def exp(self, x: Any) -> Any:
        out = np.exp(_plain_value(x))
        return _elementwise(x, out, lambda: out, lambda: out)

    def log(self, x: Any) -> Any:
        value = _plain_value(x)
        return _elementwise(x, np.log(value), lambda: 1.0 / value, lambda: -1.0 / value**2)

    def log1p(self, x: Any) -> Any:
        value = _plain_value(x)
        return _elementwise(x, np.log1p(value), lambda: 1.0 / (1.0 + value), lambda: -1.0 / (1.0 + value) ** 2)

    def expm1(self, x: Any) -> Any:
        out = np.expm1(_plain_value(x))
        return _elementwise(x, out, lambda: out + 1.0, lambda: out + 1.0)

    def log_normal_cdf(self, x: Any) -> Any:
        from scipy.special import log_ndtr

        value = _plain_value(x)

        def log_normal_curve() -> Floats:
            slope = reversed_normal_hazard(value)
            return np.asarray(-slope * (value + slope))

        return _elementwise(x, log_ndtr(value), lambda: reversed_normal_hazard(value), log_normal_curve)

    def logaddexp(self, x: Any, y: Any) -> Any:
        a, b = np.asarray(_plain_value(x), dtype=float), np.asarray(_plain_value(y), dtype=float)
        top = np.maximum(a, b)
        with np.errstate(invalid="ignore"):  # the difference of two infinities of one sign is NaN
            ratio = np.exp(np.minimum(a, b) - top)  # vectorised, unlike NumPy's own function
        out = top + np.log1p(ratio)
        finite = np.isfinite(out)
        all_finite = finite.all()
        if not all_finite:
            out = np.where(finite, out, top)

        def partial_slope(first: bool) -> Floats:
            share = np.where((a >= b) == first, 1.0, ratio) / (1.0 + ratio)
            return share if all_finite else np.where(finite, share, 0.0)  # two -inf have zero shares

        def second_derivatives() -> list[tuple[Any, Any, Any]]:
            product = partial_slope(True) * partial_slope(False)
            return [(x, x, product), (y, y, product), (x, y, -product), (y, x, -product)]

        inputs = (x, lambda g: g * partial_slope(True), None), (y, lambda g: g * partial_slope(False), None)
        return Node(out, _node_inputs(inputs), second_derivatives)

    def log_sigmoid(self, x: Any) -> Any:
        """Compute :func:`voirdire.model.terms.arrays.log_sigmoid`, on one node instead of three."""
        value = _plain_value(x)
        ratio = np.exp(-np.abs(value))
        out = -(np.maximum(-value, 0.0) + np.log1p(ratio))
        return _elementwise(
            x, out, lambda: np.where(value < 0, 1.0, ratio) / (1.0 + ratio), lambda: -ratio / (1.0 + ratio) ** 2
        )

    def sigmoid(self, x: Any) -> Any:
        """Compute :func:`voirdire.model.terms.arrays.logistic_sigmoid`, with one exponential."""
        value = _plain_value(x)
        ratio = np.exp(-np.abs(value))
        upper = 1.0 / (1.0 + ratio)
        out = np.where(value < 0, ratio, 1.0) * upper

        def sigmoid_curve() -> Floats:
            return np.asarray(ratio * upper**3 * np.where(value < 0, 1.0 - ratio, ratio - 1.0))

        return _elementwise(x, out, lambda: ratio * upper * upper, sigmoid_curve)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        inputs = ((x, lambda g: np.where(condition, g, 0.0), None), (y, lambda g: np.where(condition, 0.0, g), None))
        return Node(np.where(condition, _plain_value(x), _plain_value(y)), _node_inputs(inputs))

    def dot(self, x: Any, y: Any) -> Any:
        """Multiply matrices; the left one is a plain array."""
        if not isinstance(y, Node):
            return np.dot(x, y)
        return Node(x @ y.value, ((y, lambda g: x.T @ g, lambda t: x @ t),))

    def running_sum(self, x: Any) -> Any:
        """Compute :func:`voirdire.model.terms.arrays.running_sum`."""
        if not isinstance(x, Node):
            return np.cumsum(x, axis=-1)
        ahead: LinearMap = lambda t: np.cumsum(t, axis=-1)  # noqa: E731
        back: LinearMap = lambda g: np.cumsum(g[..., ::-1], axis=-1)[..., ::-1]  # noqa: E731
        return Node(ahead(x.value), ((x, back, ahead),))

    def concatenate(self, parts: Sequence[Any], axis: int = 0) -> Any:
        values = [_plain_value(part) for part in parts]
        joined = np.concatenate(values, axis=axis)
        ends = np.cumsum([value.shape[axis] for value in values])
        inputs = []
        for part, value, end in zip(parts, values, ends, strict=True):
            index = [slice(None)] * value.ndim
            index[axis] = slice(end - value.shape[axis], end)
            inputs.append(_concatenation_part(part, tuple(index), joined.shape))
        return Node(joined, _node_inputs(inputs))

    def stack(self, parts: Sequence[Any], axis: int = -1) -> Any:
        """Stack along a new last axis; ``axis`` exists for compatibility with NumPy."""
        return self.concatenate([part[..., None] for part in parts], axis=axis)


TAPE_NUMPY = _TapeNumpy()


def value_and_gradient(function: Callable[[Node], Node], x: Floats) -> tuple[Floats, Floats]:
    """Compute the value and gradient of a function of one vector, or of many at once.

    Parameters
    ----------
    function : callable
        Function from a :class:`Node` of shape (..., n) to one of shape (...), each vector independently.
    x : array, shape (..., n)

    Examples
    --------
    >>> value, slope = value_and_gradient(lambda x: (x * TAPE_NUMPY.exp(x)).sum(axis=-1), np.array([0.0, 1.0]))
    >>> value.round(3).tolist(), slope.round(3).tolist()
    (2.718, [1.0, 5.437])
    """
    start, end = record_tape(function, x)
    start.tape.clear()  # breaks the reference cycle of nodes and tape
    return end.value, np.zeros_like(start.value) if start.slope is None else np.array(start.slope)


def record_tape(function: Callable[[Node], Node], x: Floats) -> tuple[Node, Node]:
    """Record the tape of a function at ``x``; return its start and end, with gradients of the end by every node."""
    start = Node(x)
    end = function(start)
    end.slope = np.ones(end.shape)
    for node in reversed(start.tape):
        if node.slope is None:
            continue
        for source, back, _ in node.inputs:
            part = back(node.slope)
            if part.shape != source.value.shape:
                part = sum_broadcast_axes(part, source.value.shape)
            source.slope = part if source.slope is None else source.slope + part
    return start, end


def _elementwise(x: Any, out: Any, slope: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """Build the node of an elementwise function of ``x`` with value ``out``; derivatives are computed on demand."""
    if not isinstance(x, Node):
        return out
    return Node(out, ((x, lambda g: g * slope(), None),), lambda: [(x, x, second())])


def _identity_map(x: Floats) -> Floats:
    return x


def _concatenation_part(
    part: Any, slices: tuple[slice, ...], shape: tuple[int, ...]
) -> tuple[Any, LinearMap, LinearMap]:
    """Build the input of a concatenation for a part at slices ``slices``."""

    def forward_change(t: Floats) -> Floats:
        out = np.zeros(shape)
        out[slices] = t
        return out

    return part, lambda g: g[slices], forward_change


def _node_inputs(inputs: Iterable[Any]) -> tuple[Origin, ...]:
    """Keep the inputs that are nodes, not plain arrays."""
    return tuple(origin for origin in inputs if isinstance(origin[0], Node))


def _plain_value(x: Any) -> Any:
    return x.value if isinstance(x, Node) else x


def sum_broadcast_axes(g: Floats, shape: tuple[int, ...]) -> Floats:
    """Sum a gradient over the axes along which its input was broadcast."""
    if g.shape == shape:
        return g
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    broadcast_axes = tuple(axis for axis, size in enumerate(shape) if size == 1 and g.shape[axis] != 1)
    return g.sum(axis=broadcast_axes, keepdims=True) if broadcast_axes else g
