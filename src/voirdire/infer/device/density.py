"""Log density of latent values, spreads and means of a field, traced by JAX for any of its devices.

Steps of spreads and means of chains as :mod:`voirdire.infer.nested.rescaling` has them, traced by JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr
from scipy.sparse import find

from voirdire.infer.nested.exchange import Nest
from voirdire.infer.nested.field import Field
from voirdire.typing import Floats

SINGLE = jnp.float32


class DeviceDensity:
    """The density of a field as a function that JAX compiles, in single precision.

    Sums are of what cells say beyond what they say at ``at``, so that single precision does.

    Parameters
    ----------
    model : Field
    at : tuple of array, shape (size,) and (hypers,)
        Latent values and logarithms of spreads where it is about zero.
    """

    def __init__(self, model: Field, at: tuple[Floats, Floats]) -> None:
        self.model = model
        given = model.group_priors(np.zeros(len(model.hypers)))
        self.spreads, self.means = (jnp.asarray(each, SINGLE) for each in model.levels)
        self._log_spread = jnp.asarray(
            model.expand_group_values(np.where(given.spread_at < 0, given.log_spread, 0.0)), SINGLE
        )
        self._mean = jnp.asarray(
            model.expand_group_values(np.where(given.mean_at < 0, given.mean, 0.0)), SINGLE
        )
        rates, middle, sd = np.array([one[1:] for one in model.hypers]).reshape(-1, 3).T
        self._rate, self._middle, self._sd = (jnp.asarray(each, SINGLE) for each in (rates, middle, sd))
        groups = np.repeat(np.array([group.reversed for group in model.groups]), model.sizes)
        self._skewed, self._share = model.skewed_values, jnp.asarray(groups[model.skewed_values], SINGLE)
        pattern = model.pattern
        used = (pattern.coefficients != 0) & (pattern.index < pattern.size)
        self._index = np.where(used, pattern.index, pattern.size)
        self._coefficients = jnp.asarray(np.where(used, pattern.coefficients, 0.0), SINGLE)
        self._columns = [np.flatnonzero(pattern.predictor == kind) for kind in range(pattern.kinds)]
        self._scales = None if model.scales is None else model.scales.tocoo()
        self.likelihood = _likelihood_of(model, model.predictors(*at))

    def log_density(self, x: Any, hyper: Any) -> Any:
        """Up to a constant, shape (points,), of values, (points, size), and logarithms, (points, hypers)."""
        return self.likelihood(self.predictors(x, hyper)) + self.log_prior(x, hyper)

    def predictors(self, x: Any, hyper: Any) -> Any:
        """Predictors of all cells, shape (points, predictors, cells)."""
        padded = jnp.concatenate([x, jnp.zeros((len(x), 1), x.dtype)], axis=1)
        terms = padded[:, self._index] * self._coefficients
        sums = jnp.stack([terms[..., columns].sum(axis=-1) for columns in self._columns], axis=1)
        if self._scales is None:
            return sums
        more = self._scales
        flat = sums.reshape(len(x), -1)
        added = flat.at[:, more.row].add(jnp.asarray(more.data, SINGLE) * hyper[:, more.col])
        return added.reshape(sums.shape)

    def prior_means(self, hyper: Any) -> Any:
        """Prior mean of each value, shape (points, size)."""
        return self._mean + matrix_product(jnp.exp(hyper), self.means.T)

    def log_spreads(self, hyper: Any) -> Any:
        """Logarithm of each value's prior standard deviation, shape (points, size)."""
        return self._log_spread + matrix_product(hyper, self.spreads.T)

    def log_prior(self, x: Any, hyper: Any) -> Any:
        """Of latent values and logarithms, up to a constant, shape (points,)."""
        log_t, mean = self.log_spreads(hyper), self.prior_means(hyper)
        log = (-0.5 * ((x - mean) * jnp.exp(-log_t)) ** 2 - log_t).sum(axis=-1) + self._hyper_prior(hyper)
        if not self._skewed.size:
            return log
        at = self._skewed
        root = jnp.sqrt(1.0 + jnp.exp(2.0 * log_t[:, at]))
        own, whole = (self._skew_weight(each) for each in (x[:, at], mean[:, at] / root))
        return log + (own - whole).sum(axis=-1)

    def _skew_weight(self, x: Any) -> Any:
        """Log of r + (1 - 2 r) Phi(x), r the share that is reversed."""
        return jnp.logaddexp(log_ndtr(x) + jnp.log1p(-2.0 * self._share), jnp.log(self._share))

    def _hyper_prior(self, hyper: Any) -> Any:
        normal = self._sd > 0
        z = (hyper - self._middle) / jnp.where(normal, self._sd, 1.0)
        log = jnp.where(normal, -0.5 * z * z, hyper - self._rate * jnp.exp(hyper)).sum(axis=-1)
        division = self.model.division
        if division is None:
            return log
        held = jnp.broadcast_to(jnp.asarray(division.held, SINGLE), (len(hyper), len(division.held)))
        logs = jnp.concatenate([hyper[:, division.at], held], axis=1)
        return log + division.prior.log_division(logs, logs.shape[-1], jnp).sum(axis=-1)


def matrix_product(one: Any, other: Any) -> Any:
    """Product of matrices in single precision, which graphics processors else round more roughly."""
    return jnp.matmul(one, other, precision=jax.lax.Precision.HIGHEST)


def _likelihood_of(model: Field, at: Floats) -> Any:
    """Log likelihood of predictors of points less that of those given, shape (points,), with its gradient by hand."""
    answers = model.answers
    base = np.asarray(jax.jit(answers.traced_gradient)(jnp.asarray(at[None], SINGLE))[0])

    @jax.custom_vjp
    def relative_log_likelihood(predictors: Any) -> Any:
        return (answers.traced_gradient(predictors)[0] - base).sum(axis=-1)

    def forward_pass(predictors: Any) -> tuple[Any, Any]:
        value, slope = answers.traced_gradient(predictors)
        return (value - base).sum(axis=-1), slope

    def backward_pass(slope: Any, by_value: Any) -> tuple[Any]:
        return (slope * by_value[:, None, None],)

    relative_log_likelihood.defvjp(forward_pass, backward_pass)
    return relative_log_likelihood


#: Of x, hyper, hyper after the step, and normal numbers: x after it, and the log density of the way back less this.
Exchange = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def apply_steps(
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
