"""Judges defined by how often they contradict the truth, however close the two items are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from voirdire.settings import Flag, Share, Size
from voirdire.simulate.judges.base import (
    IndependentJudge,
    Judge,
    first_choice_probability,
    probabilities_without_ties,
)
from voirdire.simulate.questions import FIRST, SECOND, FloatArray, Outcomes, Questions


@dataclass(frozen=True)
class Accuracy(Judge):
    """Gives the true answer except for a share of flipped ones: P(right) = accuracy for every gap.

    With ``exact`` (the default, the synthetic models of MAPLE, section 5.1) exactly
    m = (1 - accuracy) n of the n answers, rounded half up, are flipped: m places are drawn without
    replacement from all the judge's comparisons, of items and of criteria together. Otherwise each
    answer is flipped independently. ``flips`` gives m itself instead of the accuracy. Where the truth
    is a tie, the answer before the flip is a coin toss.

    Violates: in Bradley-Terry, that errors become rare as the gap grows. In one-coin Crowd-BT, MAPLE
    and the two-coin model nothing but the slope: the strengths that fit best are infinitely far apart,
    with eta = accuracy; only the prior keeps them finite. In BT-sigma, as in Bradley-Terry, far pairs
    are misjudged more often than any discrimination a allows. An exact share also makes the
    answers (slightly, negatively) dependent.

    Parameters
    ----------
    accuracy : float from 0 to 1, optional
        The share of right answers; give this or ``flips``.
    exact : bool
        An exact share, or independent flips.
    flips : int, optional
        The exact number of flipped answers.

    Raises
    ------
    InputError
        Accuracy outside [0, 1]; none or both of accuracy and flips; flips with ``exact=False``; and,
        when questions are put, more flips than there are.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
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
        """Exactly one of accuracy and flips; a number of flips is exact by nature."""
        if (self.accuracy is None) == (self.flips is None):
            text = "neither is" if self.accuracy is None else "both are"
            yield f"give either accuracy or flips ({text} given)"
        elif self.flips is not None and not self.exact:
            yield "flips is an exact number; leave out exact = false, or give accuracy instead"

    def flip_count(self, n: int) -> int:
        """Number of n answers that an exact share flips."""
        if self.flips is not None:
            return self.flips
        assert self.accuracy is not None
        # 1 - 0.7 is a little off 0.3: without the margin a half could fall either way.
        return math.floor((1.0 - self.accuracy) * n + 0.5 + 1e-9)

    def question_problems(self, asked: Questions) -> list[str]:
        """More flips than votes."""
        if self.flips is not None and self.flips > len(asked):
            return [
                f"flips is {self.flips}, but this judge gives only {len(asked)} votes;"
                " lower it or give accuracy"
            ]
        return []

    def answer_chances(self, asked: Questions, heard: Mapping[str, FloatArray]) -> FloatArray:
        """The flip rate, marginally over the places that are flipped."""
        p_right = self.accuracy
        if self.exact or p_right is None:
            p_right = 1.0 - self.flip_count(len(asked)) / max(len(asked), 1)
        return probabilities_without_ties(first_choice_probability(asked, p_right))

    def draw_answers(self, asked: Questions, rng: Generator, heard: Mapping[str, Outcomes]) -> Outcomes:
        """The truth, then the flips."""
        n = len(asked)
        outcomes = np.where(asked.gap < 0, SECOND, FIRST).astype(np.int8)
        tied = np.flatnonzero(asked.gap == 0)
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
    """Says the opposite of the truth, always or with a probability, and the truth otherwise.

    P(right) = 1 - probability for every gap. An adversary that opposes an error-prone perception
    instead of the truth is ``OneCoin(eta=0)``.

    Violates: in Bradley-Terry, that every judge's votes pull the right way. One-coin Crowd-BT, MAPLE
    and the two-coin model contain it (eta near 0) and turn its votes round, as long as adversaries are
    not the majority: the likelihood is the same with everything mirrored. BT-sigma needs a negative a.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.questions import Questions
    >>> zero = np.zeros(2)
    >>> asked = Questions(np.array([3.0, -3.0]), zero, zero, zero, np.arange(2))
    >>> Adversarial().draw_answers(asked, np.random.default_rng(0), {})
    array([1, 0], dtype=int8)
    """

    kind: ClassVar[str] = "adversarial"
    probability: Share = 1.0

    def p_first(self, asked: Questions) -> FloatArray:
        """Right with probability 1 - probability."""
        return first_choice_probability(asked, 1.0 - self.probability)
