"""Derivatives of NumPy code by reverse accumulation, for densities too small to be worth compiling.

Every operation on a :class:`Node` notes its inputs and how a change of its output is handed back to them (the
vector-Jacobian product); the notes are then read backwards from the result (Linnainmaa 1976, BIT 16; Griewank and
Walther 2008, chapter 3). It knows what the terms use and no more: arithmetic, ``abs``, sums and means, indexing,
reshaping and the functions of :data:`TAPE_NUMPY`, which stands in for NumPy as the terms' ``xp``.

For second derivatives (:mod:`voirdire.infer.hessian`) an operation that moves numbers about (indexing, sums,
reshaping) also notes how a change of its input is handed on, and one that works elementwise its second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from voirdire.infer.indexing import repeats_of_axis, scatter_gradient
from voirdire.model.terms.arrays import normal_hazard
from voirdire.typing import Floats

LinearMap: TypeAlias = Callable[[Floats], Floats]
SecondDerivatives: TypeAlias = Callable[[], list[tuple[Any, Any, Any]]]

#: What an array was made of: a node ``source``; ``back``, which turns the gradient of the result by the array into that
#: by ``source``; and ``ahead``, which turns a change of ``source`` into that of the array, where that is no product,
#: number by number, with what ``back`` makes of ones. Plain tuples: a tape makes some hundred at every point.
Origin: TypeAlias = "tuple[Node, LinearMap, LinearMap | None]"

_FLOAT = np.dtype(float)


class Node:
    """An array whose origin is noted.

    Attributes
    ----------
    value : array
    inputs : tuple of Origin
        The nodes that the array was made of.
    curves : function or None
        Gives the second derivatives that are not zero, number by number, as (input, input, array); mixed ones in both
        orders.
    tape : list of Node
        All nodes of one evaluation in the order they were made, each after its inputs.
    slope : array or None
        Gradient of the result by the array, while it is being summed up.
    """

    __slots__ = ("curves", "inputs", "slope", "tape", "value")
    __array_ufunc__ = None  # so that NumPy leaves array + Node to Node

    def __init__(
        self, value: Any, inputs: tuple[Origin, ...] = (), curves: SecondDerivatives | None = None
    ) -> None:
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
        # at zero the slope of one side: smooth functions of |x| then have their second derivatives there too
        return Node(np.abs(self.value), ((self, lambda g: np.where(self.value < 0, -g, g), None),))

    def __add__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value + other, ((self, _identity_map, _identity_map),))
        return Node(
            self.value + other.value,
            ((self, _identity_map, _identity_map), (other, _identity_map, _identity_map)),
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> Node:
        if not isinstance(other, Node):
            return Node(self.value - other, ((self, _identity_map, _identity_map),))
        return Node(
            self.value - other.value,
            ((self, _identity_map, _identity_map), (other, np.negative, np.negative)),
        )

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
            a / b,
            ((self, lambda g: g / b, None), (other, lambda g: -g * a / (b * b), None)),
            second_derivatives,
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
        """Numbers of a vector, at places that may repeat."""
        flat, size = index.ravel(), len(self.value)
        back: LinearMap = lambda g: np.bincount(flat, g.ravel(), size).astype(float, copy=False)  # noqa: E731
        return Node(self.value.take(index), ((self, back, lambda t: t.take(index)),))

    def reshape(self, *shape: Any) -> Node:
        """As NumPy's."""
        back: LinearMap = lambda g: g.reshape(self.value.shape)  # noqa: E731
        return Node(self.value.reshape(*shape), ((self, back, lambda t: t.reshape(*shape)),))

    def transpose(self, *axes: int) -> Node:
        """As NumPy's."""
        order = np.argsort(axes)
        inputs = ((self, lambda g: g.transpose(order), lambda t: t.transpose(axes)),)
        return Node(self.value.transpose(axes), inputs)

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Node:
        """As NumPy's."""

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
        """As NumPy's."""
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * (total.value.size / self.value.size)

    def max(self, axis: int, keepdims: bool = False) -> Node:
        """As NumPy's; where several are the largest, each gets a share."""
        top = self.value.max(axis=axis, keepdims=True)
        share = self.value == top
        share = share / share.sum(axis=axis, keepdims=True)

        def backward_gradient(g: Floats) -> Floats:
            return np.asarray(share * (g if keepdims else np.expand_dims(g, axis)))

        def forward_change(t: Floats) -> Floats:
            return np.asarray((share * t).sum(axis=axis, keepdims=keepdims))

        return Node(top if keepdims else top.squeeze(axis), ((self, backward_gradient, forward_change),))


