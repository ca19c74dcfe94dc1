"""Paths of Hamiltonian Monte Carlo by the kernel, where it has all that an energy is made of."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.library import address, as_rows, library, share_blocks, side_by_side
from voirdire.infer.kernel.mapped import Mapped
from voirdire.infer.nested.skewness import Skewness
from voirdire.typing import Floats

NUMBERS = ("family", "predictors", "alternatives", "cells", "directions", "bent")
ARRAYS = (
    *("start", "place", "coefficient", "answers", "along", "gain", "inverse"),
    *("at", "sd", "middle", "width", "bend"),
)
WHOLE = ("start", "place", "at")
SINGLE = ("coefficient", "answers")


class Energy(ctypes.Structure):
    """All that an energy is made of, as the kernel has it; the arrays are kept by who makes it."""

    _fields_ = (
        ("field", ctypes.c_void_p),
        ("ended", ctypes.c_void_p),
        *((name, ctypes.c_int) for name in NUMBERS),
        *((name, ctypes.c_void_p) for name in ARRAYS),
    )


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths in coordinates whose L'^-1 is written out.

    Parameters
    ----------
    mapped : Mapped
        Whose answers the kernel has.
    inverse : array, shape (size, size)
        L'^-1.
    along, gain : array, shape (size of z, directions) and (directions,)
        V and how far it is stretched.
    skewness : Skewness
    """

    mapped: Mapped
    inverse: Floats
    along: Floats
    gain: Floats
    skewness: Skewness

    @cached_property
    def _known(self) -> tuple[Energy, dict[str, Any]]:
        """Input of the kernel, with the arrays that it points to."""
        fused = self.mapped.fused
        assert fused is not None  # asked before
        numbers, given = fused.described
        arrays = given | {"along": self.along, "gain": self.gain, "inverse": self.inverse}
        arrays |= self.skewness._asdict()
        kinds = dict.fromkeys(WHOLE, np.int32) | dict.fromkeys(SINGLE, np.float32)
        arrays = {
            name: np.ascontiguousarray(array, kinds.get(name, np.float64)) for name, array in arrays.items()
        }
        numbers = numbers | {"directions": len(self.gain), "bent": len(self.skewness.at)}
        parts = {"field": self.mapped.priors.address, "ended": self.mapped.address}
        return Energy(**parts, **numbers, **{name: address(array) for name, array in arrays.items()}), arrays

    def follow_path(
        self, z: Floats, momentum: Floats, slope: Floats, steps: int, step: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of paths from points z, shape (points, size), with momentum and the gradient there.

        Returns
        -------
        tuple of array
            Points, momentum and gradient, shape (points, size) each, and the energy, shape (points,).
        """
        kernel = library()
        assert kernel is not None  # asked before
        points, energy = len(z), ctypes.addressof(self._known[0])
        ends = [side_by_side(each) for each in (z, momentum, slope)]
        value, length = np.empty((len(ends[0]), ends[0].shape[2])), np.array([step])
        room = kernel.voirdire_room(energy)

        def compute(first: int, blocks: int) -> None:
            memory = np.empty(room)  # for as long as the kernel has its address
            at = [address(each, first) for each in (*ends, value)]
            kernel.voirdire_path(blocks, steps, energy, address(length), *at, address(memory))

        share_blocks(compute, len(value), steps * (self.mapped.size + self.inverse.size))
        at, p, by = (as_rows(each, points) for each in ends)
        return at, p, by, value.ravel()[:points]
