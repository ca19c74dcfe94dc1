"""Judges that perceive another difference than the true one: halo, criterion-blind, verbosity-biased."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Number, Share
from voirdire.simulate.judges.base import FloatArray, IntArray, Judge, Outcomes, Questions
from voirdire.simulate.judges.coins import PLAIN


class _PerceptionJudge(Judge):
    """Judge with a wrapped judge ``of`` that answers by another difference d' than the true one."""

    of: Judge

    @abstractmethod
    def perceived_questions(self, questions: Questions) -> Questions:
        """Return the questions with the perceived differences."""

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the wrapped judge's probabilities at d'."""
        return self.of.answer_chances(self.perceived_questions(questions), copied)

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw the wrapped judge's answers at d'."""
        return self.of.draw_answers(self.perceived_questions(questions), rng, copied)


@dataclass(frozen=True)
class Halo(_PerceptionJudge):
    """Judge with a halo: perceives d' = (1 - pull) d + pull D, with D the difference of overall scores.

    The wrapped judge ``of`` answers by d'. With pull 1 only the overall score counts, with independent noise
    under each criterion. Thorndike (1920), Journal of Applied Psychology 4, 25-29. Comparisons of
    criteria are not affected.

    Violated assumptions: in MAPLE and every model with strengths per criterion, that a judge's error has the same
    size under every criterion and does not depend on the other criteria; reliability then depends on the
    criterion. Models of one criterion: none.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> asked = Questions(np.array([-1.0]), np.array([3.0]), zero, zero, np.arange(1))
    >>> Halo(0.5).answer_chances(asked, {}).round(3)[0]
    array([0.731])
    """

    kind: ClassVar[str] = "halo"
    pull: Share
    of: Judge = PLAIN

    def perceived_questions(self, questions: Questions) -> Questions:
        """Return the questions with the perceived differences."""
        return replace(questions, gap=(1.0 - self.pull) * questions.gap + self.pull * questions.overall)


@dataclass(frozen=True)
class CriterionBlind(Judge):
    """Judge that gives the same answer under every criterion, the item that is better overall.

    The wrapped judge ``of`` answers once for each pair, order and run, by the difference of the overall
    scores; the answer is repeated under all criteria. Comparisons of criteria are answered as usual.
    If the order of presentation is drawn for each criterion, answers are the same only for the same order.

    Violated assumptions: in MAPLE and every model with strengths per criterion, that votes under different
    criteria are independent (C identical votes count as C) and that they are about the criterion.
    Models of one criterion: none.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> same_pair = Questions(np.array([5.0, -5.0]), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2, int))
    >>> a, b = CriterionBlind().draw_answers(same_pair, np.random.default_rng(1), {})
    >>> bool(a == b)
    True
    """

    kind: ClassVar[str] = "criterion-blind"
    of: Judge = PLAIN

    def perceived_questions(self, questions: Questions) -> tuple[Questions, IntArray, IntArray]:
        """Return the distinct overall questions, their rows, and the index of the overall question of each one."""
        _, rows, group = np.unique(questions.alike, return_index=True, return_inverse=True)
        return replace(questions, gap=questions.overall).take_rows(rows), rows, group

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the wrapped judge's probabilities for the overall scores."""
        overall_questions, rows, group = self.perceived_questions(questions)
        copied = {name: probabilities[:, rows] for name, probabilities in copied.items()}
        return self.of.answer_chances(overall_questions, copied)[:, group]

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw one answer for each group of questions that differ only in the criterion."""
        overall_questions, rows, group = self.perceived_questions(questions)
        copied = {name: outcomes[rows] for name, outcomes in copied.items()}
        return self.of.draw_answers(overall_questions, rng, copied)[group]

    def question_problems(self, questions: Questions) -> list[str]:
        """Return the wrapped judge's problems with one question per group."""
        return self.of.question_problems(self.perceived_questions(questions)[0])


@dataclass(frozen=True)
class VerbosityBiased(_PerceptionJudge):
    """Judge that prefers longer items: perceives d' = d + effect (length of first - length of second).

    The wrapped judge ``of`` answers by d'. Drawn lengths are standard Normal, so ``effect`` is the effect of one
    standard deviation of length on the scale of the strengths. Comparisons of criteria are not affected.

    Violated assumptions: in every model without a length covariate, that votes depend on the strengths of the
    criterion only; biased judges share the error, so they agree with each other more than their
    reliability explains. A model with d + beta (length difference) contains it.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> asked = Questions(np.array([-1.0]), zero, np.array([2.0]), zero, np.arange(1))
    >>> VerbosityBiased(effect=0.5).answer_chances(asked, {})[0]
    array([0.5])
    """

    kind: ClassVar[str] = "verbosity-biased"
    effect: Number
    of: Judge = PLAIN

    def perceived_questions(self, questions: Questions) -> Questions:
        """Return the questions with the perceived differences."""
        return replace(questions, gap=questions.gap + self.effect * questions.length)
