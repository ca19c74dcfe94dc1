"""Energy of points in the coordinates of :mod:`.latent_gaussian.coordinates`, with its gradient, by the kernel.

Paths of Hamiltonian Monte Carlo by the kernel, where it has all that an energy is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.infer.kernel.fused import FusedAnswers
from voirdire.infer.kernel.library import (
    Structure,
    array_address,
    kernel_library,
    pack_points,
    run_blocks_threaded,
    unpack_points,
)
from voirdire.infer.kernel.priors import Priors
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.skewness import Skewness
from voirdire.typing import Floats

NUMBERS_PER_GROUP = 5  # numbers that the kernel keeps of a group at a point


@dataclass(frozen=True, eq=False)
class MappedEnergy:
    """Energy in coordinates about the end of a search.

    Attributes
    ----------
    search : SpreadSearch
    priors : Priors
        Of its model.
    root, prior, observation_precision, observation_share, moves, follow : array
        R, p at the end of the search, w, b, M' and kappa.
    fused : FusedAnswers or None
        Answers by the kernel, and
    answers : callable
        where there are none: log likelihood of predictors of points, with its gradient.
    """

    search: SpreadSearch
    priors: Priors
    root: Floats
    prior: Floats
    observation_precision: Floats
    observation_share: Floats
    moves: Floats
    follow: Floats
    fused: FusedAnswers | None
    answers: Callable[[Floats], tuple[Floats, Floats]]

    @cached_property
    def structure(self) -> Structure:
        """The end of the search as the kernel has it."""
        model, mode = self.search.model, self.search.mode
        priors = model.group_priors(mode.hyper)
        arrays = {
            "root": self.root,
            "hyper": mode.hyper,
            "first": priors.mean,
            "follow": np.append(self.follow, 0.0)[priors.spread_at],
            "prior": self.prior,
            "observation_precision": self.observation_precision,
            "away": mode.x - model.expand_group_values(priors.mean),
            "observation_share": self.observation_share,
            "moves": self.moves,
        }
        return Structure(**{name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()})

    @property
    def size(self) -> int:
        """Latent values and cells."""
        return self.search.model.size + int(self.search.model.answers.size)

    def energy(self, white: Floats, normal: Floats) -> tuple[Floats, Floats, Floats]:
        """Minus the log density of points, shape (points,), and its gradient by the spreads' white coordinates.

        The last is by the normal part before L^-1.

        Parameters
        ----------
        white : array, shape (points, hypers)
            Coordinates of the spreads.
        normal : array, shape (points, size)
            L'^-1 z_x.
        """
        kernel, model = kernel_library(), self.search.model
        assert kernel is not None  # asked before
        points, size = len(white), self.search.model.size
        structures = self.priors.structure.address, self.structure.address
        r, z = pack_points(white), pack_points(normal)
        beside, hyper, x, rounded = (
            np.empty_like(r),
            np.empty_like(r),
            np.empty_like(z),
            np.empty_like(z, "f"),
        )
        scaled = np.empty((len(z), len(model.groups), NUMBERS_PER_GROUP, z.shape[2]))

        def go_forward(first: int, blocks: int) -> None:
            addresses = [array_address(array, first) for array in (r, z, beside, hyper, scaled, x, rounded)]
            kernel.voirdire_forward(*structures, blocks, *addresses)

        run_blocks_threaded(go_forward, len(z), size)
        likelihood, by_answers, by_hyper = self._value_and_gradients(x, rounded, hyper, points)
        by_white, by_normal, value = np.empty_like(r), np.empty_like(z), np.empty((len(z), z.shape[2]))

        def go_backward(first: int, blocks: int) -> None:
            arrays = (beside, hyper, scaled, z, x, by_answers, by_hyper, by_white, by_normal, value)
            kernel.voirdire_backward(*structures, blocks, *(array_address(array, first) for array in arrays))

        run_blocks_threaded(go_backward, len(z), size)
        return (
            -(likelihood + value.ravel()[:points]),
            -unpack_points(by_white, points),
            -unpack_points(by_normal, points),
        )

    def _value_and_gradients(self, x: Any, rounded: Any, hyper: Any, points: int) -> tuple[Floats, Any, Any]:
        """Log likelihood, shape (points,), its gradient by latent values side by side, and by the spreads."""
        model = self.search.model
        by_hyper = np.zeros_like(hyper)
        if self.fused is not None:
            value, slope = self.fused.value_gradient(rounded)
            likelihood = value.ravel()[:points]
        else:
            rows, logs = unpack_points(x, points), unpack_points(hyper, points)
            likelihood, by_predictors = self.answers(model.predictors(rows, logs))
            slope = pack_points(model.pattern.gather_gradient(by_predictors), np.float32)
            if model.scales is not None:
                by_hyper = pack_points((model.scales.T @ by_predictors.reshape(points, -1).T).T)
        return likelihood, slope, by_hyper


SPARSE_PARTS = ("start", "place", "coefficient")
ARRAY_TYPES = {"at": np.int32}  # of numbers that are not as they come


@dataclass(frozen=True, eq=False)
class KernelPaths:
    """Paths in coordinates whose L'^-1 is a product of sparse matrices.

    Parameters
    ----------
    mapped : MappedEnergy
        Whose answers the kernel has.
    products : tuple of sparse array, shape (size, size) each
        That L'^-1 multiplies by, one after the other, in single precision.
    scale, along, gain : array, shape (size of z,), (size of z, directions) and (directions,)
        How far coordinates are stretched, V, and how far it is.
    skewness : Skewness
    """

    mapped: MappedEnergy
    products: tuple[Any, ...]
    scale: Floats
    along: Floats
    gain: Floats
    skewness: Skewness

    @cached_property
    def _structure(self) -> Structure:
        """All that an energy is made of, as the kernel has it."""
        fused = self.mapped.fused
        assert fused is not None  # asked before
        numbers, cells = fused.kernel_arguments
        stretched = {"scale": self.scale, "along": self.along, "gain": self.gain}
        transposed = [matrix.T.tocsr() for matrix in reversed(self.products)]
        products = {
            f"{prefix}_{part}": array
            for prefix, matrices in (("normal", self.products), ("white", transposed))
            for part, array in zip(SPARSE_PARTS, _concatenate_matrices(matrices), strict=True)
        }
        arrays = stretched | products | self.skewness._asdict()
        return Structure(
            field=self.mapped.priors.structure,
            ended=self.mapped.structure,
            **numbers,
            directions=len(self.gain),
            bent=len(self.skewness.places),
            products=len(self.products),
            **cells,
            **{name: np.ascontiguousarray(array, ARRAY_TYPES.get(name)) for name, array in arrays.items()},
        )

    def follow_path(
        self, z: Floats, momentum: Floats, slope: Floats, steps: int, step: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Ends of paths from points z, shape (points, size), with momentum and the gradient there.

        Returns
        -------
        tuple of array
            Points, momentum and gradient, shape (points, size) each, and the energy, shape (points,).
        """
        ends = [pack_points(array) for array in (z, momentum, slope)]
        value = self._run_kernel(ends, steps, step)
        position, p, gradient = (unpack_points(array, len(z)) for array in ends)
        return position, p, gradient, value[: len(z)]

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """Energy of points z, shape (points, size), and its gradient."""
        packed = pack_points(z)
        slope = np.empty_like(packed)
        value = self._run_kernel([packed, slope, slope], 0, 0.0)
        return value[: len(z)], unpack_points(slope, len(z))

    def _run_kernel(self, ends: list[Any], steps: int, step: float) -> Floats:
        """Energies at the ends of paths, shape (points,); places, momentum and gradients are changed."""
        kernel = kernel_library()
        assert kernel is not None  # asked before
        energy, length = self._structure.address, np.array([step])
        value = np.empty((len(ends[0]), ends[0].shape[2]))
        room = kernel.voirdire_room(energy)

        def follow_blocks(first: int, blocks: int) -> None:
            memory = np.empty(room)  # for as long as the kernel has its address
            addresses = [array_address(array, first) for array in (*ends, value)]
            kernel.voirdire_path(
                blocks, steps, energy, array_address(length), *addresses, array_address(memory)
            )

        numbers = sum(matrix.nnz for matrix in self.products)
        run_blocks_threaded(follow_blocks, len(value), (steps + 1) * (self.mapped.size + numbers))
        return value.ravel()


def _concatenate_matrices(matrices: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Starts of rows, places and coefficients of sparse matrices, one after the other."""
    offsets = np.cumsum([0, *(matrix.nnz for matrix in matrices)])
    starts = [matrix.indptr[:-1] + offset for matrix, offset in zip(matrices, offsets[:-1], strict=True)]
    return (
        np.concatenate([*starts, offsets[-1:]]).astype(np.int32),
        np.concatenate([matrix.indices for matrix in matrices]).astype(np.int32),
        np.concatenate([matrix.data for matrix in matrices]).astype(np.float32),
    )
