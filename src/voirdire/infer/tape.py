"""Gradients of NumPy code by reverse accumulation, for densities too small to be worth compiling.

Every operation on a :class:`Node` notes its inputs and how a change of its output is handed back to them (the
vector-Jacobian product); the notes are then read backwards from the result (Linnainmaa 1976, BIT 16; Griewank and
Walther 2008, chapter 3). It knows what the terms use and no more: arithmetic, ``abs``, sums and means, indexing,
reshaping and the functions of :data:`TAPED`, which stands in for NumPy as the terms' ``xp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from voirdire.typing import Floats

Back = Callable[[Floats], Floats]


class Node:
    """An array whose origin is noted.

    Attributes
    ----------
    value : array
    inputs : list of (Node, function)
        What the array was made of, and what turns the gradient of the result by the array into that by the input.
    tape : list of Node
        All nodes of one evaluation in the order they were made, each after its inputs.
    slope : array or None
        Gradient of the result by the array, while it is being summed up.
    """

    __slots__ = ("inputs", "slope", "tape", "value")
    __array_ufunc__ = None  # so that NumPy leaves array + Node to Node

    def __init__(self, value: Any, inputs: Sequence[tuple[Any, Back]] = ()) -> None:
        self.value = np.asarray(value, dtype=float)
        self.inputs = [pair for pair in inputs if isinstance(pair[0], Node)]
        self.slope: Floats | None = None
        self.tape: list[Node] = self.inputs[0][0].tape if self.inputs else []
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
        return Node(-self.value, [(self, np.negative)])

    def __abs__(self) -> Node:
        return Node(np.abs(self.value), [(self, lambda g: g * np.sign(self.value))])

    def __add__(self, other: Any) -> Node:
        return _joined(_value(self) + _value(other), (self, lambda g: g), (other, lambda g: g))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Node:
        return _joined(self.value - _value(other), (self, lambda g: g), (other, np.negative))

    def __rsub__(self, other: Any) -> Node:
        return _joined(other - self.value, (self, np.negative))

    def __mul__(self, other: Any) -> Node:
        a, b = self.value, _value(other)
        return _joined(a * b, (self, lambda g: g * b), (other, lambda g: g * a))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Node:
        a, b = self.value, _value(other)
        return _joined(a / b, (self, lambda g: g / b), (other, lambda g: -g * a / (b * b)))

    def __rtruediv__(self, other: Any) -> Node:
        return _joined(other / self.value, (self, lambda g: -g * other / (self.value * self.value)))

    def __pow__(self, power: float) -> Node:
        return Node(self.value**power, [(self, lambda g: g * power * self.value ** (power - 1))])

    def __getitem__(self, index: Any) -> Node:
        return Node(self.value[index], [(self, lambda g: _scattered(g, self.value.shape, index))])

    def reshape(self, *shape: Any) -> Node:
        """As NumPy's."""
        return Node(self.value.reshape(*shape), [(self, lambda g: g.reshape(self.value.shape))])

    def transpose(self, *axes: int) -> Node:
        """As NumPy's."""
        back = np.argsort(axes)
        return Node(self.value.transpose(axes), [(self, lambda g: g.transpose(back))])

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Node:
        """As NumPy's."""

        def back(g: Floats) -> Floats:
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return np.broadcast_to(g, self.value.shape)

        return Node(self.value.sum(axis=axis, keepdims=keepdims), [(self, back)])

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Node:
        """As NumPy's."""
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * (total.value.size / self.value.size)

    def max(self, axis: int, keepdims: bool = False) -> Node:
        """As NumPy's; where several are the largest, each gets a share."""
        top = self.value.max(axis=axis, keepdims=True)
        share = self.value == top
        share = share / share.sum(axis=axis, keepdims=True)
        back: Back = lambda g: share * (g if keepdims else np.expand_dims(g, axis))  # noqa: E731
        return Node(top if keepdims else top.squeeze(axis), [(self, back)])


