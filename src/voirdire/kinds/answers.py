"""Answers of a fit one by one: their log probability under draws, what was said, and what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

BLOCK = 2_000_000  # numbers that are computed at once

LogOf = Callable[[Values], Floats]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one table.

    Attributes
    ----------
    table : str
        Name of the table.
    log : callable
        Of values with one leading axis, log probabilities of distinct answers, shape (draws, distinct).
    which : int array, shape (answers,)
        Distinct answer that each is.
    given : array, shape (answers, ...)
        The answers themselves, as numbers.
    about : dict of str to array, shape (answers,)
        Names of what each is about.
    wide : int
        Numbers that the log probabilities of one draw take while they are computed.
    """

    table: str
    log: LogOf
    which: Ints
    given: npt.NDArray[Any]
    about: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    wide: int = 1

    def log_likelihood(self, values: Values) -> Floats:
        """Log probability of every answer under every draw, shape (draws, answers)."""
        (draws,) = {len(value) for value in values.values()}
        step = max(1, BLOCK // max(self.wide, 1))
        parts = [
            self.log({name: value[at : at + step] for name, value in values.items()})
            for at in range(0, draws, step)
        ]
        return np.concatenate(parts)[:, self.which]


def repeated_indices(counts: npt.ArrayLike) -> Ints:
    """Index of each count, as often as it counts.

    Examples
    --------
    >>> repeated_indices([2, 0, 1]).tolist()
    [0, 0, 2]
    """
    whole = np.rint(np.asarray(counts, dtype=float)).astype(np.int64)
    return np.repeat(np.arange(len(whole)), whole)


def map_over_draws(of: Callable[[Values], Floats]) -> LogOf:
    """A function of one set of values, of each of many."""

    def log_by_draw(values: Values) -> Floats:
        (draws,) = {len(value) for value in values.values()}
        return np.stack([of({name: value[at] for name, value in values.items()}) for at in range(draws)])

    return log_by_draw
