"""Judges that answer partly as another judge: lazy, copycat, drifting over time, tie-prone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Flag, Name, Nonnegative, Positive, Share
from voirdire.simulate.judges.base import TIE, UNANSWERED, FloatArray, Judge, Outcomes, Questions
from voirdire.simulate.judges.coins import PLAIN


@dataclass(frozen=True)
class Lazy(Judge):
    """Judge that, with probability ``share``, answers a comparison by a coin toss, or not at all.

    P(first) = share / 2 + (1 - share) P(first) of the wrapped judge ``of``; with ``skips`` these
    comparisons are left out of the table instead.

    Violated assumptions: in Bradley-Terry, equal reliability. With a wrapped Bradley-Terry judge it *is* the
    one-coin judge with eta = 1 - share / 2, so one-coin Crowd-BT, MAPLE and the two-coin model contain it;
    BT-sigma does not (errors remain for large gaps). Skipping violates no assumption, as it does not depend on
    the items, but comparisons are missing in the judge's table.

    Examples
    --------
    >>> Lazy(share=0.4).two_coin_values()
    (0.8, 0.8)
    """

    kind: ClassVar[str] = "lazy"
    share: Share
    of: Judge = PLAIN
    skips: Flag = False

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the wrapped judge's probabilities, mixed with a coin toss or with no answer."""
        probabilities = (1.0 - self.share) * self.of.answer_chances(questions, copied)
        if not self.skips:
            probabilities[:TIE] += self.share / 2
        return probabilities

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw the wrapped judge's answers; replace a random share of them."""
        answers = self.of.draw_answers(questions, rng, copied)
        skipped = rng.random(len(questions)) < self.share
        if self.skips:
            return np.where(skipped, np.int8(UNANSWERED), answers)
        return np.where(skipped, rng.integers(0, 2, len(questions), dtype=np.int8), answers)

    def two_coin_values(self) -> tuple[float, float] | None:
        """Return the wrapped judge's coins, shrunk towards 1/2 unless this one skips."""
        coins = self.of.two_coin_values()
        if coins is None or self.skips:
            return coins
        eta1, eta2 = ((1.0 - self.share) * eta + self.share / 2 for eta in coins)
        return eta1, eta2


@dataclass(frozen=True)
class Copycat(Judge):
    """Judge that copies the answer of another judge with probability ``rho``; else it answers as ``of``.

    It copies the winner (or the tie), also where the two judges see the pair in different order. Comparisons
    that the other judge did not answer are answered as by the wrapped judge ``of``.

    Violated assumptions: in every model here, that judges err independently given the truth. One-coin Crowd-BT,
    MAPLE, the two-coin model and BT-sigma take the agreement of copies for reliability and count each
    copy as an independent vote: intervals become too narrow, and enough copies of a bad judge dominate the
    panel.

    Examples
    --------
    >>> sorted(Copycat(copies="ada", rho=0.9).copied_names())
    ['ada']
    """

    kind: ClassVar[str] = "copycat"
    copies: Name
    rho: Share = 1.0
    of: Judge = PLAIN

    def copied_names(self) -> frozenset[str]:
        """Return the name of the copied judge, and those that the wrapped judge copies."""
        return frozenset({self.copies}) | self.of.copied_names()

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the mixture of both judges' probabilities."""
        copied_probabilities = copied[self.copies]
        copied_total = self.rho * copied_probabilities.sum(axis=0)
        return np.asarray(
            self.rho * copied_probabilities + (1.0 - copied_total) * self.of.answer_chances(questions, copied)
        )

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw the wrapped judge's answers; replace a random share of them by the copied ones."""
        own_answers = self.of.draw_answers(questions, rng, copied)
        copied_answers = copied[self.copies]
        copies = (rng.random(len(questions)) < self.rho) & (copied_answers != UNANSWERED)
        return np.where(copies, copied_answers, own_answers)


