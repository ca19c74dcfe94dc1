"""Steps of spreads and means of chains as :mod:`voirdire.infer.nested.rescaling` has them, traced by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from scipy.sparse import find

from voirdire.infer.device.density import DeviceDensity, matrix_product
from voirdire.infer.nested.exchange import Nest

#: Of x, hyper, hyper after the step, and normal numbers: x after it, and the log density of the way back less this.
Exchange = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def make_steps(
    density: DeviceDensity, nests: Sequence[Nest], steps: Any, x: Any, hyper: Any
) -> tuple[Any, Any]:
    """Latent values, shape (chains, size), and logarithms, (chains, hypers), of an even number of chains after steps.

    Parameters
    ----------
    density : DeviceDensity
    nests : sequence of Nest
    steps : Steps
        What is random of them.
    x, hyper : array
        Where chains are.
    """
    half = len(x) // 2
    ways: list[Exchange] = [_spread_step(density), *(_exchange_step(density, nest) for nest in nests)]

    def make_one(state: Any, step: Any) -> tuple[Any, None]:
        x, hyper, log = state
        first = step["half"] * half
        its_x, its_hyper, its_log = (jax.lax.dynamic_slice_in_dim(each, first, half) for each in state)
        pair, given, length, normal, chance = (
            jax.lax.dynamic_slice_in_dim(step[name], first, half, axis=-1)
            for name in ("pair", "step", "length", "normal", "chance")
        )
        along = length[:, None] * (hyper[pair[0]] - hyper[pair[1]])
        there = its_hyper + jnp.where(pair[0][:, None] < 0, given.T, along)
        moved, volume = jax.lax.switch(step["nest"] + 1, ways, its_x, its_hyper, there, normal.T)
        new = density.log_density(moved, there)
        goes = chance < new - its_log + volume  # of what is not finite none
        kept = (
            jnp.where(goes[:, None], moved, its_x),
            jnp.where(goes[:, None], there, its_hyper),
            jnp.where(goes, new, its_log),
        )
        return tuple(
            jax.lax.dynamic_update_slice_in_dim(each, new, first, 0)
            for each, new in zip((x, hyper, log), kept, strict=True)
        ), None

    each = {**steps._asdict(), "pair": jnp.swapaxes(steps.pair, 0, 1)}
    (x, hyper, _), _ = jax.lax.scan(make_one, (x, hyper, density.log_density(x, hyper)), each)
    return x, hyper


def _spread_step(density: DeviceDensity) -> Exchange:
    """All values go along with their spreads."""

    def move_values(x: Any, hyper: Any, there: Any, normal: Any) -> tuple[Any, Any]:
        wider = matrix_product(there - hyper, density.spreads.T)
        moved = density.prior_means(there) + (x - density.prior_means(hyper)) * jnp.exp(wider)
        return moved, wider.sum(axis=-1)

    return move_values


def _exchange_step(density: DeviceDensity, nest: Nest) -> Exchange:
    """Values of a nest are exchanged; see :func:`.exchange.exchange_values`."""
    row, of, _ = find(nest.share)  # of those that are told
    above, below = nest.above, nest.below[row]

    def sum_below(values: Any) -> Any:
        return jax.ops.segment_sum(values[:, below].T, of, len(above)).T

    def conditional_normal(x: Any, hyper: Any) -> tuple[Any, Any]:
        weight = jnp.exp(-2.0 * density.log_spreads(hyper))
        pull = (x - density.prior_means(hyper)) * weight
        precision = weight[:, above] + sum_below(weight)
        return precision, (sum_below(pull) - pull[:, above]) / precision

    def log_normal(x: Any, precision: Any, mean: Any) -> Any:
        return (0.5 * jnp.log(precision) - 0.5 * precision * (x - mean) ** 2).sum(axis=-1)

    def move_values(x: Any, hyper: Any, there: Any, normal: Any) -> tuple[Any, Any]:
        precision, mean = conditional_normal(x, there)
        delta = mean + normal[:, : len(above)] / jnp.sqrt(precision)
        moved = x.at[:, above].add(delta).at[:, below].add(-delta[:, of])
        back = log_normal(-delta, *conditional_normal(moved, hyper))
        return moved, back - log_normal(delta, precision, mean)

    return move_values
