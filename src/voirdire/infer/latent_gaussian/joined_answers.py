"""Answers of several kinds to one table's questions, each kind with its own cells and predictors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from voirdire.infer.latent_gaussian.answers import CellAnswers
from voirdire.model.design import Design
from voirdire.typing import Floats


class AnswerKind(NamedTuple):
    """Answers of one kind.

    Attributes
    ----------
    predictors : tuple of int
        Predictors of the answers, in their order.
    cells : int
        Number of cells.
    answers : CellAnswers
    """

    predictors: tuple[int, ...]
    cells: int
    answers: CellAnswers


class AnsweredSums(NamedTuple):
    """Sums of latent values, and the answers that depend on them.

    Attributes
    ----------
    design : Design
        Latent values and coefficients of each sum.
    answers : CellAnswers
    predictors : int
        Number of predictors of a cell.
    learned : Design or None
        Sums of hyperparameters that enter the same predictors.
    """

    design: Design
    answers: CellAnswers
    predictors: int
    learned: Design | None = None

    def scales(self, hypers: int) -> Any:
        """Build :attr:`.LatentGaussianModel.scales` for ``hypers`` hyperparameters; None without any coefficients."""
        from scipy.sparse import csr_array

        if self.learned is None or not self.learned.coefficients.any():
            return None
        cell, column = np.nonzero(self.learned.coefficients)
        rows = len(self.learned.index)
        entries = self.learned.predictor[column] * rows + cell, self.learned.index[cell, column]
        return csr_array((self.learned.coefficients[cell, column], entries), (self.predictors * rows, hypers))


def join_answered_sums(parts: Sequence[AnsweredSums], nothing: int) -> AnsweredSums:
    """Join the cells of parts in order, each part with its own predictors; index ``nothing`` stands for no value."""
    kinds: list[AnswerKind] = []
    for offset, part in zip(_numbers_before(part.predictors for part in parts), parts, strict=True):
        answers = part.answers
        single_kind = AnswerKind(tuple(range(part.predictors)), len(part.design.index), answers)
        part_kinds = answers.kinds if isinstance(answers, SeveralAnswers) else (single_kind,)
        kinds += [kind._replace(predictors=tuple(offset + p for p in kind.predictors)) for kind in part_kinds]
    width = [part.predictors for part in parts]
    design = _side_by_side([part.design for part in parts], width, nothing)
    learned = [part.learned for part in parts if part.learned is not None]
    return AnsweredSums(
        design, SeveralAnswers(tuple(kinds)), sum(width), _side_by_side(learned, width, nothing) if learned else None
    )


def _numbers_before(numbers: Iterable[int]) -> list[int]:
    return [int(n) for n in np.cumsum([0, *numbers])[:-1]]


def _side_by_side(designs: Sequence[Design], predictors: Sequence[int], nothing: int) -> Design:
    """Join the cells of designs in order, each with its own columns and predictors."""
    from scipy.linalg import block_diag

    index = block_diag(*(design.index - nothing for design in designs)) + nothing
    coefficients = block_diag(*(design.coefficients for design in designs))
    predictor = [offset + design.predictor for design, offset in zip(designs, _numbers_before(predictors), strict=True)]
    return Design(index, coefficients, np.concatenate(predictor))


@dataclass(frozen=True, eq=False)
class SeveralAnswers:
    """Answers of several kinds as one :class:`.CellAnswers`; cells are ordered by kind.

    Parameters
    ----------
    kinds : tuple of AnswerKind
        Kinds in the order of their cells.

    Examples
    --------
    >>> from voirdire.infer.latent_gaussian.answers import Answers
    >>> def chances(sums, xp):
    ...     d = sums[..., 0, :]
    ...     return [(-xp.logaddexp(0.0 * d, -d), -xp.logaddexp(0.0 * d, d))]
    >>> one, other = (Answers(chances, [np.array([[count], [0.0]])]) for count in (4.0, 8.0))
    >>> both = SeveralAnswers((AnswerKind((0,), 1, one), AnswerKind((1,), 1, other)))
    >>> both.expected_information(np.zeros((2, 2))).tolist()
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]]]
    """

    kinds: tuple[AnswerKind, ...]

    @property
    def size(self) -> float:
        """Sum of the sizes of all kinds."""
        return sum(kind.answers.size for kind in self.kinds)

    @cached_property
    def _kind_places(self) -> list[tuple[slice, list[int], CellAnswers]]:
        """Cells, predictors and answers of each kind."""
        ends = np.cumsum([kind.cells for kind in self.kinds]).tolist()
        return [
            (slice(end - kind.cells, end), list(kind.predictors), kind.answers)
            for end, kind in zip(ends, self.kinds, strict=True)
        ]

    def value_gradient(self, predictors: Floats) -> tuple[Any, Floats]:
        """Compute the log likelihood and its gradient by the predictors, shape (..., predictors, cells)."""
        return self._sum_kinds(predictors, "value_gradient")

    def compiled_gradient(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Compute :meth:`value_gradient` by compiled code."""
        return self._sum_kinds(predictors, "compiled_gradient")

    def traced_gradient(self, predictors: Any) -> tuple[Any, Any]:
        """Compute :meth:`value_gradient` by JAX operations; the log likelihood in parts, shape (points, parts)."""
        import jax.numpy as jnp

        values, slope = [], jnp.zeros_like(predictors)
        for cells, numbers, answers in self._kind_places:
            index = (slice(None), np.array(numbers)[:, None], np.arange(predictors.shape[-1])[cells])
            value, part_slope = answers.traced_gradient(predictors[index])
            values.append(value)
            slope = slope.at[index].set(part_slope)
        return jnp.concatenate(values, axis=1), slope

    def _sum_kinds(self, predictors: Floats, method: str) -> tuple[Any, Floats]:
        """Call a method of the answers of every kind with its predictors; add values, and place gradients."""
        total, slope = np.zeros(predictors.shape[:-2]), np.zeros_like(predictors)
        for cells, numbers, answers in self._kind_places:
            part = np.ascontiguousarray(predictors[..., numbers, cells])
            value, slope[..., numbers, cells] = getattr(answers, method)(part)
            total = total + value
        return total, slope

    def gradient_change(self, predictors: Floats) -> Callable[[Floats], Floats]:
        """Return a function from changes of the predictors to changes of the gradient, (predictors, cells) both."""
        turns = [
            (cells, numbers, answers.gradient_change(predictors[numbers, cells]))
            for cells, numbers, answers in self._kind_places
        ]

        def summed_change(change: Floats) -> Floats:
            total = np.zeros_like(change)
            for cells, numbers, turn in turns:
                total[numbers, cells] = turn(change[numbers, cells])
            return total

        return summed_change

    def expected_information(self, predictors: Floats) -> Floats:
        """Compute the expected information about the predictors, shape (cells, predictors, predictors)."""
        kinds, cells = predictors.shape
        total = np.zeros((cells, kinds, kinds))
        for kind_cells, numbers, answers in self._kind_places:
            rows = np.arange(cells)[kind_cells][:, None, None]
            total[rows, np.array(numbers)[:, None], numbers] = answers.expected_information(
                predictors[numbers, kind_cells]
            )
        return total

    def information_gradient(self, predictors: Floats, covariance: Floats) -> Floats:
        """Compute half the gradient of tr(C W) by the predictors: C ``covariance``, W :meth:`expected_information`."""
        total = np.zeros_like(predictors)
        for cells, numbers, answers in self._kind_places:
            part = covariance[cells][:, numbers][..., numbers]
            total[numbers, cells] = answers.information_gradient(predictors[numbers, cells], part)
        return total
