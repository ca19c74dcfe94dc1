"""Answers as one random variable per table, for generative models: observed answers, log density and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.term import Values
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answers of one table.

    Attributes
    ----------
    name : str
    observed : array
        Observed answers; draws have its shape.
    log : callable
        Function of answers, values of the parameters and the array namespace. It returns log probabilities of any
        shape, whose sum is the log likelihood.
    draw : callable
        Function of values of the parameters and a generator that returns answers.
    """

    name: str
    observed: npt.NDArray[Any]
    log: Callable[[Any, Values, Any], Array]
    draw: Callable[[Values, np.random.Generator], npt.NDArray[Any]]


def counted_outcome(
    name: str, counts: npt.NDArray[Any], logs: Callable[[Values, Any], Sequence[Array]], weight: Floats | float = 1.0
) -> Outcome:
    """Build the outcome of counts of a few alternatives in each cell, shape (cells, alternatives).

    Parameters
    ----------
    logs : callable
        Function of values and the array namespace that returns log probabilities of the alternatives, (cells,) each.
    weight : array, shape (cells,), optional
        Weight of one answer.

    Examples
    --------
    >>> outcome = counted_outcome("coin", np.array([[2.0, 1.0]]), lambda values, xp: [np.log([0.25]), np.log([0.75])])
    >>> round(float(outcome.log(outcome.observed, {}, np).sum()), 3)
    -3.06
    >>> int(outcome.draw({}, np.random.default_rng(0)).sum())
    3
    """
    total = counts.sum(axis=1).astype(np.int64)

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        log_probabilities = logs(values, xp)
        return weight * sum(value[:, column] * log_p for column, log_p in enumerate(log_probabilities))

    def draw_counts(values: Values, rng: np.random.Generator) -> Floats:
        log_rows = np.stack(np.broadcast_arrays(*logs(values, np)), axis=-1)
        probabilities = np.exp(log_rows - log_rows.max(axis=-1, keepdims=True))
        return rng.multinomial(total, probabilities / probabilities.sum(axis=-1, keepdims=True)).astype(float)

    return Outcome(name, counts.astype(float), log_probability, draw_counts)
