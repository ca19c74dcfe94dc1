"""Probability of answers that a model has not seen, by the mode of the posterior given those that it has seen.

By draws, where spreads are found by their marginal likelihood: of what no answer was seen (a judge's taste for an item)
the mode is zero, as if there were none.

Of scores and labels each answer is predicted by itself, also where a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability to stand there.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.infer.nested.mode import NestedMode, nested_draws
from voirdire.model.problem import Problem
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats, Ints

DRAWS = 100
Seen = tuple[Floats, Floats]  # of each answer: log of its probability, and whether it was the most probable


def scored(chance: Floats, answer: Ints) -> Seen:
    """Log probability of each answer, and 1 where it was the most probable.

    Parameters
    ----------
    chance : array, shape (answers, possible answers)
    answer : int array, shape (answers,)

    Examples
    --------
    >>> [part.round(2).tolist() for part in scored(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0, 0]))]
    [[-1.39, -0.69], [0.0, 1.0]]
    """
    own = chance[np.arange(len(answer)), answer]
    return np.log(own), (chance.argmax(axis=1) == answer).astype(float)


def seen_values(problem: Problem) -> list[Values]:
    """Values by which a problem predicts other answers: those at its mode, or draws."""
    mode, density = find_mode(problem), problem.density
    if not isinstance(mode, NestedMode):
        return [density.values(mode.x, np)]
    return [density.values(x, np) for x in nested_draws(mode, np.random.default_rng(0), DRAWS)]
