"""Judges that ignore the items: a coin toss, always the first, always the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voirdire.simulate.judges.base import IndependentJudge
from voirdire.simulate.questions import FloatArray, Questions


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
