"""Answers of several kinds to one table's questions, each kind with cells and predictors of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.nested.answers import Answers
from voirdire.typing import Floats


class Kind(NamedTuple):
    """Answers of one kind.

    Attributes
    ----------
    predictors : tuple of int
        Which of the predictors its answers are given, in their order.
    cells : int
    answers : Answers
    """

    predictors: tuple[int, ...]
    cells: int
    answers: Answers


@dataclass(frozen=True, eq=False)
class SeveralAnswers:
    """Cells of one kind after the other, as one :class:`.CellAnswers`.

    Parameters
    ----------
    kinds : tuple of Kind
        In the order of their cells.

    Examples
    --------
    >>> def chances(sums, xp):
    ...     d = sums[..., 0, :]
    ...     return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]
    >>> one, other = (Answers(chances, [np.array([[count], [0.0]])]) for count in (4.0, 8.0))
    >>> both = SeveralAnswers((Kind((0,), 1, one), Kind((1,), 1, other)))
    >>> both.expected_information(np.zeros((2, 2))).tolist()
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]]]
    """

    kinds: tuple[Kind, ...]

    @property
    def size(self) -> float:
        """Sum of those of all kinds."""
        return sum(kind.answers.size for kind in self.kinds)

    @cached_property
    def _kind_places(self) -> list[tuple[slice, list[int], Answers]]:
        """Cells and predictors of each kind."""
        ends = np.cumsum([kind.cells for kind in self.kinds]).tolist()
        return [
            (slice(end - kind.cells, end), list(kind.predictors), kind.answers)
            for end, kind in zip(ends, self.kinds, strict=True)
        ]

    def value_gradient(self, predictors: Floats) -> tuple[Any, Floats]:
        """Log likelihood and its gradient by the predictors, shape (..., predictors, cells)."""
        return self._sum_kinds(predictors, lambda answers, part: answers.value_gradient(part))

    def compiled_gradient(self, predictors: Floats) -> tuple[Floats, Floats]:
        """As :meth:`value_gradient`, compiled."""
        return self._sum_kinds(predictors, lambda answers, part: answers.compiled_gradient(part))

    def traced_gradient(self, predictors: Any) -> tuple[Any, Any]:
        """As :meth:`value_gradient`, for JAX to compile; the log likelihood in parts, shape (points, parts)."""
        import jax.numpy as jnp

        values, slope = [], jnp.zeros_like(predictors)
        for cells, its, answers in self._kind_places:
            at = (slice(None), np.array(its)[:, None], np.arange(predictors.shape[-1])[cells])
            value, its_slope = answers.traced_gradient(predictors[at])
            values.append(value)
            slope = slope.at[at].set(its_slope)
        return jnp.concatenate(values, axis=1), slope

    def _sum_kinds(
        self, predictors: Floats, of: Callable[[Answers, Floats], tuple[Any, Floats]]
    ) -> tuple[Any, Floats]:
        total, slope = np.zeros(predictors.shape[:-2]), np.zeros_like(predictors)
        for cells, its, answers in self._kind_places:
            value, slope[..., its, cells] = of(answers, np.ascontiguousarray(predictors[..., its, cells]))
            total = total + value
        return total, slope

    def gradient_change(self, predictors: Floats) -> Callable[[Floats], Floats]:
        """Change of the gradient along changes of the predictors, shape (predictors, cells) each, as a function."""
        turns = [
            (cells, its, answers.gradient_change(predictors[its, cells]))
            for cells, its, answers in self._kind_places
        ]

        def summed_change(change: Floats) -> Floats:
            found = np.zeros_like(change)
            for cells, its, turn in turns:
                found[its, cells] = turn(change[its, cells])
            return found

        return summed_change

    def expected_information(self, predictors: Floats) -> Floats:
        """Expected information of the answers about the predictors, shape (cells, predictors, predictors)."""
        kinds, cells = predictors.shape
        total = np.zeros((cells, kinds, kinds))
        for at, its, answers in self._kind_places:
            here = np.arange(cells)[at][:, None, None]
            total[here, np.array(its)[:, None], its] = answers.expected_information(predictors[its, at])
        return total

    def information_gradient(self, predictors: Floats, covariance: Floats) -> Floats:
        """Half the gradient, by the predictors, of tr(C W), C ``covariance`` and W :meth:`expected_information`."""
        found = np.zeros_like(predictors)
        for cells, its, answers in self._kind_places:
            part = covariance[cells][:, its][..., its]
            found[its, cells] = answers.information_gradient(predictors[its, cells], part)
        return found
