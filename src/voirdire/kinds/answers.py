"""Answers of a fit one by one: their log probability under draws, what was said, and what they are about.

One answer of each row, drawn by the answers' probabilities.

Probability of answers that a model has not seen, by the mode of the posterior given those that it has seen.

Of scores and labels each answer is predicted by itself, also where a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability to stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints


def sample_categorical(chance: Floats, rng: np.random.Generator) -> Ints:
    """Draw a column of each row, shape (rows,); rows need not sum to one, and take one uniform number each.

    Examples
    --------
    >>> sample_categorical(np.array([[0.0, 2.0], [1.0, 0.0]]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    ends = chance.cumsum(axis=1)
    return np.asarray((rng.random(len(chance))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1))


Seen = tuple[Floats, Floats]  # of each answer: log of its probability, and whether it was the most probable


def score_predictions(chance: Floats, answer: Ints) -> Seen:
    """Log probability of each answer, and 1 where it was the most probable.

    Parameters
    ----------
    chance : array, shape (answers, possible answers)
    answer : int array, shape (answers,)

    Examples
    --------
    >>> [part.round(2).tolist() for part in score_predictions(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0, 0]))]
    [[-1.39, -0.69], [0.0, 1.0]]
    """
    own = chance[np.arange(len(answer)), answer]
    return np.log(own), (chance.argmax(axis=1) == answer).astype(float)


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
