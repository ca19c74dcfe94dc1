"""Energy of points in the coordinates of :mod:`.latent_gaussian.coordinates`, with its gradient, by the kernel.

Also paths of Hamiltonian Monte Carlo, if the kernel supports all parts of the energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.library import (
    Structure,
    array_address,
    call_by_blocks,
    kernel_library,
    pack_points,
    unpack_points,
)
from voirdire.typing import Floats

NUMBERS_PER_GROUP = 5  # numbers that the kernel stores for a group at a point


@dataclass(frozen=True, eq=False)
class MappedEnergy:
    """Energy in coordinates about the end of a search.

    Attributes
    ----------
    coordinates : Coordinates
    """

    coordinates: Any

    @cached_property
    def structure(self) -> Structure:
        """End of the search in the format of the kernel."""
        where = self.coordinates
        model, mode = where.search.model, where.search.mode
        priors = model.group_priors(mode.hyper)
        arrays = {
            "root": where.root,
            "hyper": mode.hyper,
            "first": priors.mean,
            "follow": np.append(where.follow, 0.0)[priors.spread_at],
            "prior": where.prior,
            "observation_precision": where.observation_precision,
            "away": mode.x - model.expand_group_values(priors.mean),
            "observation_share": where.observation_share,
            "moves": where.moves,
        }
        return Structure(**{name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()})

    @property
    def size(self) -> int:
        """Number of latent values and cells."""
        model = self.coordinates.search.model
        return int(model.size + int(model.answers.size))

    def energy(self, white: Floats, normal: Floats) -> tuple[Floats, Floats, Floats]:
        """Compute minus the log density of points, shape (points,), and its gradients.

        The first gradient is by the spreads' white coordinates, the second by the normal part before L^-1.

        Parameters
        ----------
        white : array, shape (points, hypers)
            White coordinates of the spreads.
        normal : array, shape (points, size)
            L'^-1 z_x.
        """
        model, points = self.coordinates.search.model, len(white)
        structures = self.coordinates.priors.structure.address, self.structure.address
        r, z = pack_points(white), pack_points(normal)
        mode_changes, hyper, x, rounded = np.empty_like(r), np.empty_like(r), np.empty_like(z), np.empty_like(z, "f")
        scaled = np.empty((len(z), len(model.groups), NUMBERS_PER_GROUP, z.shape[2]))
        results = (r, z, mode_changes, hyper, scaled, x, rounded)
        call_by_blocks("voirdire_forward", structures, (), results, model.size)
        likelihood, by_answers, by_hyper = self._value_and_gradients(x, rounded, hyper, points)
        by_white, by_normal, value = np.empty_like(r), np.empty_like(z), np.empty((len(z), z.shape[2]))
        gradients = (mode_changes, hyper, scaled, z, x, by_answers, by_hyper, by_white, by_normal, value)
        call_by_blocks("voirdire_backward", structures, (), gradients, model.size)
        energy = -(likelihood + value.ravel()[:points])
        return energy, -unpack_points(by_white, points), -unpack_points(by_normal, points)

    def _value_and_gradients(self, x: Any, rounded: Any, hyper: Any, points: int) -> tuple[Floats, Any, Any]:
        """Compute the log likelihood, (points,), its gradient by packed latent values, and that by the spreads."""
        model, fused = self.coordinates.search.model, self.coordinates.fused
        by_hyper = np.zeros_like(hyper)
        if fused is not None:
            value, slope = fused.value_gradient(rounded)
            likelihood = value.ravel()[:points]
        else:
            rows, logs = unpack_points(x, points), unpack_points(hyper, points)
            likelihood, by_predictors = self.coordinates.answers(model.predictors(rows, logs))
            slope = pack_points(model.pattern.gather_gradient(by_predictors), np.float32)
            if model.scales is not None:
                by_hyper = pack_points((model.scales.T @ by_predictors.reshape(points, -1).T).T)
        return likelihood, slope, by_hyper


SPARSE_PARTS = ("start", "place", "coefficient")
ARRAY_TYPES = {"places": np.int32}  # types that the kernel needs, where they differ


@dataclass(frozen=True, eq=False)
class KernelPaths:
    """Paths in coordinates whose L'^-1 is a product of sparse matrices.

    Parameters
    ----------
    mapped : MappedEnergy
        Energy whose answers the kernel supports.
    products : tuple of sparse array, shape (size, size) each
        Factors of L'^-1 in single precision, in the order of their application.
    """

    mapped: MappedEnergy
    products: tuple[Any, ...]

    @cached_property
    def _kernel_structure(self) -> Structure:
        """All parts of an energy in the format of the kernel."""
        where = self.mapped.coordinates
        numbers, cells = where.fused.kernel_arguments
        stretched = {"scale": where.scale, "along": where.along, "gain": where.gain}
        transposed = [matrix.T.tocsr() for matrix in reversed(self.products)]
        products = {
            f"{prefix}_{part}": array
            for prefix, matrices in (("normal", self.products), ("white", transposed))
            for part, array in zip(SPARSE_PARTS, _concatenate_matrices(matrices), strict=True)
        }
        arrays = stretched | products | where.skewness._asdict()
        return Structure(
            field=where.priors.structure,
            ended=self.mapped.structure,
            **numbers,
            directions=len(where.gain),
            bent=len(where.skewness.places),
            products=len(self.products),
            **cells,
            **{name: np.ascontiguousarray(array, ARRAY_TYPES.get(name)) for name, array in arrays.items()},
        )

    def follow_path(
        self, z: Floats, momentum: Floats, slope: Floats, steps: int, step: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Follow paths from points z, shape (points, size), with momentum and the gradient there.

        Returns
        -------
        tuple of array
            Points, momentum and gradient at the ends, shape (points, size) each, and the energy, shape (points,).
        """
        ends = [pack_points(array) for array in (z, momentum, slope)]
        value = self._run_kernel(ends, steps, step)
        position, p, gradient = (unpack_points(array, len(z)) for array in ends)
        return position, p, gradient, value[: len(z)]

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute the energy of points z, shape (points, size), and its gradient."""
        packed = pack_points(z)
        slope = np.empty_like(packed)
        value = self._run_kernel([packed, slope, slope], 0, 0.0)
        return value[: len(z)], unpack_points(slope, len(z))

    def _run_kernel(self, ends: list[Any], steps: int, step: float) -> Floats:
        """Compute energies at the ends of paths, shape (points,); positions, momentum and gradients are overwritten."""
        kernel, energy, length = kernel_library(), self._kernel_structure.address, np.array([step])
        assert kernel is not None  # callers check this
        value = np.empty((len(ends[0]), ends[0].shape[2]))
        memory = np.empty((len(value), kernel.voirdire_room(energy)))
        size = (steps + 1) * (self.mapped.size + sum(matrix.nnz for matrix in self.products))
        after = (steps, energy, array_address(length))
        call_by_blocks("voirdire_path", (), after, (*ends, value, memory), size)
        return value.ravel()


def _concatenate_matrices(matrices: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Concatenate starts of rows, positions and coefficients of sparse matrices."""
    from scipy.sparse import vstack

    stacked = vstack(matrices, format="csr")
    return stacked.indptr.astype(np.int32), stacked.indices.astype(np.int32), stacked.data.astype(np.float32)
