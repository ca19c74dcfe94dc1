"""Judges that do not look at the items: a coin toss, always the first, always the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from voirdire.simulate.judges.base import IndependentJudge
from voirdire.simulate.questions import FloatArray, Questions


@dataclass(frozen=True)
class Random(IndependentJudge):
    """Tosses a fair coin: P(first) = 1/2 for every pair.

    The random predictor of MAPLE, section 5.3.

    Violates: in Bradley-Terry, that a vote tells something about the items: coin tosses draw the
    strengths together. One-coin Crowd-BT, MAPLE (eta = 1/2), the two-coin model and BT-sigma (a = 0)
    contain it.

    Examples
    --------
    >>> Random().two_coin_values()
    (0.5, 0.5)
    """

    kind: ClassVar[str] = "random"

    def p_first(self, asked: Questions) -> FloatArray:
        """1/2."""
        return np.full(len(asked), 0.5)

    def two_coin_values(self) -> tuple[float, float] | None:
        """Both 1/2."""
        return (0.5, 0.5)


@dataclass(frozen=True)
class AlwaysFirst(IndependentJudge):
    """Chooses the item shown first, whatever it is: P(first) = 1.

    The position-1-biased model of MAPLE, section 5.3.

    Violates: in Bradley-Terry, one-coin Crowd-BT and MAPLE, that the position does not matter. In
    random or swapped order it passes for a coin toss; in a fixed order its votes are one consistent,
    wrong ranking (by item index), and several such judges look like a reliable majority. The two-coin
    model contains it (eta1 = 1, eta2 = 0: no information, no harm), BT-sigma with a shift in the limit
    (a = 0, b to infinity).

    Examples
    --------
    >>> AlwaysFirst().two_coin_values()
    (1.0, 0.0)
    """

    kind: ClassVar[str] = "always-first"

    def p_first(self, asked: Questions) -> FloatArray:
        """1."""
        return np.ones(len(asked))

    def two_coin_values(self) -> tuple[float, float] | None:
        """eta1 = 1, eta2 = 0."""
        return (1.0, 0.0)


@dataclass(frozen=True)
class AlwaysSecond(IndependentJudge):
    """Chooses the item shown second, whatever it is: P(first) = 0.

    The position-2-biased model of MAPLE, section 5.3.

    Violates: as :class:`AlwaysFirst`, with the positions exchanged (eta1 = 0, eta2 = 1).

    Examples
    --------
    >>> AlwaysSecond().two_coin_values()
    (0.0, 1.0)
    """

    kind: ClassVar[str] = "always-second"

    def p_first(self, asked: Questions) -> FloatArray:
        """0."""
        return np.zeros(len(asked))

    def two_coin_values(self) -> tuple[float, float] | None:
        """eta1 = 0, eta2 = 1."""
        return (0.0, 1.0)
