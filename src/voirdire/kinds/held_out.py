"""Probability of answers that a model has not seen, by the mode of the posterior given those that it has seen.

Of scores and labels each answer is predicted by itself, also where a judge gave an item several:

    P(y_ki) = sum_l [y_ki = l] P(l | theta_i, judge k)                          scores of levels, votes
    P(y_ki) = sum_j P(j | the labels of i that were seen) P(y_ki | j, judge k)  labels

On a continuous scale it is the density per point of the scale, and at the ends the probability to stand there.
"""

from __future__ import annotations

import numpy as np

from voirdire.typing import Floats, Ints

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
