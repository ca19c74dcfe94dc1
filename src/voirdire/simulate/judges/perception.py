"""Judges that see another difference than the one asked about: halo, criterion-blind, verbosity-biased."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Number, Share
from voirdire.simulate.judges.base import Judge
from voirdire.simulate.judges.coins import PLAIN
from voirdire.simulate.questions import FloatArray, IntArray, Outcomes, Questions


class _PerceptionJudge(Judge):
    """A judge whose wrapped judge ``of`` answers by another difference d' than the one asked about."""

    of: Judge

    @abstractmethod
    def perceived_questions(self, asked: Questions) -> Questions:
        """The questions as this judge perceives them."""

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """Those of the wrapped judge at d'."""
        return self.of.answer_chances(self.perceived_questions(asked), heard)

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The wrapped judge's answers at d'."""
        return self.of.draw_answers(self.perceived_questions(asked), rng, heard)


@dataclass(frozen=True)
class Halo(_PerceptionJudge):
    """Drifts to the overall winner: sees d' = (1 - pull) d + pull D, D the difference of overall scores.

    The wrapped judge ``of`` answers by d'. With pull 1 only the overall score counts, with fresh noise
    under each criterion. Thorndike (1920), Journal of Applied Psychology 4, 25-29. Comparisons of
    criteria are not affected.

    Violates: in MAPLE and every model with strengths per criterion, that a judge's error is the same
    in size under every criterion and does not lean towards the other criteria; reliability then
    depends on the criterion. Models of one criterion see nothing wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
    >>> zero = np.zeros(1)
    >>> asked = Questions(np.array([-1.0]), np.array([3.0]), zero, zero, np.arange(1))
    >>> Halo(0.5).answer_chances(asked, {}).round(3)[0]
    array([0.731])
    """

    kind: ClassVar[str] = "halo"
    pull: Share
    of: Judge = PLAIN

    def perceived_questions(self, asked: Questions) -> Questions:
        """The questions as this judge perceives them."""
        return replace(asked, gap=(1.0 - self.pull) * asked.gap + self.pull * asked.overall)


@dataclass(frozen=True)
class CriterionBlind(Judge):
    """Gives the same answer under every criterion: its answer to which item is better overall.

    The wrapped judge ``of`` answers once for each pair, order and run, by the difference of the overall
    scores; the answer is repeated under all criteria. Comparisons of criteria are answered as usual.
    With the order of presentation drawn anew under each criterion, the answer is the same for the same
    order only.

    Violates: in MAPLE and every model with strengths per criterion, that votes under different
    criteria are independent (C identical votes count as C) and that they are about the criterion.
    Models of one criterion see nothing wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
    >>> same_pair = Questions(np.array([5.0, -5.0]), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2, int))
    >>> a, b = CriterionBlind().draw_answers(same_pair, np.random.default_rng(1), {})
    >>> bool(a == b)
    True
    """

    kind: ClassVar[str] = "criterion-blind"
    of: Judge = PLAIN

    def perceived_questions(self, asked: Questions) -> tuple[Questions, IntArray, IntArray]:
        """The distinct overall questions, their rows, and which of them each question asked is."""
        _, rows, group = np.unique(asked.alike, return_index=True, return_inverse=True)
        return replace(asked, gap=asked.overall).take_rows(rows), rows, group

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """Those of the wrapped judge for the overall scores."""
        questions, rows, group = self.perceived_questions(asked)
        heard = {name: probabilities[:, rows] for name, probabilities in heard.items()}
        return self.of.answer_chances(questions, heard)[:, group]

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """One answer for each group of questions that are alike."""
        questions, rows, group = self.perceived_questions(asked)
        heard = {name: outcomes[rows] for name, outcomes in heard.items()}
        return self.of.draw_answers(questions, rng, heard)[group]

    def question_problems(self, asked: Questions) -> list[str]:
        """Those of the wrapped judge, which is asked only once for each group."""
        return self.of.question_problems(self.perceived_questions(asked)[0])


@dataclass(frozen=True)
class VerbosityBiased(_PerceptionJudge):
    """Prefers the longer item: sees d' = d + effect (length of first - length of second).

    The wrapped judge ``of`` answers by d'. Drawn lengths are standard Normal, so that ``effect`` is the
    worth, on the scale of the strengths, of one standard deviation of length. Comparisons of criteria
    are not affected.

    Violates: in every model without a length covariate, that votes depend on the strengths of the
    criterion only; biased judges share the error, so that they agree with each other more than their
    reliability explains. A model with d + beta (length difference) contains it.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
    >>> zero = np.zeros(1)
    >>> asked = Questions(np.array([-1.0]), zero, np.array([2.0]), zero, np.arange(1))
    >>> VerbosityBiased(effect=0.5).answer_chances(asked, {})[0]
    array([0.5])
    """

    kind: ClassVar[str] = "verbosity-biased"
    effect: Number
    of: Judge = PLAIN

    def perceived_questions(self, asked: Questions) -> Questions:
        """The questions as this judge perceives them."""
        return replace(asked, gap=asked.gap + self.effect * asked.length)
