"""Answers of cells: the log likelihood of their predictors and its expected information.

Determinants, steps and draws of a nested approximation use the expected information of answers, sum_y p_y s_y s_y' with
s_y the slopes of log p_y, instead of the second derivatives at the observed answers (Fisher scoring; Longford 1987,
Biometrika 74). The two are equal for generalised linear models, and close where answers are many. But the expected
information is never negative: where answers are a mixture (a judge's coins), second derivatives are zero for some
spreads, and an approximation that divides by them becomes infinite there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from voirdire.infer import autodiff
from voirdire.infer.derivatives import HessianProducts
from voirdire.infer.threads import map_in_two_threads
from voirdire.model.family.family import ClosedForm, LogProbabilities, PairDerivatives
from voirdire.typing import Floats

BATCH_SIZE = 20_000  # numbers that are computed together: larger arrays are allocated by the system each time
MIN_THREADED_BLOCKS = 4  # blocks of BATCH_SIZE numbers from which two threads are used
DIFFERENCE_STEP = 1e-4  # step of differences of slopes, in standard deviations of the predictors


class CellAnswers(Protocol):
    """Answers for a nested approximation: of a few alternatives each, or numbers (:mod:`.normal`).

    :class:`Answers` documents each member. Predictors and gradients have shape (..., predictors, cells).
    """

    @property
    def size(self) -> float:
        """Number of cells, weighted by their computing time."""

    def value_gradient(self, predictors: Floats) -> tuple[Any, Floats]:
        """Compute the log likelihood and its gradient by the predictors."""

    def compiled_gradient(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Compute :meth:`value_gradient` by compiled code."""

    def traced_gradient(self, predictors: Any) -> tuple[Any, Any]:
        """Compute :meth:`value_gradient` by JAX operations; the log likelihood in parts, shape (points, parts)."""

    def gradient_change(self, predictors: Floats) -> Callable[[Floats], Floats]:
        """Return a function that maps a change of the predictors to the first-order change of the gradient."""

    def expected_information(self, predictors: Floats) -> Floats:
        """Compute the expected information about the predictors, shape (cells, predictors, predictors)."""

    def information_gradient(self, predictors: Floats, covariance: Floats) -> Floats:
        """Compute half the gradient of tr(C W) by the predictors: C ``covariance``, W :meth:`expected_information`."""


