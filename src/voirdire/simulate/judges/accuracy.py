"""Judges whose errors do not depend on the gap between two items, and judges that ignore the items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Flag, Share, Size
from voirdire.simulate.judges.base import (
    FIRST,
    SECOND,
    FloatArray,
    IndependentJudge,
    Judge,
    Outcomes,
    Questions,
    first_choice_probability,
    probabilities_without_ties,
)


class _ContentBlindJudge(IndependentJudge):
    """Judge with the same P(first) for all items."""

    chance: ClassVar[float]

    def p_first(self, questions: Questions) -> FloatArray:
        """Return the same probability for every pair."""
        return np.full(len(questions), self.chance)

    def two_coin_values(self) -> tuple[float, float] | None:
        """Return P(first) and P(second)."""
        return self.chance, 1.0 - self.chance


@dataclass(frozen=True)
class Random(_ContentBlindJudge):
    """Judge that tosses a fair coin: P(first) = 1/2 for every pair.

    The random predictor of MAPLE, section 5.3.

    Violated assumptions: in Bradley-Terry, that votes are informative about the items: coin tosses shrink the
    differences of strengths. One-coin Crowd-BT, MAPLE (eta = 1/2), the two-coin model and BT-sigma (a = 0)
    contain it.

    Examples
    --------
    >>> Random().two_coin_values()
    (0.5, 0.5)
    """

    kind: ClassVar[str] = "random"
    chance: ClassVar[float] = 0.5


@dataclass(frozen=True)
class AlwaysFirst(_ContentBlindJudge):
    """Judge that always chooses the item shown first: P(first) = 1.

    The position-1-biased model of MAPLE, section 5.3.

    Violated assumptions: in Bradley-Terry, one-coin Crowd-BT and MAPLE, that the position does not matter. In
    random or swapped order its votes look like coin tosses; in a fixed order they are one consistent, wrong
    ranking (by item index), and several such judges look like a reliable majority. The two-coin model contains
    it (eta1 = 1, eta2 = 0: no information, no harm), BT-sigma with a shift in the limit (a = 0, b to infinity).

    Examples
    --------
    >>> AlwaysFirst().two_coin_values()
    (1.0, 0.0)
    """

    kind: ClassVar[str] = "always-first"
    chance: ClassVar[float] = 1.0


@dataclass(frozen=True)
class AlwaysSecond(_ContentBlindJudge):
    """Judge that always chooses the item shown second: P(first) = 0.

    The position-2-biased model of MAPLE, section 5.3.

    Violated assumptions: as for :class:`AlwaysFirst`, with the positions exchanged (eta1 = 0, eta2 = 1).

    Examples
    --------
    >>> AlwaysSecond().two_coin_values()
    (0.0, 1.0)
    """

    kind: ClassVar[str] = "always-second"
    chance: ClassVar[float] = 0.0


@dataclass(frozen=True)
class Accuracy(Judge):
    """Judge that gives the true answer except for a share of flipped ones: P(right) = accuracy for every gap.

    With ``exact`` (the default, the synthetic models of MAPLE, section 5.1) exactly
    m = (1 - accuracy) n of the n answers, rounded half up, are flipped: m positions are drawn without
    replacement from all the judge's comparisons, of items and of criteria together. Otherwise each
    answer is flipped independently. ``flips`` gives m itself instead of the accuracy. Where the truth
    is a tie, the answer before the flip is a coin toss.

    Violated assumptions: in Bradley-Terry, that errors become rare as the gap grows. In one-coin Crowd-BT,
    MAPLE and the two-coin model only the slope: the likelihood is largest with infinite gaps between strengths
    and eta = accuracy, and only the prior keeps the gaps finite. In BT-sigma, as in Bradley-Terry, that pairs
    with a large gap have few errors, whatever the discrimination a. An exact share also makes the answers
    (slightly, negatively) dependent.

    Parameters
    ----------
    accuracy : float from 0 to 1, optional
        Share of right answers; give this or ``flips``.
    exact : bool
        True for an exact share, False for independent flips.
    flips : int, optional
        Exact number of flipped answers.

    Raises
    ------
    InputError
        Accuracy outside [0, 1]; none or both of accuracy and flips; flips with ``exact=False``; and, when the judge
        gets its questions, more flips than questions.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> n = 10
    >>> zero = np.zeros(n)
    >>> asked = Questions(np.ones(n), zero, zero, zero, np.arange(n))
    >>> int((Accuracy(0.7).draw_answers(asked, np.random.default_rng(0), {}) == 1).sum())
    3
    """

    kind: ClassVar[str] = "accuracy"
    accuracy: Share | None = None
    exact: Flag = True
    flips: Size | None = None

    def find_conflicts(self) -> Iterator[str]:
        """Report none or both of accuracy and flips, and flips that are not exact."""
        if (self.accuracy is None) == (self.flips is None):
            text = "neither is" if self.accuracy is None else "both are"
            yield f"give either accuracy or flips ({text} given)"
        elif self.flips is not None and not self.exact:
            yield "flips is an exact number; leave out exact = false, or give accuracy instead"

    def flip_count(self, n: int) -> int:
        """Return the exact number of flipped answers among n."""
        if self.flips is not None:
            return self.flips
        assert self.accuracy is not None
        # The margin rounds halves up in spite of rounding errors such as in 1 - 0.7.
        return math.floor((1.0 - self.accuracy) * n + 0.5 + 1e-9)

    def question_problems(self, questions: Questions) -> list[str]:
        """Report more flips than votes."""
        if self.flips is not None and self.flips > len(questions):
            return [
                f"flips is {self.flips}, but this judge gives only {len(questions)} votes; lower it or give accuracy"
            ]
        return []

    def answer_chances(self, questions: Questions, copied: Mapping[str, FloatArray]) -> FloatArray:
        """Return the probabilities, marginal over the positions of the flips."""
        p_right = self.accuracy
        if self.exact or p_right is None:
            p_right = 1.0 - self.flip_count(len(questions)) / max(len(questions), 1)
        return probabilities_without_ties(first_choice_probability(questions, p_right))

    def draw_answers(self, questions: Questions, rng: Generator, copied: Mapping[str, Outcomes]) -> Outcomes:
        """Take the true answers and flip some of them."""
        n = len(questions)
        outcomes = np.where(questions.gap < 0, SECOND, FIRST).astype(np.int8)
        tied = np.flatnonzero(questions.gap == 0)
        if len(tied):
            outcomes[tied] = rng.integers(0, 2, len(tied))
        if self.exact:
            places = rng.choice(n, self.flip_count(n), replace=False, shuffle=False)
            outcomes[places] ^= 1
        else:
            assert self.accuracy is not None
            outcomes ^= rng.random(n) >= self.accuracy
        return outcomes


@dataclass(frozen=True)
class Adversarial(IndependentJudge):
    """Judge that gives the opposite of the truth, always or with a probability, and the truth otherwise.

    P(right) = 1 - probability for every gap. An adversary that opposes an error-prone perception
    instead of the truth is ``OneCoin(eta=0)``.

    Violated assumptions: in Bradley-Terry, that every judge is right more often than wrong. One-coin Crowd-BT,
    MAPLE and the two-coin model contain it (eta near 0) and reverse its votes if adversaries are a minority:
    the likelihood is the same with all strengths reversed. BT-sigma needs a negative a.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(2)
    >>> asked = Questions(np.array([3.0, -3.0]), zero, zero, zero, np.arange(2))
    >>> Adversarial().draw_answers(asked, np.random.default_rng(0), {})
    array([1, 0], dtype=int8)
    """

    kind: ClassVar[str] = "adversarial"
    probability: Share = 1.0

    def p_first(self, questions: Questions) -> FloatArray:
        """Return P(first) of a judge who is right with probability 1 - probability."""
        return first_choice_probability(questions, 1.0 - self.probability)
