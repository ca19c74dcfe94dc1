"""Log density of a model, and steps of spreads and means, traced by JAX for any of its devices.

The steps are those of :mod:`voirdire.infer.latent_gaussian.rescaling`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.parent_child_move import ParentChildMove, move_parent_and_children
from voirdire.typing import Floats

SINGLE = jnp.float32


class DeviceDensity:
    """Density of a model as a function that JAX compiles, in single precision.

    Sums are of the cells' log likelihoods less those at ``centre``, so that single precision is enough.

    Parameters
    ----------
    model : LatentGaussianModel
    centre : tuple of array, shape (size,) and (hypers,)
        Latent values and logarithms of spreads at which the log likelihood counts as zero.
    """

    def __init__(self, model: LatentGaussianModel, centre: tuple[Floats, Floats]) -> None:
        self.model = model
        pattern = model.pattern
        used = (pattern.coefficients != 0) & (pattern.index < pattern.size)
        self._index = np.where(used, pattern.index, pattern.size)
        self._coefficients = jnp.asarray(np.where(used, pattern.coefficients, 0.0), SINGLE)
        self._columns = [np.flatnonzero(pattern.predictor == kind) for kind in range(pattern.kinds)]
        self._scales = None if model.scales is None else model.scales.tocoo()
        self.likelihood = _likelihood_of(model, model.predictors(*centre))

    def log_density(self, x: Any, hyper: Any) -> Any:
        """Compute the log density, (points,), up to a constant, of x, (points, size), and hyper, (points, hypers)."""
        prior = self.model.relative_log_prior(x, hyper, jnp) + self.model.relative_hyper_prior(hyper, jnp)
        return self.likelihood(self.predictors(x, hyper)) + prior

    def predictors(self, x: Any, hyper: Any) -> Any:
        """Compute the predictors of all cells, shape (points, predictors, cells)."""
        padded = jnp.concatenate([x, jnp.zeros((len(x), 1), x.dtype)], axis=1)
        terms = padded[:, self._index] * self._coefficients
        sums = jnp.stack([terms[..., columns].sum(axis=-1) for columns in self._columns], axis=1)
        if self._scales is None:
            return sums
        scales = self._scales
        flat = sums.reshape(len(x), -1)
        added = flat.at[:, scales.row].add(jnp.asarray(scales.data, SINGLE) * hyper[:, scales.col])
        return added.reshape(sums.shape)


def _likelihood_of(model: LatentGaussianModel, base_predictors: Floats) -> Any:
    """Build the log likelihood, (points,), of predictors less that at the given ones, with a closed-form gradient."""
    answers = model.answers
    base = np.asarray(jax.jit(answers.traced_gradient)(jnp.asarray(base_predictors[None], SINGLE))[0])

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


#: Function of x, hyper, new hyper and normal numbers: the new x, and the log density ratio of the reverse move.
StepFunction = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def apply_steps(
    density: DeviceDensity, parent_child_moves: Sequence[ParentChildMove], steps: Any, x: Any, hyper: Any
) -> tuple[Any, Any]:
    """Apply steps to latent values, shape (chains, size), and logarithms, (chains, hypers), of an even chain count.

    Parameters
    ----------
    density : DeviceDensity
    parent_child_moves : sequence of ParentChildMove
    steps : Steps
        Random numbers of the steps.
    x, hyper : array
        Positions of the chains.
    """
    half = len(x) // 2
    step_functions: list[StepFunction] = [
        lambda x, hyper, new_hyper, normal: density.model.rescaled(x, hyper, new_hyper, jnp),
        *(partial(_move_parent, density.model, move) for move in parent_child_moves),
    ]

    def make_one(state: Any, step: Any) -> tuple[Any, None]:
        x, hyper, log = state
        start = step["half"] * half
        half_x, half_hyper, half_log = (jax.lax.dynamic_slice_in_dim(each, start, half) for each in state)
        pair, drawn_step, length, normal, chance = (
            jax.lax.dynamic_slice_in_dim(step[name], start, half, axis=-1)
            for name in ("pair", "step", "length", "normal", "chance")
        )
        difference = length[:, None] * (hyper[pair[0]] - hyper[pair[1]])
        new_hyper = half_hyper + jnp.where(pair[0][:, None] < 0, drawn_step.T, difference)
        new_x, volume = jax.lax.switch(step["move"] + 1, step_functions, half_x, half_hyper, new_hyper, normal.T)
        new = density.log_density(new_x, new_hyper)
        accepted = chance < new - half_log + volume  # a density that is not finite is never accepted
        updated = (
            jnp.where(accepted[:, None], new_x, half_x),
            jnp.where(accepted[:, None], new_hyper, half_hyper),
            jnp.where(accepted, new, half_log),
        )
        return tuple(
            jax.lax.dynamic_update_slice_in_dim(each, new, start, 0)
            for each, new in zip((x, hyper, log), updated, strict=True)
        ), None

    each = {**steps._asdict(), "pair": jnp.swapaxes(steps.pair, 0, 1)}
    (x, hyper, _), _ = jax.lax.scan(make_one, (x, hyper, density.log_density(x, hyper)), each)
    return x, hyper


def _move_parent(
    model: LatentGaussianModel, move: ParentChildMove, x: Any, hyper: Any, new_hyper: Any, normal: Any
) -> tuple[Any, Any]:
    return move_parent_and_children(model, move, x, hyper, new_hyper, normal[:, : len(move.above)], jnp)