class CompiledAnswers(ABC):
    """Compiled gradients of answers at many points at once."""

    @abstractmethod
    def log_likelihood(self, predictors: Any, xp: Any) -> Any:
        """Compute the log likelihood, shape (...), of predictors, shape (..., predictors, cells)."""

    def compiled_gradient(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Compute log likelihood and gradient at (points, predictors, cells); the first call takes some seconds."""
        from voirdire.infer import engine

        with engine.double_precision():
            value, slope = self._double_precision_gradient(predictors)
        return np.asarray(value), np.asarray(slope)

    @cached_property
    def _double_precision_gradient(self) -> Callable[[Floats], tuple[Any, Any]]:
        import jax
        import jax.numpy as jnp

        return jax.jit(jax.vmap(jax.value_and_grad(lambda x: self.log_likelihood(x, jnp))))

    def traced_gradient(self, predictors: Any) -> tuple[Any, Any]:
        """Compute the log likelihood in parts, shape (points, parts), and its gradient, by JAX operations."""
        import jax
        import jax.numpy as jnp

        value, slope = jax.vmap(jax.value_and_grad(lambda x: self.log_likelihood(x, jnp)))(predictors)
        return value[:, None], slope


@dataclass(frozen=True, eq=False)
class Answers(CompiledAnswers):
    """Answers of cells to questions with a few alternatives each.

    Parameters
    ----------
    log_probabilities : callable
        Function of predictors, shape (..., predictors, cells), and an array namespace. It returns for each question a
        tuple of the log probabilities of its alternatives, shape (..., cells) each. Those of a cell depend on the
        predictors of that cell alone.
    counts : sequence of array, shape (alternatives, cells)
        Number of answers of each alternative, for each question.
    closed_form : ClosedForm, optional
        Derivatives of the log likelihood.
    name : str
        Name of the family of the answers, if any.

    Examples
    --------
    >>> def chances(sums, xp):
    ...     d = sums[..., 0, :]
    ...     return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]
    >>> answers = Answers(chances, [np.array([[3.0, 1.0], [1.0, 0.0]])])
    >>> answers.expected_information(np.zeros((1, 2))).ravel().tolist()
    [1.0, 0.25]
    """

    log_probabilities: LogProbabilities
    counts: Any
    closed_form: ClosedForm | None = None
    name: str = ""

    @property
    def size(self) -> float:
        """Number of cells times their alternatives, in units of four alternatives."""
        return sum(np.size(counts) for counts in self.counts) / 4.0

    def with_counts(self, counts: Any) -> Answers:
        """Replace the counts by those of other cells of the same kind."""
        return replace(self, counts=counts)

    def log_likelihood(self, predictors: Any, xp: Any) -> Any:
        """Compute the log likelihood, shape (...)."""
        total: Any = 0.0
        for question, counts in zip(self.log_probabilities(predictors, xp), self.counts, strict=True):
            for log, count in zip(question, counts, strict=True):
                total = total + (log * count).sum(axis=-1)
        return total

    def compiled_gradient(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Compute :meth:`value_gradient` by compiled code; closed forms in single precision, five times as fast.

        The value of each cell has a relative rounding error of some 1e-6; cells are added in double precision.
        """
        if self.closed_form is None:
            return super().compiled_gradient(predictors)
        value, slope = self._single_precision_gradient(predictors.astype(np.float32))
        return np.asarray(value).sum(axis=-1, dtype=float), np.asarray(slope, dtype=float)

    @cached_property
    def _single_precision_gradient(self) -> Callable[[Any], tuple[Any, Any]]:
        import jax

        from voirdire.infer.compilation_cache import keep_compiled

        keep_compiled()
        return jax.jit(self.traced_gradient)

    def traced_gradient(self, predictors: Any) -> tuple[Any, Any]:
        """Compute :meth:`.CompiledAnswers.traced_gradient`; with a closed form, the parts are the cells."""
        if self.closed_form is None:
            return super().traced_gradient(predictors)
        import jax.numpy as jnp

        return _stacked_gradient(self.closed_form, predictors, np.asarray(self.counts, dtype=np.float32), jnp)

    def value_gradient(self, predictors: Floats) -> tuple[Any, Floats]:
        """Compute the log likelihood and its gradient by the predictors, shape (..., predictors, cells)."""
        points = predictors.reshape(-1, *predictors.shape[-2:])
        blocks = np.array_split(points, max(1, min(len(points), -(-points.size // BATCH_SIZE))))
        results = (
            map(self._block_gradient, blocks)
            if len(blocks) < MIN_THREADED_BLOCKS
            else map_in_two_threads(self._block_gradient, blocks)
        )
        value, slope = (np.concatenate(part) for part in zip(*results, strict=True))
        return value.reshape(predictors.shape[:-2]), slope.reshape(predictors.shape)

    def _block_gradient(self, points: Floats) -> tuple[Any, Floats]:
        with np.errstate(all="ignore"):
            if self.closed_form is not None:
                value, slope = _stacked_gradient(self.closed_form, points, self.counts, np)
                return value.sum(axis=-1), slope
            return autodiff.value_and_gradient(lambda x: self.log_likelihood(x, autodiff.TAPE_NUMPY), points)

    def gradient_change(self, predictors: Floats) -> Callable[[Floats], Floats]:
        """Return a function from changes of the predictors to changes of the gradient, (predictors, cells) both."""
        if self.closed_form is not None:
            with np.errstate(all="ignore"):
                second = self.closed_form.curved(list(predictors), self.counts).second
            return lambda change: _apply_hessian(second, change)
        shape = predictors.shape
        with np.errstate(all="ignore"):
            tape = HessianProducts(
                lambda flat: self.log_likelihood(flat.reshape(shape), autodiff.TAPE_NUMPY), predictors.ravel()
            )
            directions = np.eye(len(predictors))[..., None] * np.ones(shape[-1])  # cells depend on their own predictors
            columns = np.array([tape.product_with(direction.ravel()).reshape(shape) for direction in directions])
        return lambda change: np.asarray((columns * change[:, None]).sum(axis=0))

    def expected_information(self, predictors: Floats) -> Floats:
        """Compute the expected information about the predictors, shape (cells, predictors, predictors)."""
        kinds, cells = predictors.shape
        total = np.zeros((cells, kinds, kinds))
        if self.closed_form is not None:
            with np.errstate(all="ignore"):
                pairs = self.closed_form.information(list(predictors), self.counts)
            for (u, v), information in pairs.items():
                total[:, u, v] = total[:, v, u] = information
            return total
        for question, alternative, weight in self._expected_alternatives(predictors):
            slope = self._alternative_gradient(predictors, question, alternative)
            total += np.einsum("c,ac,bc->cab", weight, slope, slope)
        return total

    def information_gradient(self, predictors: Floats, covariance: Floats) -> Floats:
        """Compute half the gradient of tr(C W) by the predictors: C ``covariance``, W :meth:`expected_information`.

        Shape (predictors, cells). With q_y = s_y' C s_y it is half of sum_y p_y (q_y s_y + 2 H_y C s_y), where H_y are
        the second derivatives of log p_y, computed by differences along C s_y.
        """
        if self.closed_form is not None:
            with np.errstate(all="ignore"):
                return self.closed_form.bend(list(predictors), self.counts, covariance)
        total = np.zeros_like(predictors)
        scale = np.sqrt(np.maximum(np.einsum("caa->ac", covariance), 0.0)).max(axis=0)
        for question, alternative, weight in self._expected_alternatives(predictors):
            slope = self._alternative_gradient(predictors, question, alternative)
            direction = np.einsum("cab,bc->ac", covariance, slope)
            size = DIFFERENCE_STEP * scale / np.maximum(np.sqrt((direction**2).sum(axis=0)), 1e-300)
            ahead, behind = (
                self._alternative_gradient(predictors + sign * size * direction, question, alternative)
                for sign in (1.0, -1.0)
            )
            curvature_term = np.where(size > 0, (ahead - behind) / np.maximum(2.0 * size, 1e-300), 0.0)
            total += weight * (0.5 * (slope * direction).sum(axis=0) * slope + curvature_term)
        return total

    def _expected_alternatives(self, predictors: Floats) -> list[tuple[int, int, Floats]]:
        """List every alternative of every question, with its expected number of answers, shape (cells,)."""
        with np.errstate(all="ignore"):
            logs = self.log_probabilities(predictors, np)
        return [
            (question, alternative, np.exp(log) * counts.sum(axis=0))
            for question, (alternatives, counts) in enumerate(zip(logs, self.counts, strict=True))
            for alternative, log in enumerate(alternatives)
        ]

    def _alternative_gradient(self, predictors: Floats, question: int, alternative: int) -> Floats:
        """Compute the gradient of the log probability of one alternative, shape (predictors, cells)."""

        def log_probability_sum(x: Any) -> Any:
            return self.log_probabilities(x, autodiff.TAPE_NUMPY)[question][alternative].sum()

        with np.errstate(all="ignore"):
            slope = autodiff.value_and_gradient(log_probability_sum, predictors)[1]
        return np.where(np.isfinite(slope), slope, 0.0)


def _stacked_gradient(closed_form: ClosedForm, predictors: Any, counts: Any, xp: Any) -> tuple[Any, Any]:
    """Compute the log likelihood of each cell, and its gradient by the predictors, (..., predictors, cells)."""
    value, slopes = closed_form.value_slopes([predictors[..., p, :] for p in range(predictors.shape[-2])], counts, xp)
    return value, xp.stack(slopes, axis=-2)


def _apply_hessian(second: PairDerivatives, change: Floats) -> Floats:
    """Multiply second derivatives by a change, shape (predictors, cells)."""
    total = np.zeros_like(change)
    for (u, v), curvature in second.items():
        total[u] += curvature * change[v]
        if u != v:
            total[v] += curvature * change[u]
    return total
