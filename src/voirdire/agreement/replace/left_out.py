"""Agreement of a judge and of each person with the other people, one person left out at a time.

Of unit u and person j who answered it, with the others O = those who answered u but j (one at the least):

    S[u, j] = s(judge's answer to u, O)        T[u, j] = s(j's answer to u, O)

s is how like the others the answer is (:mod:`.likeness`), as in Calderon, Reichart and Dror, "The Alternative Annotator
Test" (ACL 2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray
from voirdire.agreement.replace.likeness import Likeness


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Scores of a judge and of each person against the other people.

    Attributes
    ----------
    judge, person : float array, shape (units, people)
        S and T; NaN where the judge, the person, or every other person did not answer.
    """

    judge: FloatArray
    person: FloatArray

    @property
    def judge_agreement(self) -> FloatArray:
        """The judge's agreement with people by unit, the mean over people left out; NaN where there is none."""
        return _mean_over_people(self.judge)

    @property
    def of_people(self) -> FloatArray:
        """People's agreement with each other by unit; NaN where there is none."""
        return _mean_over_people(self.person)


def left_out(judge: FloatArray, people: FloatArray, likeness: Likeness) -> LeftOut:
    """Leave out each person in turn.

    Parameters
    ----------
    judge : float array, shape (units,)
        Answers as codes, or as numbers; NaN without one.
    people : float array, shape (units, people)
    likeness : Likeness

    Examples
    --------
    >>> found = left_out(np.array([1.0, 2.0]), np.array([[1.0, 1.0, 2.0], [2.0, np.nan, 2.0]]), Likeness("equality"))
    >>> found.judge.tolist(), found.person.tolist()
    ([[0.5, 0.5, 1.0], [1.0, nan, 1.0]], [[0.5, 0.5, 0.0], [1.0, nan, 1.0]])
    """
    there = ~np.isnan(people)

    def scores_against_others(answers: FloatArray) -> FloatArray:
        """Scores of answers, shape (units, people or 1), against all but the person of each column."""
        found = np.full(people.shape, np.nan)
        for left in range(people.shape[1]):
            of = answers[:, min(left, answers.shape[1] - 1)]
            kept = there.copy()
            kept[:, left] = False
            found[:, left] = np.where(there[:, left], likeness.with_others(of, people, kept), np.nan)
        return found

    alone = scores_against_others(judge[:, None])
    return LeftOut(alone, np.where(np.isnan(alone), np.nan, scores_against_others(people)))


def _mean_over_people(values: FloatArray) -> FloatArray:
    there = ~np.isnan(values)
    number = there.sum(axis=1)
    total = np.where(there, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
