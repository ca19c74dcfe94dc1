"""Strengths of items and log weights of criteria."""

from __future__ import annotations

from typing import ClassVar

from voirdire.terms.arrays import Array
from voirdire.terms.parameters import Normal, Parameter


class NormalStrength:
    """theta_c,i ~ Normal(0, sd) with sum zero over the items of each criterion (log-odds scale).

    Only differences enter the likelihood, so the location is fixed by the sum and the prior decides the scale
    alone. A wide prior (sd = 4: two items drawn at random differ by 3.8 in the median) keeps the shrinkage of strengths
    small, which would otherwise make judges look a little more reliable than they are.

    Examples
    --------
    >>> NormalStrength().parameters({"sd": 3.0})[0].dims
    ('criterion', 'item')
    """

    kind: ClassVar[str] = "normal"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item)."""
        return (Parameter("strength", ("criterion", "item"), Normal(0.0, prior["sd"]), zero_sum=True),)


class LevelStrength:
    """theta_c,i ~ Normal(0, sd) on the scale of the scores: from its middle, in parts of its length; no sum is fixed.

    Examples
    --------
    >>> LevelStrength().parameters({"sd": 0.4})[0].zero_sum
    False
    """

    kind: ClassVar[str] = "level"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item)."""
        return (Parameter("strength", ("criterion", "item"), Normal(0.0, prior["sd"])),)


class VotedWeights:
    """Criterion weights learned from votes on the criteria (MAPLE eq. 3, 6): w_c ~ Normal(0, sd), sum zero.

    An item's score is sum_c softmax(w)_c theta_c,i. The judges that vote on criteria keep the coins with which
    they vote on items.

    Examples
    --------
    >>> VotedWeights().parameters({"sd": 1.5})[0].name
    'weight'
    """

    kind: ClassVar[str] = "votes"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``weight`` (log scale), shape (criterion,)."""
        return (Parameter("weight", ("criterion",), Normal(0.0, prior["sd"]), zero_sum=True),)


class UniformWeights:
    """Equal criterion weights (MAPLE with w fixed at 0)."""

    kind: ClassVar[str] = "uniform"
    keys: ClassVar[dict[str, str]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return no parameters."""
        return ()


def difference(strength: Array, criterion: Array, first: Array, second: Array) -> Array:
    """Difference in strength of each pair, theta[c, first] - theta[c, second].

    Parameters
    ----------
    strength : array, shape (criteria, items)
    criterion, first, second : integer arrays, shape (pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> difference(np.array([[1.0, -1.0]]), np.array([0]), np.array([0]), np.array([1]))
    array([2.])
    """
    return strength[criterion, first] - strength[criterion, second]