class _Taped:
    """The functions of NumPy that the terms use, for nodes and plain arrays alike."""

    def exp(self, x: Any) -> Any:
        if not isinstance(x, Node):
            return np.exp(x)
        out = np.exp(x.value)
        return Node(out, [(x, lambda g: g * out)])

    def log(self, x: Any) -> Any:
        return Node(np.log(x.value), [(x, lambda g: g / x.value)]) if isinstance(x, Node) else np.log(x)

    def log1p(self, x: Any) -> Any:
        if not isinstance(x, Node):
            return np.log1p(x)
        return Node(np.log1p(x.value), [(x, lambda g: g / (1.0 + x.value))])

    def expm1(self, x: Any) -> Any:
        if not isinstance(x, Node):
            return np.expm1(x)
        out = np.expm1(x.value)
        return Node(out, [(x, lambda g: g * (out + 1.0))])

    def log_normal_cdf(self, x: Any) -> Any:
        from scipy.special import log_ndtr

        if not isinstance(x, Node):
            return log_ndtr(x)
        out = log_ndtr(x.value)
        slope = np.exp(-0.5 * x.value**2 - 0.5 * np.log(2.0 * np.pi) - out)
        return Node(out, [(x, lambda g: g * slope)])

    def logaddexp(self, x: Any, y: Any) -> Any:
        a, b = np.asarray(_value(x), dtype=float), np.asarray(_value(y), dtype=float)
        out = _logaddexp(a, b)

        def share(g: Floats, part: Floats) -> Floats:
            # where both parts are -inf, neither has a share
            gap = np.subtract(part, out, where=np.isfinite(out), out=np.full_like(out, -np.inf))
            return np.asarray(g * np.exp(gap))

        return _joined(out, (x, lambda g: share(g, a)), (y, lambda g: share(g, b)))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        out = np.where(condition, _value(x), _value(y))
        return _joined(
            out, (x, lambda g: np.where(condition, g, 0.0)), (y, lambda g: np.where(condition, 0.0, g))
        )

    def dot(self, x: Any, y: Any) -> Any:
        """Products of matrices; the left one is plain."""
        return Node(x @ y.value, [(y, lambda g: x.T @ g)]) if isinstance(y, Node) else np.dot(x, y)

    def concatenate(self, parts: Sequence[Any], axis: int = 0) -> Any:
        values = [_value(part) for part in parts]
        ends = np.cumsum([value.shape[axis] for value in values])
        inputs = []
        for part, value, end in zip(parts, values, ends, strict=True):
            where = [slice(None)] * value.ndim
            where[axis] = slice(end - value.shape[axis], end)
            inputs.append((part, lambda g, where=tuple(where): g[where]))
        return Node(np.concatenate(values, axis=axis), inputs)

    def stack(self, parts: Sequence[Any], axis: int = -1) -> Any:
        """Along a new last axis; ``axis`` is there for NumPy's sake."""
        return self.concatenate([part[..., None] for part in parts], axis=axis)


TAPED = _Taped()


def gradient(function: Callable[[Node], Node], x: Floats) -> tuple[float, Floats]:
    """Value and gradient of a function of one vector.

    Parameters
    ----------
    function : callable
        From a :class:`Node` of shape (n,) to one of shape ().
    x : array, shape (n,)

    Examples
    --------
    >>> value, slope = gradient(lambda x: (x * TAPED.exp(x)).sum(), np.array([0.0, 1.0]))
    >>> round(value, 3), slope.round(3).tolist()
    (2.718, [1.0, 5.437])
    """
    start = Node(x)
    end = function(start)
    end.slope = np.ones(())
    for node in reversed(start.tape):
        if node.slope is None:
            continue
        for source, back in node.inputs:
            part = _fitted(back(node.slope), source.value.shape)
            source.slope = part if source.slope is None else source.slope + part
    start.tape.clear()  # the nodes hold it and it holds them
    return float(end.value), np.zeros_like(start.value) if start.slope is None else np.array(start.slope)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Node) else x


def _joined(value: Any, *inputs: tuple[Any, Back]) -> Node:
    return Node(value, inputs)


def _fitted(g: Floats, shape: tuple[int, ...]) -> Floats:
    """Sum a gradient over the axes along which its input was broadcast."""
    if g.shape == shape:
        return g
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    wide = tuple(axis for axis, size in enumerate(shape) if size == 1 and g.shape[axis] != 1)
    return g.sum(axis=wide, keepdims=True) if wide else g


def _scattered(g: Floats, shape: tuple[int, ...], index: Any) -> Floats:
    """Add a gradient to the places that it was gathered from."""
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, np.ndarray | list) for part in parts):
        size = int(np.prod(shape))
        flat = parts[0] if len(shape) == 1 and len(parts) == 1 else np.arange(size).reshape(shape)[index]
        return np.bincount(np.ravel(flat), g.ravel(), size).astype(float, copy=False).reshape(shape)
    out = np.zeros(shape)
    out[index] = g
    return out


def _logaddexp(a: Floats, b: Floats) -> Floats:
    """As NumPy's, by its vectorised exponentials, which are faster."""
    top = np.maximum(a, b)
    with np.errstate(invalid="ignore"):  # two infinities of one sign have no gap
        out = top + np.log1p(np.exp(np.minimum(a, b) - top))
    return np.asarray(np.where(np.isfinite(top), out, top))
