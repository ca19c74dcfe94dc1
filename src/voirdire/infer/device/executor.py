"""Coordinates and operations of chains on a device of JAX, in single precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer.compilation_cache import keep_compiled
from voirdire.infer.device.density import SINGLE, DeviceDensity, apply_steps
from voirdire.infer.kernel.rescaled import Steps
from voirdire.infer.latent_gaussian.adapting import MAX_DIRECTIONS
from voirdire.infer.latent_gaussian.coordinates import Coordinates
from voirdire.infer.latent_gaussian.hamiltonian import PathPoint, follow_path
from voirdire.infer.latent_gaussian.parent_child_move import find_parent_child_moves
from voirdire.infer.latent_gaussian.rescaling import draw_steps
from voirdire.infer.latent_gaussian.search import SpreadSearch
from voirdire.infer.latent_gaussian.skewness import Skewness
from voirdire.infer.latent_gaussian.whitening import Whitening
from voirdire.typing import Floats

MAX_DENSE_VALUES = 6000  # latent values up to which L'^-1 is one dense matrix on a graphics processor

COORDINATE_FIELDS = ("root", "moves", "prior", "observation_precision", "follow", "scale", "along", "gain")
SKEWNESS_FIELDS = ("sd", "middle", "width", "bend")  # arrays of values with a skewed prior

#: Arrays of coordinates by name, including the sparse or dense matrices of L'^-1.
Arrays = dict[str, Any]


def arrays_of(coordinates: Coordinates, *, dense: bool) -> Arrays:
    """Convert coordinates to arrays in single precision, whose shapes do not depend on the adaptation.

    Parameters
    ----------
    coordinates : Coordinates
        Coordinates whose L'^-1 is a product of matrices.
    dense : bool
        True to multiply these matrices into one dense matrix.
    """
    unused = MAX_DIRECTIONS - len(coordinates.gain)
    numbers = {name: getattr(coordinates, name) for name in COORDINATE_FIELDS} | {
        "along": np.pad(coordinates.along, ((0, 0), (0, unused))),
        "gain": np.pad(coordinates.gain, (0, unused)),
        **_skewness_maps(coordinates),
    }
    arrays: Arrays = {name: jnp.asarray(array, SINGLE) for name, array in numbers.items()}
    whitening = coordinates.search.factor_whitening
    arrays["forward"] = _device_matrices(whitening.products, dense)
    arrays["back"] = _device_matrices(whitening.inverses[::-1], dense)
    return arrays


def coordinates_of(search: SpreadSearch, arrays: Arrays) -> Coordinates:
    """Build coordinates from arrays by :func:`arrays_of`, concrete or traced."""
    return Coordinates(
        search=search,
        **{name: arrays[name] for name in COORDINATE_FIELDS},
        skewness=Skewness(search.model.skewed_values, **{name: arrays[name] for name in SKEWNESS_FIELDS}),
        xp=jnp,
        whitening=Whitening(
            partial(apply_matrices, arrays["forward"]), refuse_slopes, partial(apply_matrices, arrays["back"])
        ),
    )


def refuse_slopes(slopes: Any) -> Any:
    """Replace products with L^-1, which are not needed: JAX differentiates by itself."""
    raise NotImplementedError


def _skewness_maps(coordinates: Coordinates) -> dict[str, Floats]:
    """Build maps of all values with a skewed prior; the identity for those that are not bent."""
    skewed, skewness = coordinates.search.model.skewed_values, coordinates.skewness
    maps = {
        name: np.full(len(skewed), neutral) for name, neutral in zip(SKEWNESS_FIELDS, (1.0, 0.0, 1.0, 0.0), strict=True)
    }
    positions = np.searchsorted(skewed, skewness.places)
    for name, values in maps.items():
        values[positions] = getattr(skewness, name)
    return maps


def _device_matrices(matrices: tuple[Any, ...], dense: bool) -> list[Any]:
    """Convert sparse matrices to (rows, columns, numbers) each, or to their dense product."""
    if dense:
        product = matrices[0].astype(np.float64)
        for matrix in matrices[1:]:
            product = matrix @ product
        return [jnp.asarray(product.toarray().T, SINGLE)]
    triples = []
    for matrix in matrices:
        entries = matrix.tocsr().tocoo()
        triples.append((jnp.asarray(entries.row), jnp.asarray(entries.col), jnp.asarray(entries.data, SINGLE)))
    return triples


def apply_matrices(matrices: list[Any], points: Any) -> Any:
    """Multiply points, shape (points, size), by matrices in turn."""
    if not isinstance(matrices[0], tuple):
        return points @ matrices[0]
    columns = points.T
    for rows, column_index, numbers in matrices:
        columns = jax.ops.segment_sum(
            numbers[:, None] * columns[column_index], rows, points.shape[1], indices_are_sorted=True
        )
    return columns.T


class Device:
    """Device with the density of one table, compiled once for all coordinates.

    Parameters
    ----------
    search : SpreadSearch
        End of the search from which chains start.
    device : jax.Device

    Examples
    --------
    >>> callable(Device.executor)
    True
    """

    def __init__(self, search: SpreadSearch, device: Any) -> None:
        keep_compiled()
        self.device, model = device, search.model
        with self.device_context():
            self._density = DeviceDensity(model, (search.mode.x, search.mode.hyper))
        # a dense matrix has a number for each pair of values; graphics processors multiply it fast
        self._whole = device.platform != "cpu" and model.size <= MAX_DENSE_VALUES
        self._parent_child_moves = find_parent_child_moves(model, search.mode)
        self._most = max((len(move.above) for move in self._parent_child_moves), default=0)
        self._coordinates = partial(coordinates_of, search)
        self.energy_gradient = jax.jit(self._energy_gradient)
        self.to_values = jax.jit(lambda there, z: self._coordinates(there).to_values(z))
        self.follow_path = jax.jit(self._follow_path)
        self.rescale = jax.jit(self._rescale_points)

    @contextmanager
    def device_context(self) -> Iterator[None]:
        """Have JAX compute on the device in single precision; by default graphics processors round more coarsely."""
        precision = jax.default_matmul_precision("highest")
        with jax.default_device(self.device), jax.enable_x64(False), precision:
            yield

    def executor(self, coordinates: Coordinates) -> OnDevice:
        """Build the executor of coordinates."""
        return OnDevice(self, coordinates)

    def arrays_of(self, coordinates: Coordinates) -> Arrays:
        """Convert coordinates to arrays on the device."""
        return arrays_of(coordinates, dense=self._whole)

    def padded(self, steps: Steps) -> Steps:
        """Pad steps to the most normal numbers of any parent-child move."""
        padding = ((0, 0), (0, self._most - steps.normal.shape[1]), (0, 0))
        return steps._replace(normal=np.pad(steps.normal, padding))

    def _energy_gradient(self, arrays: Arrays, z: Any) -> tuple[Any, Any]:
        """Compute minus the log density, (points,), up to a constant, and its gradient, (points, size of z)."""

        def energy(points: Any) -> Any:
            x, hyper, log = self._coordinates(arrays).values_and_volume(points)
            return -(self._density.log_density(x, hyper) + log)

        value, back = jax.vjp(energy, z)
        return value, back(jnp.ones_like(value))[0]

    def _follow_path(
        self, arrays: Arrays, start: PathPoint, momentum: Any, steps: Any, step: Any
    ) -> tuple[PathPoint, Any]:
        def one_step(_: Any, state: tuple[PathPoint, Any]) -> tuple[PathPoint, Any]:
            return follow_path(lambda z: self._energy_gradient(arrays, z), *state, 1, step)

        end: tuple[PathPoint, Any] = jax.lax.fori_loop(0, steps, one_step, (start, momentum))
        return end

    def _rescale_points(self, arrays: Arrays, z: Any, steps: Steps) -> Any:
        coordinates = self._coordinates(arrays)
        x, hyper = coordinates.to_values(z)
        moved_x, moved_hyper = apply_steps(self._density, self._parent_child_moves, steps, x, hyper)
        has_moved = (moved_hyper != hyper).any(axis=1)
        return jnp.where(has_moved[:, None], coordinates.from_values(moved_x, moved_hyper), z)


class OnDevice:
    """Operations in coordinates on a device; see :class:`.Executor`.

    Parameters
    ----------
    on : Device
    where : Coordinates
    """

    def __init__(self, on: Device, where: Coordinates) -> None:
        self._on, self._where = on, where
        with on.device_context():
            self._there = on.arrays_of(where)

    def energy_gradient(self, z: Floats) -> tuple[Floats, Floats]:
        """See :class:`.Executor`."""
        value, slope = self._call(self._on.energy_gradient, z)
        return value, slope

    def follow_path(self, start: PathPoint, momentum: Floats, steps: int, step: float) -> tuple[PathPoint, Floats]:
        """See :class:`.Executor`."""
        end, end_momentum = self._call(self._on.follow_path, start, momentum, steps, step)
        return end, end_momentum

    def to_values(self, z: Floats) -> tuple[Floats, Floats]:
        """See :class:`.Executor`."""
        x, hyper = self._call(self._on.to_values, z)
        return x, hyper

    def rescale_chains(self, z: Floats, rng: np.random.Generator, tries: int, *, exchanging: bool) -> Floats:
        """See :class:`.Executor`; the number of chains must be even."""
        if not len(self._where.root):
            return z
        steps = draw_steps(self._where, len(z), tries, rng, exchanging=exchanging)
        return np.asarray(self._call(self._on.rescale, z, self._on.padded(steps)))

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a compiled function with the coordinates and arguments in single precision; results are in double."""
        with self._on.device_context():
            results = function(self._there, *jax.tree.map(_as_single, arguments))
        return jax.tree.map(lambda numbers: np.array(numbers, dtype=np.float64), results)


def _as_single(numbers: Any) -> Any:
    return np.asarray(numbers, np.float32 if np.asarray(numbers).dtype.kind == "f" else np.int32)
