"""Base classes of synthetic judges."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Checked
from voirdire.simulate.questions import FloatArray, Outcomes, Questions


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
