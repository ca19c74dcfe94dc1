"""Paths of Hamiltonian Monte Carlo by the kernel, where it has all that an energy is made of."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.library import (
    array_address,
    kernel_library,
    pack_points,
    share_blocks,
    unpack_points,
)
from voirdire.infer.kernel.mapped import Mapped
from voirdire.infer.nested.skewness import Skewness
from voirdire.typing import Floats

NUMBERS = ("family", "predictors", "alternatives", "cells", "directions", "bent", "products")
SPARSE = ("start", "place", "coefficient")
ARRAYS = (
    *SPARSE,
    *("answers", "scale", "along", "gain"),
    *(f"{of}_{part}" for of in ("normal", "white") for part in SPARSE),
    *("at", "sd", "middle", "width", "bend"),
)


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
    """Paths in coordinates whose L'^-1 is a product of sparse matrices.

    Parameters
    ----------
    mapped : Mapped
        Whose answers the kernel has.
    products : tuple of sparse array, shape (size, size) each
        That L'^-1 multiplies by, one after the other, in single precision.
    scale, along, gain : array, shape (size of z,), (size of z, directions) and (directions,)
        How far coordinates are stretched, V, and how far it is.
    skewness : Skewness
    """

    mapped: Mapped
    products: tuple[Any, ...]
    scale: Floats
    along: Floats
    gain: Floats
    skewness: Skewness

    @cached_property
    def _known(self) -> tuple[Energy, dict[str, Any]]:
        """Input of the kernel, with the arrays that it points to."""
        fused = self.mapped.fused
        assert fused is not None  # asked before
        numbers, given = fused.kernel_arguments
        of_energy = {"scale": self.scale, "along": self.along, "gain": self.gain} | self.skewness._asdict()
        kinds = {"at": np.int32}
        arrays = given | {
            name: np.ascontiguousarray(array, kinds.get(name, np.float64))
            for name, array in of_energy.items()
        }
        turned = [matrix.T.tocsr() for matrix in reversed(self.products)]
        for of, matrices in (("normal", self.products), ("white", turned)):
            arrays |= {
                f"{of}_{part}": array
                for part, array in zip(SPARSE, _concatenate_matrices(matrices), strict=True)
            }
        numbers = numbers | {
            "directions": len(self.gain),
            "bent": len(self.skewness.at),
            "products": len(self.products),
        }
        parts = {"field": self.mapped.priors.address, "ended": self.mapped.address}
        return Energy(
            **parts, **numbers, **{name: array_address(array) for name, array in arrays.items()}
        ), arrays

    def follow_path(
        self, z: Floats, momentum: Floats, slope: Floats, steps: int, step: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of paths from points z, shape (points, size), with momentum and the gradient there.

        Returns
        -------
        tuple of array
            Points, momentum and gradient, shape (points, size) each, and the energy, shape (points,).
        """
        ends = [pack_points(each) for each in (z, momentum, slope)]
        value = self._run_kernel(ends, steps, step)
        at, p, by = (unpack_points(each, len(z)) for each in ends)
        return at, p, by, value[: len(z)]

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Energy of points z, shape (points, size), and its gradient."""
        at = pack_points(z)
        slope = np.empty_like(at)
        value = self._run_kernel([at, slope, slope], 0, 0.0)
        return value[: len(z)], unpack_points(slope, len(z))

    def _run_kernel(self, ends: list[Any], steps: int, step: float) -> Floats:
        """Energies at the ends of paths, shape (points,); places, momentum and gradients are changed."""
        kernel = kernel_library()
        assert kernel is not None  # asked before
        energy, length = ctypes.addressof(self._known[0]), np.array([step])
        value = np.empty((len(ends[0]), ends[0].shape[2]))
        room = kernel.voirdire_room(energy)

        def follow_blocks(first: int, blocks: int) -> None:
            memory = np.empty(room)  # for as long as the kernel has its address
            at = [array_address(each, first) for each in (*ends, value)]
            kernel.voirdire_path(blocks, steps, energy, array_address(length), *at, array_address(memory))

        numbers = sum(matrix.nnz for matrix in self.products)
        share_blocks(follow_blocks, len(value), (steps + 1) * (self.mapped.size + numbers))
        return value.ravel()


def _concatenate_matrices(matrices: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Starts of rows, places and coefficients of sparse matrices, one after the other."""
    before = np.cumsum([0, *(matrix.nnz for matrix in matrices)])
    starts = [matrix.indptr[:-1] + first for matrix, first in zip(matrices, before[:-1], strict=True)]
    return (
        np.concatenate([*starts, before[-1:]]).astype(np.int32),
        np.concatenate([matrix.indices for matrix in matrices]).astype(np.int32),
        np.concatenate([matrix.data for matrix in matrices]).astype(np.float32),
    )