@dataclass(frozen=True)
class Drifting(Judge):
    """Judge that changes gradually from one judge to another over its votes.

    At time t in [0, 1] it answers as ``end`` with probability t and as ``begin`` otherwise. For example, a drift
    from ``OneCoin(0.9)`` to ``OneCoin(0.5)`` has a linearly falling reliability: eta at time t is
    (1 - t) 0.9 + t 0.5. Time is the judge's sequence of answers: the order of its rows in the tables, comparisons
    of criteria last (unless the design shuffles).

    Violated assumptions: in one-coin Crowd-BT, MAPLE, the two-coin model and BT-sigma, that a judge's parameters
    are the same for all its votes; these models estimate the average. Unless the design shuffles, criteria are
    answered one after the other, so the drift looks like a reliability that depends on the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate import OneCoin
    >>> from voirdire.simulate.judges.base import Questions
    >>> asked = Questions(np.full(3, 50.0), np.zeros(3), np.zeros(3), np.linspace(0, 1, 3), np.arange(3))
    >>> Drifting(OneCoin(0.9), OneCoin(0.5)).answer_chances(asked, {})[0]
    array([0.9, 0.7, 0.5])
    """

    kind: ClassVar[str] = "drifting"
    begin: Judge
    end: Judge

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the mixture of both judges' probabilities with weights 1 - t and t."""
        begin, end = self.begin.answer_chances(questions, copied), self.end.answer_chances(questions, copied)
        return (1.0 - questions.time) * begin + questions.time * end

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw both judges' answers; take the second judge's with probability t."""
        begin, end = (self.begin.draw_answers(questions, rng, copied), self.end.draw_answers(questions, rng, copied))
        return np.where(rng.random(len(questions)) < questions.time, end, begin)


@dataclass(frozen=True)
class TieProne(Judge):
    """Judge with ties, mainly at small gaps: P(tie) = nu / (nu + 2 cosh(scale d / 2)).

    Other comparisons are answered as by the wrapped judge ``of``. With ``BradleyTerry()`` at scale 1 this is
    the model of Davidson (1970), Journal of the American Statistical Association 65, 317-328, with
    P(first) proportional to exp(d / 2), P(second) to exp(-d / 2) and P(tie) to nu.

    Violated assumptions: models without ties cannot read the table (MAPLE permits none). None in the models
    with Davidson ties per judge at scale 1; judges of different nu violate a tie parameter common to all judges.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> TieProne(nu=2.0).answer_chances(Questions(zero, zero, zero, zero, np.arange(1)), {})[:, 0]
    array([0.25, 0.25, 0.5 ])
    """

    kind: ClassVar[str] = "tie-prone"
    nu: Nonnegative
    of: Judge = PLAIN
    scale: Positive = 1.0

    def p_tie(self, questions: Questions) -> FloatArray:
        """Compute the (n,) probabilities of a tie, without overflow at large gaps."""
        half = np.exp(-0.5 * self.scale * np.abs(questions.gap))
        return np.asarray(self.nu * half / (self.nu * half + 1.0 + half**2))

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return P(tie), and the wrapped judge's probabilities times 1 - P(tie); skipped questions remain skipped."""
        probabilities: FloatArray = self.of.answer_chances(questions, copied)
        tie = self.p_tie(questions)
        answered = probabilities.sum(axis=0)
        probabilities = probabilities * (1.0 - tie)
        probabilities[TIE] += tie * answered
        return probabilities

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Draw the wrapped judge's answers; replace some of them by ties."""
        outcomes = self.of.draw_answers(questions, rng, copied)
        tied = (rng.random(len(questions)) < self.p_tie(questions)) & (outcomes != UNANSWERED)
        return np.where(tied, np.int8(TIE), outcomes)

    def two_coin_values(self) -> tuple[float, float] | None:
        """Return the wrapped judge's coins: Davidson ties do not change the other answers."""
        return self.of.two_coin_values()
