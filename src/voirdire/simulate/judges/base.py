"""Base classes of synthetic judges, and the questions to them."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from voirdire.settings import Checked

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Outcomes = NDArray[np.int8]

#: Outcome codes. UNANSWERED is a comparison that the judge left out; such rows are not in any table.
FIRST, SECOND, TIE, UNANSWERED = 0, 1, 2, -1

# Indexed by outcome; the last entry is for UNANSWERED = -1.
_SWAPPED_OUTCOMES = np.array([SECOND, FIRST, TIE, UNANSWERED], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class Questions:
    """The n comparisons of a judge, items and criteria together.

    Attributes
    ----------
    gap : (n,) float
        True difference d = theta[criterion, first] - theta[criterion, second] under the criterion of the
        question; for a comparison of criteria w[first] - w[second].
    overall : (n,) float
        Difference of the overall scores; for a comparison of criteria the same as ``gap``.
    length : (n,) float
        Difference of the length covariate; 0 for a comparison of criteria.
    time : (n,) float
        Position in the judge's sequence of answers, 0 for the first and 1 for the last.
    alike : (n,) int
        Group number, equal for questions that differ only in the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> zero = np.zeros(2)
    >>> asked = Questions(np.array([1.5, -2.0]), zero, zero, np.array([0.0, 1.0]), np.arange(2))
    >>> asked.with_items_swapped().gap
    array([-1.5,  2. ])
    """

    gap: FloatArray
    overall: FloatArray
    length: FloatArray
    time: FloatArray
    alike: IntArray

    def __len__(self) -> int:
        return len(self.gap)

    def take_rows(self, rows: IntArray) -> Questions:
        """Return the questions in these rows."""
        return Questions(*(getattr(self, field.name)[rows] for field in fields(self)))

    def with_items_swapped(self, sign: FloatArray | float = -1.0) -> Questions:
        """Return the questions with the two items in the other order, everywhere or where ``sign`` (n,) is -1."""
        gap, overall, length = (sign * values for values in (self.gap, self.overall, self.length))
        return replace(self, gap=gap, overall=overall, length=length)


def swap_probabilities(probabilities: FloatArray, flipped: NDArray[np.bool_]) -> FloatArray:
    """Exchange the (3, n) probabilities of first and second in the flipped comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> swap_probabilities(np.array([[0.7], [0.2], [0.1]]), np.array([True]))[:, 0]
    array([0.2, 0.7, 0.1])
    """
    return np.where(flipped, probabilities[[SECOND, FIRST, TIE]], probabilities)


def swap_outcomes(outcomes: Outcomes, flipped: NDArray[np.bool_]) -> Outcomes:
    """Exchange the outcomes first and second in the flipped comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> swap_outcomes(np.array([0, 0, 2, -1], dtype=np.int8), np.array([True, False, True, True]))
    array([ 1,  0,  2, -1], dtype=int8)
    """
    return np.where(flipped, _SWAPPED_OUTCOMES[outcomes], outcomes)


@dataclass(frozen=True)
class Judge(Checked, ABC):
    """Synthetic judge, which answers all its questions at once.

    ``draw_answers`` draws answers; ``answer_chances`` gives their marginal probabilities in closed form. Judges that
    wrap others hold them in fields and pass the questions on to them.
    """

    noun: ClassVar[str] = "judge"

    @abstractmethod
    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the (3, n) probabilities of first, second and tie; the remainder to 1 is that of no answer.

        ``copied`` has the probabilities, shape (3, n), of the judges named by :meth:`copied_names`.
        """

    @abstractmethod
    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw the (n,) outcomes: FIRST, SECOND, TIE or UNANSWERED.

        ``copied`` has the outcomes, shape (n,), of the judges named by :meth:`copied_names` for the same questions,
        with the items in the order in which this judge sees them.
        """

    def two_coin_values(self) -> tuple[float, float] | None:
        """Return (eta1, eta2) of the two-coin model with the same distribution of answers; None if there is none."""
        return None

    def wrapped_judges(self) -> Iterator[Judge]:
        """Yield the judges that this one wraps directly."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Judge):
                yield value

    def copied_names(self) -> frozenset[str]:
        """Return the names of the judges that this one, or a judge that it wraps, copies."""
        return frozenset().union(*(part.copied_names() for part in self.wrapped_judges()))

    def question_problems(self, questions: Questions) -> list[str]:
        """Return the reasons why these questions cannot be answered (empty if they can), before any is answered."""
        return [problem for part in self.wrapped_judges() for problem in part.question_problems(questions)]


@dataclass(frozen=True)
class IndependentJudge(Judge):
    """Judge without ties that answers every question independently, with P(first) from ``p_first``."""

    @abstractmethod
    def p_first(self, questions: Questions) -> FloatArray:
        """Return the (n,) probabilities of choosing the item shown first."""

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return P(first), 1 - P(first) and 0 for ties."""
        return probabilities_without_ties(self.p_first(questions))

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw one Bernoulli variable for each question."""
        return (rng.random(len(questions)) >= self.p_first(questions)).astype(np.int8)


def probabilities_without_ties(first: FloatArray) -> FloatArray:
    """Return the (3, n) probabilities of first, second and tie (0), from the (n,) of first."""
    return np.stack([first, 1.0 - first, np.zeros_like(first)])


def stable_sigmoid(x: FloatArray) -> FloatArray:
    """Compute 1 / (1 + exp(-x)) with tanh, without overflow.

    Examples
    --------
    >>> import numpy as np
    >>> stable_sigmoid(np.array([-1e4, 0.0, 1e4]))
    array([0. , 0.5, 1. ])
    """
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def first_choice_probability(questions: Questions, p_right: float) -> FloatArray:
    """Return P(first) of a judge that chooses the better item with a fixed probability; 1/2 where gaps are 0."""
    sign = np.sign(questions.gap)
    return 0.5 + (p_right - 0.5) * sign
