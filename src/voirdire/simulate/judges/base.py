"""The interface that every synthetic judge shares."""

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
    """A synthetic judge: answers all its questions at once, and states the chance of each answer.

    ``draw_answers`` draws; ``answer_chances`` gives, in closed form, the marginal probabilities of what it draws.
    Judges that wrap others hold them in fields and hand on what they are asked.
    """

    noun: ClassVar[str] = "judge"

    @abstractmethod
    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """The (3, n) probabilities of first, second and tie; what lacks to 1 is left unanswered.

        ``heard`` has the chances of the judges named by :meth:`copied_names`, as ``draw_answers`` hears their answers.
        """

    @abstractmethod
    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The (n,) outcomes: FIRST, SECOND, TIE or UNANSWERED.

        ``heard`` has the answers of the judges named by :meth:`copied_names`, to the same questions and turned
        to the order in which this judge is shown the items.
        """

    def two_coin_values(self) -> tuple[float, float] | None:
        """The (eta1, eta2) of the two-coin model that gives exactly these answers; None where none does."""
        return None

    def wrapped_judges(self) -> Iterator[Judge]:
        """The judges wrapped directly by this one."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Judge):
                yield value

    def copied_names(self) -> frozenset[str]:
        """The names of the judges whose answers this one must hear, itself or through a wrapped judge."""
        return frozenset().union(*(part.copied_names() for part in self.wrapped_judges()))

    def question_problems(self, asked: Questions) -> list[str]:
        """Why these questions cannot be answered (empty if they can), found before any answer is drawn."""
        return [problem for part in self.wrapped_judges() for problem in part.question_problems(asked)]


@dataclass(frozen=True)
class IndependentJudge(Judge):
    """A judge without ties that answers every question independently, with P(first) given by ``p_first``."""

    @abstractmethod
    def p_first(self, asked: Questions) -> FloatArray:
        """The (n,) probabilities that the item shown first is chosen."""

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """P(first), 1 - P(first) and no ties."""
        return probabilities_without_ties(self.p_first(asked))

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """One Bernoulli draw for each question."""
        return (rng.random(len(asked)) >= self.p_first(asked)).astype(np.int8)


def probabilities_without_ties(first: FloatArray) -> FloatArray:
    """The (3, n) probabilities of first, second and no tie, from the (n,) of first."""
    return np.stack([first, 1.0 - first, np.zeros_like(first)])


def stable_sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x)), written with tanh so that no argument overflows.

    Examples
    --------
    >>> import numpy as np
    >>> stable_sigmoid(np.array([-1e4, 0.0, 1e4]))
    array([0. , 0.5, 1. ])
    """
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def first_choice_probability(asked: Questions, p_right: float) -> FloatArray:
    """P(first) of a judge that names the better item with a fixed chance; a coin toss where none is."""
    sign = np.sign(asked.gap)
    return 0.5 + (p_right - 0.5) * sign
