"""Judges that follow a model exactly: Bradley-Terry, one coin, two coins, discrimination."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from voirdire.settings import Number, Positive, Share
from voirdire.simulate.judges.base import FloatArray, IndependentJudge, Questions, stable_sigmoid


class _Coins(IndependentJudge):
    """Judge with two coins and Bradley-Terry: P(first) = eta1 s + (1 - eta2) (1 - s), s = sigmoid(scale d)."""

    scale: float

    @abstractmethod
    def _coins(self) -> tuple[float, float]:
        """Return (eta1, eta2)."""

    def p_first(self, questions: Questions) -> FloatArray:
        """Compute eta1 s + (1 - eta2) (1 - s), with s = sigmoid(scale d)."""
        (eta1, eta2), d = self._coins(), self.scale * questions.gap
        return eta1 * stable_sigmoid(d) + (1.0 - eta2) * stable_sigmoid(-d)

    def two_coin_values(self) -> tuple[float, float] | None:
        """Return (eta1, eta2) at scale 1, else None."""
        return self._coins() if self.scale == 1 else None


@dataclass(frozen=True)
class BradleyTerry(_Coins):
    """Bradley-Terry noise: P(first) = sigmoid(scale d).

    Source: Bradley and Terry (1952), Biometrika 39, 324-345. A larger ``scale`` means fewer errors; it also serves
    for strengths on another scale (ranks differ by 1).

    Violated assumptions: none in any of the models at scale 1 (eta = 1 in the coin models, a = 1 in BT-sigma).
    Judges of different scales violate Bradley-Terry and the coin models, which have a common slope, but not
    BT-sigma (a = scale).

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> BradleyTerry().p_first(Questions(np.log([3.0]), zero, zero, zero, np.arange(1))).round(3)
    array([0.75])
    """

    kind: ClassVar[str] = "bradley-terry"
    scale: Positive = 1.0

    def _coins(self) -> tuple[float, float]:
        return 1.0, 1.0


#: Default judge that wrappers wrap.
PLAIN = BradleyTerry()


@dataclass(frozen=True)
class OneCoin(_Coins):
    """One coin and Bradley-Terry: P(first) = eta sigmoid(scale d) + (1 - eta) sigmoid(-scale d).

    Source: Chen, Bennett, Collins-Thompson and Horvitz (2013), Pairwise ranking aggregation in a
    crowdsourced setting, WSDM; the judge of MAPLE eq. 2-4, with one eta for items and criteria.

    Violated assumptions: in Bradley-Terry, that all judges are equally reliable. None in one-coin Crowd-BT,
    MAPLE or the two-coin model (eta1 = eta2 = eta) at scale 1. In BT-sigma, that P(first) tends to
    0 or 1 for large gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> OneCoin(eta=0.9).p_first(Questions(np.log([3.0]), zero, zero, zero, np.arange(1))).round(3)
    array([0.7])
    """

    kind: ClassVar[str] = "one-coin"
    eta: Share
    scale: Positive = 1.0

    def _coins(self) -> tuple[float, float]:
        return self.eta, self.eta


@dataclass(frozen=True)
class TwoCoin(_Coins):
    """One coin for each position: P(first) = eta1 sigmoid(scale d) + (1 - eta2) sigmoid(-scale d).

    eta1 is the probability of the answer first if the first item is (perceived as) better, eta2 that of
    second if the second is. Reliability is (eta1 + eta2) / 2, position bias (eta1 - eta2) / 2. Combines the
    asymmetric coins of Dawid and Skene (1979), Applied Statistics 28, 20-28, with Bradley-Terry.

    Violated assumptions: in Bradley-Terry, one-coin Crowd-BT and MAPLE, that the position of an item does not
    matter, unless eta1 = eta2. None in the two-coin model at scale 1. In BT-sigma, as for :class:`OneCoin`.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> TwoCoin(0.9, 0.5).p_first(Questions(np.log([3.0]), zero, zero, zero, np.arange(1))).round(3)
    array([0.8])
    """

    kind: ClassVar[str] = "two-coin"
    eta1: Share
    eta2: Share
    scale: Positive = 1.0

    def _coins(self) -> tuple[float, float]:
        return self.eta1, self.eta2


@dataclass(frozen=True)
class Discrimination(IndependentJudge):
    """Discrimination and position shift: P(first) = sigmoid(a d + b).

    The discrimination of item response theory (Birnbaum 1968) in paired comparisons: judge-aware
    Bradley-Terry (BT-sigma, arXiv:2602.16610); a may be negative. The shift b is the order effect of
    Davidson and Beaver (1977), Biometrics 33, 693-702.

    Violated assumptions: in Bradley-Terry, a common slope (a = 1) and no position effect (b = 0). In one-coin
    Crowd-BT, MAPLE and the two-coin model, that errors (and position bias, if b is not 0) remain for large
    gaps: this judge errs only at small ones. None in BT-sigma with a shift.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.simulate.judges.base import Questions
    >>> zero = np.zeros(1)
    >>> Discrimination(a=2.0, b=-1.0).p_first(Questions(np.array([0.5]), zero, zero, zero, np.arange(1)))
    array([0.5])
    """

    kind: ClassVar[str] = "discrimination"
    a: Number
    b: Number = 0.0

    def p_first(self, questions: Questions) -> FloatArray:
        """Compute sigmoid(a d + b)."""
        return stable_sigmoid(self.a * questions.gap + self.b)
