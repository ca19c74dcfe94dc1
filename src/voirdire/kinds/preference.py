"""A person's answer to a comparison of two items, by how far these are apart in the unit of scores.

    P(better) = p sigmoid(d / c) + (1 - p) sigmoid(-d / c)

with p the coin of people and c the scale of their noise: 1 of votes and rankings, whose scores are log-odds; of scores
in levels the root of 2, and of scores in points 2^(1/2) n / 1.702, n the noise of a single score, because two are
compared. Where each answer is about another context, in which the difference is Normal(d, v),

    c^2 grows by pi v / 8

(MacKay 1992, Neural Computation 4; 1.702: the logistic function nearest to the normal distribution function, Bowling et
al. 2009). The information that an answer has of d is

    i(d) = (dP/dd)^2 / (P (1 - P)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voirdire.model.specs import Model
from voirdire.model.terms import ANCHORS
from voirdire.model.terms.arrays import logistic_sigmoid
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

TWO_SCORES = float(np.sqrt(2.0))  # scale of the difference of two noises, in that of one
PROBIT = 1.702


@dataclass(frozen=True)
class Preference:
    """Answers of people to comparisons.

    Attributes
    ----------
    coin : float
        Probability that a person means what it sees.
    scale : float
        Of its noise, in the unit of scores.
    """

    coin: float = 1.0
    scale: float = 1.0

    def probability(self, difference: Floats) -> Floats:
        """Probability that the better of two items is preferred.

        Examples
        --------
        >>> Preference().probability(np.array([0.0, 1.0])).round(3).tolist()
        [0.5, 0.731]
        """
        ahead = logistic_sigmoid(np.asarray(difference) / self.scale, np)
        return np.asarray(1.0 - self.coin + (2.0 * self.coin - 1.0) * ahead)

    def information(self, difference: float) -> float:
        """Information that one answer has of a difference.

        Examples
        --------
        >>> Preference().information(0.0), Preference(scale=2.0).information(0.0)
        (0.25, 0.0625)
        """
        p = float(self.probability(np.array(difference)))
        ahead = float(logistic_sigmoid(np.array(difference / self.scale), np))
        slope = (2.0 * self.coin - 1.0) * ahead * (1.0 - ahead) / self.scale
        return slope**2 / max(p * (1.0 - p), 1e-300)

    def over_contexts(self, variance: float) -> Preference:
        """The same where each answer is about another context, over which the difference has this variance."""
        return replace(self, scale=float(np.sqrt(self.scale**2 + np.pi * variance / 8.0)))


def people_reliability(model: Model, values: Values) -> float:
    """Probability that people answer as they see items: by their answers, else as the model expects; 1 without a coin.

    Parameters
    ----------
    model : Model
    values : dict of array
        One draw, or the centre.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> round(people_reliability(load_model("crowd-bt"), {}), 2)
    0.95
    """
    if "anchor" in values:
        return float(logistic_sigmoid(np.asarray(values["anchor"]), np))
    if model.anchors is None or model.anchors.kind not in ANCHORS:
        return 1.0
    return float(logistic_sigmoid(np.array(ANCHORS[model.anchors.kind].expected(model.anchors.numbers)), np))