class _TapeNumpy:
    """The functions of NumPy that the terms use, for nodes and plain arrays alike."""

    def exp(self, x: Any) -> Any:
        out = np.exp(_plain_value(x))
        return _elementwise(x, out, lambda: out, lambda: out)

    def log(self, x: Any) -> Any:
        value = _plain_value(x)
        return _elementwise(x, np.log(value), lambda: 1.0 / value, lambda: -1.0 / value**2)

    def log1p(self, x: Any) -> Any:
        value = _plain_value(x)
        return _elementwise(
            x, np.log1p(value), lambda: 1.0 / (1.0 + value), lambda: -1.0 / (1.0 + value) ** 2
        )

    def expm1(self, x: Any) -> Any:
        out = np.expm1(_plain_value(x))
        return _elementwise(x, out, lambda: out + 1.0, lambda: out + 1.0)

    def log_normal_cdf(self, x: Any) -> Any:
        from scipy.special import log_ndtr

        value = _plain_value(x)

        def log_normal_curve() -> Floats:
            slope = normal_hazard(value)
            return np.asarray(-slope * (value + slope))

        return _elementwise(x, log_ndtr(value), lambda: normal_hazard(value), log_normal_curve)

    def logaddexp(self, x: Any, y: Any) -> Any:
        a, b = np.asarray(_plain_value(x), dtype=float), np.asarray(_plain_value(y), dtype=float)
        top = np.maximum(a, b)
        with np.errstate(invalid="ignore"):  # two infinities of one sign have no gap
            ratio = np.exp(np.minimum(a, b) - top)  # vectorised, unlike NumPy's own function
        out = top + np.log1p(ratio)
        finite = np.isfinite(out)
        all_finite = finite.all()
        if not all_finite:
            out = np.where(finite, out, top)

        def partial_slope(first: bool) -> Floats:
            share = np.where((a >= b) == first, 1.0, ratio) / (1.0 + ratio)
            return share if all_finite else np.where(finite, share, 0.0)  # of two -inf neither has a share

        def second_derivatives() -> list[tuple[Any, Any, Any]]:
            product = partial_slope(True) * partial_slope(False)
            return [(x, x, product), (y, y, product), (x, y, -product), (y, x, -product)]

        inputs = (x, lambda g: g * partial_slope(True), None), (y, lambda g: g * partial_slope(False), None)
        return Node(out, _node_inputs(inputs), second_derivatives)

    def log_sigmoid(self, x: Any) -> Any:
        """As :func:`voirdire.model.terms.arrays.log_sigmoid` has it of NumPy, on one node instead of three."""
        value = _plain_value(x)
        ratio = np.exp(-np.abs(value))
        out = -(np.maximum(-value, 0.0) + np.log1p(ratio))
        return _elementwise(
            x,
            out,
            lambda: np.where(value < 0, 1.0, ratio) / (1.0 + ratio),
            lambda: -ratio / (1.0 + ratio) ** 2,
        )

    def sigmoid(self, x: Any) -> Any:
        """As :func:`voirdire.model.terms.arrays.logistic_sigmoid` has it of NumPy, of one exponential."""
        value = _plain_value(x)
        ratio = np.exp(-np.abs(value))
        upper = 1.0 / (1.0 + ratio)
        out = np.where(value < 0, ratio, 1.0) * upper

        def sigmoid_curve() -> Floats:
            return np.asarray(ratio * upper**3 * np.where(value < 0, 1.0 - ratio, ratio - 1.0))

        return _elementwise(x, out, lambda: ratio * upper * upper, sigmoid_curve)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        inputs = (
            (x, lambda g: np.where(condition, g, 0.0), None),
            (y, lambda g: np.where(condition, 0.0, g), None),
        )
        return Node(np.where(condition, _plain_value(x), _plain_value(y)), _node_inputs(inputs))

    def dot(self, x: Any, y: Any) -> Any:
        """Products of matrices; the left one is plain."""
        if not isinstance(y, Node):
            return np.dot(x, y)
        return Node(x @ y.value, ((y, lambda g: x.T @ g, lambda t: x @ t),))

    def running_sum(self, x: Any) -> Any:
        """As :func:`voirdire.model.terms.arrays.running_sum` has it of NumPy."""
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
        """Along a new last axis; ``axis`` is there for NumPy's sake."""
        return self.concatenate([part[..., None] for part in parts], axis=axis)


TAPE_NUMPY = _TapeNumpy()


def value_and_gradient(function: Callable[[Node], Node], x: Floats) -> tuple[Floats, Floats]:
    """Value and gradient of a function of one vector, or of many at once.

    Parameters
    ----------
    function : callable
        From a :class:`Node` of shape (..., n) to one of shape (...), every vector by itself.
    x : array, shape (..., n)

    Examples
    --------
    >>> value, slope = value_and_gradient(lambda x: (x * TAPE_NUMPY.exp(x)).sum(axis=-1), np.array([0.0, 1.0]))
    >>> value.round(3).tolist(), slope.round(3).tolist()
    (2.718, [1.0, 5.437])
    """
    start, end = record_tape(function, x)
    start.tape.clear()  # the nodes hold it and it holds them
    return end.value, np.zeros_like(start.value) if start.slope is None else np.array(start.slope)


def record_tape(function: Callable[[Node], Node], x: Floats) -> tuple[Node, Node]:
    """Start and end of the tape of a function at ``x``, with the gradient of the end by every node on it."""
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
    """``out``, a function of each number of ``x``; its derivatives are called for where they are wanted."""
    if not isinstance(x, Node):
        return out
    return Node(out, ((x, lambda g: g * slope(), None),), lambda: [(x, x, second())])


def _identity_map(x: Floats) -> Floats:
    return x


def _concatenation_part(
    part: Any, where: tuple[slice, ...], shape: tuple[int, ...]
) -> tuple[Any, LinearMap, LinearMap]:
    """A part of a concatenation, which stands at ``where``."""

    def forward_change(t: Floats) -> Floats:
        out = np.zeros(shape)
        out[where] = t
        return out

    return part, lambda g: g[where], forward_change


def _node_inputs(inputs: Iterable[Any]) -> tuple[Origin, ...]:
    """Inputs that are nodes, not plain arrays."""
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
