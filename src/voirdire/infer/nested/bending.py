"""Logarithms of what may be zero, by coordinates that go through it.

The logarithm of a spread or mean t whose prior has its highest density at zero has a tail as long as answers leave t
open, and steps as short as its other side needs hardly go along it. With t = t^ |sinh(a + u)|, a = asinh 1, t^ where a
search ended, the tail is as short as the range of t: u goes through zero and t comes back, and far from zero u is the
logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from voirdire.infer.nested.field import Field
from voirdire.typing import Bools, Floats

AT = math.asinh(1.0)  # a


def may_be_zero(model: Field) -> Bools:
    """True for logarithms of what may be zero, shape (hypers,): those whose exponential has an exponential prior."""
    return np.array([hyper.sd == 0 for hyper in model.hypers], dtype=bool)


def bend_logarithms(u: Floats, which: Bools) -> tuple[Floats, Floats, Floats, Floats]:
    """Distance of logarithms from log t^, shape (points, hypers), as they are for those not of ``which``.

    Returns
    -------
    array, shape (points, hypers)
    array, shape (points, hypers)
        Their derivatives by u.
    array, shape (points,)
        Sum of the logarithms of these.
    array, shape (points, hypers)
        The derivatives of each of these logarithms.

    Examples
    --------
    >>> [part.round(3).tolist() for part in bend_logarithms(np.zeros((1, 2)), np.array([True, False]))]
    [[[0.0, 0.0]], [[1.414, 1.0]], [0.347], [[-0.707, 0.0]]]
    """
    there = np.where(which, AT + u, 1.0)
    tanh = np.tanh(there)
    moved = np.where(which, np.log(np.abs(np.sinh(there))), u)
    slope, turned = np.where(which, 1.0 / tanh, 1.0), np.where(which, tanh - 1.0 / tanh, 0.0)
    return moved, slope, np.log(np.abs(slope)).sum(axis=-1), turned
