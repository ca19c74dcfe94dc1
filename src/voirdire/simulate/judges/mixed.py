"""Judges that answer partly as another: lazy, copycat, drifting over time, tie-prone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Flag, Name, Nonnegative, Positive, Share
from voirdire.simulate.judges.base import Judge
from voirdire.simulate.judges.coins import PLAIN
from voirdire.simulate.questions import TIE, UNANSWERED, FloatArray, Outcomes, Questions


@dataclass(frozen=True)
class Lazy(Judge):
    """Answers each comparison, with probability ``share``, without looking: a coin toss, or no answer.

    P(first) = share / 2 + (1 - share) P(first) of the wrapped judge ``of``; with ``skips`` the unread
    comparisons are left out of the table instead.

    Violates: in Bradley-Terry, equal reliability. Around a Bradley-Terry judge it *is* the one-coin
    judge with eta = 1 - share / 2, so one-coin Crowd-BT, MAPLE and the two-coin model contain it;
    BT-sigma does not (errors remain for far pairs). Skipping violates nothing, as what is skipped does
    not depend on the items, but the judge's table has holes.

    Examples
    --------
    >>> Lazy(share=0.4).two_coin_values()
    (0.8, 0.8)
    """

    kind: ClassVar[str] = "lazy"
    share: Share
    of: Judge = PLAIN
    skips: Flag = False

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """The wrapped judge's, shrunk towards a coin toss or towards no answer."""
        probabilities = (1.0 - self.share) * self.of.answer_chances(asked, heard)
        if not self.skips:
            probabilities[:TIE] += self.share / 2
        return probabilities

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The wrapped judge's answers, overwritten where this one did not look."""
        answers = self.of.draw_answers(asked, rng, heard)
        skipped = rng.random(len(asked)) < self.share
        if self.skips:
            return np.where(skipped, np.int8(UNANSWERED), answers)
        return np.where(skipped, rng.integers(0, 2, len(asked), dtype=np.int8), answers)

    def two_coin_values(self) -> tuple[float, float] | None:
        """The wrapped judge's coins, shrunk towards 1/2 unless this one skips."""
        coins = self.of.two_coin_values()
        if coins is None or self.skips:
            return coins
        eta1, eta2 = ((1.0 - self.share) * eta + self.share / 2 for eta in coins)
        return eta1, eta2


@dataclass(frozen=True)
class Copycat(Judge):
    """Copies the answer of another judge, with probability ``rho``, and judges for itself otherwise.

    It copies the winner (or the tie), also where the two are shown the pair in different order. What
    the other did not answer it judges for itself, as the wrapped judge ``of``.

    Violates: in every model here, that judges err independently given the truth. One-coin Crowd-BT,
    MAPLE, the two-coin model and BT-sigma take the agreement of copies for reliability and count each
    copy as a fresh vote: intervals become too narrow, and enough copies of a bad judge take the panel
    over.

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
        """The judge it copies, and those its own judgement needs."""
        return frozenset({self.copies}) | self.of.copied_names()

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """The mixture of both judges' chances."""
        copied_probabilities = heard[self.copies]
        copied_total = self.rho * copied_probabilities.sum(axis=0)
        return np.asarray(
            self.rho * copied_probabilities + (1.0 - copied_total) * self.of.answer_chances(asked, heard)
        )

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """Its own answers, overwritten by the copied ones."""
        own_answers = self.of.draw_answers(asked, rng, heard)
        copied_answers = heard[self.copies]
        copies = (rng.random(len(asked)) < self.rho) & (copied_answers != UNANSWERED)
        return np.where(copies, copied_answers, own_answers)


@dataclass(frozen=True)
class Drifting(Judge):
    """Turns from one judge into another in the course of its votes.

    At time t in [0, 1] it answers as ``end`` with probability t and as ``begin`` otherwise. A judge of
    reliability falling linearly from 0.9 to 0.5 is a drift from ``OneCoin(0.9)`` to ``OneCoin(0.5)``: its
    eta at time t is (1 - t) 0.9 + t 0.5. Time is the judge's sequence of answers: the order of its rows
    in the tables, comparisons of criteria last (unless the design shuffles).

    Violates: in one-coin Crowd-BT, MAPLE, the two-coin model and BT-sigma, that a judge's parameters
    are the same for all its votes; they estimate the average. Unless the design shuffles, time runs
    with the criteria, so the drift looks like a reliability that depends on the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate import OneCoin
    >>> from voirdire.simulate.questions import Questions
    >>> asked = Questions(np.full(3, 50.0), np.zeros(3), np.zeros(3), np.linspace(0, 1, 3), np.arange(3))
    >>> Drifting(OneCoin(0.9), OneCoin(0.5)).answer_chances(asked, {})[0]
    array([0.9, 0.7, 0.5])
    """

    kind: ClassVar[str] = "drifting"
    begin: Judge
    end: Judge

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """(1 - t) of the first judge's and t of the second's."""
        begin, end = self.begin.answer_chances(asked, heard), self.end.answer_chances(asked, heard)
        return (1.0 - asked.time) * begin + asked.time * end

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The second judge's answer where it has taken over."""
        begin, end = self.begin.draw_answers(asked, rng, heard), self.end.draw_answers(asked, rng, heard)
        return np.where(rng.random(len(asked)) < asked.time, end, begin)


@dataclass(frozen=True)
class TieProne(Judge):
    """Calls near pairs ties, after Davidson: P(tie) = nu / (nu + 2 cosh(scale d / 2)).

    The rest is answered as the wrapped judge ``of``. Davidson (1970), Journal of the American
    Statistical Association 65, 317-328: around ``BradleyTerry()`` at scale 1 this is his model, with
    P(first) proportional to exp(d / 2), P(second) to exp(-d / 2) and P(tie) to nu.

    Violates: models without ties cannot read the table (MAPLE permits none). Nothing in the models
    with Davidson ties per judge at scale 1; a tie parameter common to all judges is violated by judges
    of different nu.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
    >>> zero = np.zeros(1)
    >>> TieProne(nu=2.0).answer_chances(Questions(zero, zero, zero, zero, np.arange(1)), {})[:, 0]
    array([0.25, 0.25, 0.5 ])
    """

    kind: ClassVar[str] = "tie-prone"
    nu: Nonnegative
    of: Judge = PLAIN
    scale: Positive = 1.0

    def p_tie(self, asked: Questions) -> FloatArray:
        """The (n,) probabilities of a tie, written so that a large gap does not overflow."""
        half = np.exp(-0.5 * self.scale * np.abs(asked.gap))
        return np.asarray(self.nu * half / (self.nu * half + 1.0 + half**2))

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """P(tie) first, the wrapped judge's chances on the rest; what it skips stays skipped."""
        probabilities: FloatArray = self.of.answer_chances(asked, heard)
        tie = self.p_tie(asked)
        answered = probabilities.sum(axis=0)
        probabilities = probabilities * (1.0 - tie)
        probabilities[TIE] += tie * answered
        return probabilities

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The wrapped judge's answers, with ties laid over them."""
        outcomes = self.of.draw_answers(asked, rng, heard)
        tied = (rng.random(len(asked)) < self.p_tie(asked)) & (outcomes != UNANSWERED)
        return np.where(tied, np.int8(TIE), outcomes)

    def two_coin_values(self) -> tuple[float, float] | None:
        """The wrapped judge's: Davidson ties leave the untied part as it is."""
        return self.of.two_coin_values()
