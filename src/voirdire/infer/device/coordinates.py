"""Energy of points in the coordinates of :mod:`voirdire.infer.nested.coordinates`, traced by JAX for any device."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer.device.density import SINGLE, DeviceDensity, matrix_product
from voirdire.infer.nested.adapting import DIRECTIONS
from voirdire.infer.nested.coordinates import Coordinates
from voirdire.typing import Floats

WHOLE = 6000  # latent values up to which L'^-1 is one matrix on a graphics processor, not sparse ones

#: Arrays of coordinates by name, the sparse or whole matrices of L'^-1 among them.
Arrays = dict[str, Any]


def arrays_of(where: Coordinates, *, whole: bool) -> Arrays:
    """Coordinates as arrays in single precision, of the same shapes whatever they are adapted to.

    Parameters
    ----------
    where : Coordinates
        Whose L'^-1 is a product of matrices.
    whole : bool
        Whether that product is written out.
    """
    found, model = where.nested.found, where.nested.model
    first = model.prior_means(found.hyper)
    none = DIRECTIONS - len(where.gain)
    numbers: dict[str, Floats] = {
        "root": where.root,
        "inverse_root": np.asarray(np.linalg.inv(where.root), dtype=float),
        "hyper": found.hyper,
        "prior": where.prior,
        "told": where.told,
        "said": where.said,
        "moves": where.moves,
        "follow": where.follow,
        "first": first,
        "away": found.x - first,
        "scale": where.scale,
        "along": np.pad(where.along, ((0, 0), (0, none))),
        "gain": np.pad(where.gain, (0, none)),
        **_skewness_maps(where),
    }
    arrays: Arrays = {name: jnp.asarray(each, SINGLE) for name, each in numbers.items()}
    whitening = where.nested.factor_whitening
    arrays["forward"] = _device_matrices(whitening.products, whole)
    arrays["back"] = _device_matrices(whitening.inverses[::-1], whole)
    return arrays


def _skewness_maps(where: Coordinates) -> dict[str, Floats]:
    """Maps of all values whose prior is skewed; of those that are not bent, the one that changes nothing."""
    at, skewness = where.nested.model.skewed_values, where.skewness
    bent = {
        "sd": np.ones(len(at)),
        "middle": np.zeros(len(at)),
        "width": np.ones(len(at)),
        "bend": np.zeros(len(at)),
    }
    place = np.searchsorted(at, skewness.at)
    for name, values in bent.items():
        values[place] = getattr(skewness, name)
    return bent


def _device_matrices(each: tuple[Any, ...], whole: bool) -> list[Any]:
    """Sparse matrices as (rows, columns, numbers), or their product, that come one after the other."""
    if whole:
        product = each[0].astype(np.float64)
        for matrix in each[1:]:
            product = matrix @ product
        return [jnp.asarray(product.toarray().T, SINGLE)]
    found = []
    for matrix in each:
        entries = matrix.tocsr().tocoo()
        found.append((jnp.asarray(entries.row), jnp.asarray(entries.col), jnp.asarray(entries.data, SINGLE)))
    return found


def apply_matrices(matrices: list[Any], points: Any) -> Any:
    """Products of matrices, one after the other, with points, shape (points, size)."""
    if not isinstance(matrices[0], tuple):
        return matrix_product(points, matrices[0])
    columns = points.T
    for rows, places, numbers in matrices:
        columns = jax.ops.segment_sum(
            numbers[:, None] * columns[places], rows, points.shape[1], indices_are_sorted=True
        )
    return columns.T


class DeviceMap:
    """The map from white coordinates to latent values and spreads, and energies, of arrays of coordinates.

    Parameters
    ----------
    density : DeviceDensity
    """

    def __init__(self, density: DeviceDensity) -> None:
        self.density = density
        self._skewed = density.model.skewed_values

    def to_values(self, there: Arrays, z: Any) -> tuple[Any, Any, Any]:
        """Latent values, (points, size), logarithms of spreads, (points, hypers), and the log volume, (points,)."""
        hypers = len(there["root"])
        stretched = _stretch_along(z * there["scale"], there, there["gain"])
        normal, log = self._bend_values(there, apply_matrices(there["forward"], stretched[:, hypers:]))
        middle, width, hyper = self._value_location_scale(
            there, matrix_product(stretched[:, :hypers], there["root"].T)
        )
        return middle + normal * width, hyper, log + jnp.log(width).sum(axis=-1)

    def from_values(self, there: Arrays, x: Any, hyper: Any) -> Any:
        """The points of latent values and logarithms of spreads, shape (points, size of z)."""
        moved = hyper - there["hyper"]
        middle, width, _ = self._value_location_scale(there, moved)
        normal = self._straighten_values(there, (x - middle) / width)
        white = matrix_product(moved, there["inverse_root"].T)
        z = jnp.concatenate([white, apply_matrices(there["back"], normal)], axis=1)
        return _stretch_along(z, there, 1.0 / (1.0 + there["gain"]) - 1.0) / there["scale"]

    def energy(self, there: Arrays, z: Any) -> Any:
        """Minus the log density of points, shape (points,), up to a constant."""
        x, hyper, log = self.to_values(there, z)
        return -(self.density.log_density(x, hyper) + log)

    def energy_gradient(self, there: Arrays, z: Any) -> tuple[Any, Any]:
        """:meth:`energy` and its gradient, shape (points, size of z)."""
        value, back = jax.vjp(lambda points: self.energy(there, points), z)
        return value, back(jnp.ones_like(value))[0]

    def _value_location_scale(self, there: Arrays, moved: Any) -> tuple[Any, Any, Any]:
        """What latent values are but for their normal part, its widths, (points, size), and logarithms of spreads."""
        spreads = self.density.spreads.T
        hyper = there["hyper"] + moved
        prior = there["prior"] * (1.0 + matrix_product(jnp.expm1(-2.0 * moved), spreads))
        farther = 1.0 + matrix_product(jnp.expm1(-there["follow"] * moved), spreads)
        told = there["told"] * farther**2
        square = (there["told"] + there["prior"]) / (told + prior)
        mean = self.density.prior_means(hyper)
        pulled = there["away"] - there["said"] * (mean - there["first"])
        beside = matrix_product(
            jnp.where(moved < 0, jnp.expm1(jnp.minimum(moved, 0.0)), moved), there["moves"].T
        )
        return mean + pulled * square * farther + beside, jnp.sqrt(square), hyper

    def _bend_values(self, there: Arrays, normal: Any) -> tuple[Any, Any]:
        """Normal values as they are bent, and the log volume of that, shape (points,)."""
        u = normal[:, self._skewed] / there["sd"]
        root = jnp.sqrt(1.0 + u * u)
        values = there["middle"] + there["width"] * (u + there["bend"] * (root - 1.0))
        slope = (1.0 + there["bend"] * u / root) * there["width"] / there["sd"]
        return normal.at[:, self._skewed].set(values), jnp.log(slope).sum(axis=-1)

    def _straighten_values(self, there: Arrays, values: Any) -> Any:
        k = there["bend"]
        far = (values[:, self._skewed] - there["middle"]) / there["width"] + k
        normal = there["sd"] * (far - k * jnp.sqrt(far * far + 1.0 - k * k)) / (1.0 - k * k)
        return values.at[:, self._skewed].set(normal)


def _stretch_along(z: Any, there: Arrays, gain: Any) -> Any:
    return z + matrix_product(matrix_product(z, there["along"]) * gain, there["along"].T)
