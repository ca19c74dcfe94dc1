"""Coordinates of :mod:`voirdire.infer.latent_gaussian.coordinates` as arrays of JAX, on any of its devices."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer.device.density import SINGLE
from voirdire.infer.latent_gaussian.adapting import MAX_DIRECTIONS
from voirdire.infer.latent_gaussian.coordinates import Coordinates
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
