"""Judges who vote and score: one consistency for both, and one ratio between what a vote and a score are worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.discrimination import Discrimination
from voirdire.model.terms.parameters import Normal, Parameter
from voirdire.model.terms.reliability import Observations, Values


class Linked(Discrimination):
    """P(first) = sigmoid(m d) in votes, eta = theta - severity_k in scores; log m ~ Normal(0, scale_sd).

    Strengths are in units of the noise of one score. A vote may be noisier (m < 1) or sharper (m > 1) than that, by
    the same factor for the whole panel, which items with both votes and scores tell. All judges are alike but for
    their severity. No mirror.

    Examples
    --------
    >>> [p.name for p in Linked().parameters({"scale_sd": 0.5})]
    ['log_vote_scale']
    """

    kind: ClassVar[str] = "linked"
    keys: ClassVar[dict[str, str]] = {"scale_sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_vote_scale``, one number."""
        return (Parameter("log_vote_scale", (), Normal(0.0, prior["scale_sd"])),)

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return m d."""
        return xp.exp(values["log_vote_scale"])[..., None] * d[..., pair]

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return m and 1."""
        return xp.exp(values["log_vote_scale"])[..., None, None], 1.0

    def perceived_strength(self, values: Values, strength: Array, judge: Array, xp: Any) -> Array:
        """Return the strengths, as a score shows them."""
        return strength


class LinkedDiscrimination(Discrimination):
    """P(first) = sigmoid(m a_k d) in votes, eta = a_k theta - severity_k in scores, with the same a_k > 0.

    log a_k ~ Normal(0, sd) with sum zero over judges (as in :class:`.Discrimination`), log m as in :class:`Linked`. A
    judge who both votes and scores is known by both.

    Examples
    --------
    >>> [p.name for p in LinkedDiscrimination().parameters({"sd": 0.5, "scale_sd": 0.5})]
    ['log_discrimination', 'log_vote_scale']
    """

    kind: ClassVar[str] = "linked-discrimination"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "scale_sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "linked": lambda values: {**values, "log_discrimination": 0.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, one per judge, summing to zero, and ``log_vote_scale``."""
        return (*super().parameters(prior), *Linked().parameters(prior))

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return m a_k d."""
        log = values["log_discrimination"][..., judge] + values["log_vote_scale"][..., None]
        return xp.exp(log) * d[..., pair]

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return m a_k and 1."""
        log = values["log_discrimination"] + values["log_vote_scale"][..., None]
        return xp.exp(log)[..., :, None], 1.0


class LinkedPosition(LinkedDiscrimination):
    """P(first) = sigmoid(m a_k d + b_k): as above, with a shift towards a position, b_k ~ Normal(0, shift_sd).

    Examples
    --------
    >>> [p.name for p in LinkedPosition().parameters({"sd": 0.5, "scale_sd": 0.5, "shift_sd": 1.0})]
    ['log_discrimination', 'log_vote_scale', 'shift']
    """

    kind: ClassVar[str] = "linked-position"
    position_aware: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "scale_sd": "positive", "shift_sd": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "linked-discrimination": lambda values: {**values, "shift": 0.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, ``log_vote_scale`` and ``shift``."""
        return (*super().parameters(prior), Parameter("shift", ("judge",), Normal(0.0, prior["shift_sd"])))

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log sigmoid(+-(m a_k d + b_k))."""
        shifted = self.scaled_difference(values, d, obs.judge, obs.pair, xp) + values["shift"][..., obs.judge]
        return log_sigmoid((1 - 2 * obs.outcome) * shifted, xp)
