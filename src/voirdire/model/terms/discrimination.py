"""Sharpness of each judge, with or without a shift towards a position: the BT-sigma family.

Judges who vote and score have one sharpness for both, and the panel one ratio between the scales of votes and scores.
"""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import LogNormal, Normal, Parameter, spread_parameters
from voirdire.model.terms.term import Observations, Reliability, Values


class Discrimination(Reliability):
    """P(first) = sigmoid(a_k d), a_k > 0 (judge-aware Bradley-Terry: arXiv 2602.16610, 2601.21817).

    log a_k ~ Normal(0, sd), with sum-to-zero log a: strengths are then on the scale of the panel's typical
    judge, which separates the scale of a from that of d. A judge that answers at random has a near 0; so has a judge
    that gives the opposite of the others' answers, because a is positive. No mirror.

    Examples
    --------
    >>> [p.name for p in Discrimination().parameters({"sd": 1.0})]
    ['log_discrimination']
    """

    kind: ClassVar[str] = "discrimination"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, one per judge, summing to zero."""
        return (Parameter("log_discrimination", ("judge",), Normal(0.0, prior["sd"]), zero_sum=True),)

    def log_slopes(self, values: Values) -> Array:
        """Return log a_k, which scales differences for judges who vote, shape (..., judges)."""
        return values["log_discrimination"]

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return a_k d."""
        return xp.exp(self.log_slopes(values))[..., judge] * d[..., pair]

    def perceived_strength(self, values: Values, strength: Array, judge: Array, xp: Any) -> Array:
        """Return a_k theta, the strength perceived by a judge who scores."""
        return xp.exp(values["log_discrimination"])[..., judge] * strength

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log sigmoid(+-a_k d), or of +-(a_k d + b_k) with position effects of judges."""
        perceived = self.scaled_difference(values, d, obs.judge, obs.pair, xp)
        if self.position_aware:
            perceived = perceived + values["shift"][..., obs.judge]
        return log_sigmoid((1 - 2 * obs.outcome) * perceived, xp)


class DiscriminationPosition(Discrimination):
    """P(first) = sigmoid(a_k d + b_k): sharpness a_k as above, position shift b_k ~ Normal(0, shift_sd).

    Examples
    --------
    >>> [p.name for p in DiscriminationPosition().parameters({"sd": 1.0, "shift_sd": 1.0})]
    ['log_discrimination', 'shift']
    """

    kind: ClassVar[str] = "discrimination-position"
    position_aware: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "shift_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination`` and ``shift``, one each per judge."""
        return (*super().parameters(prior), Parameter("shift", ("judge",), Normal(0.0, prior["shift_sd"])))


class PooledDiscrimination(Discrimination):
    """Sharpness of judges from a learned population: log a_k ~ Normal(0, t), t ~ Exponential(spread_rate).

    Strengths are on the scale of a judge in the middle of the population. Similar judges share their estimate: t is
    then near 0.

    Examples
    --------
    >>> [p.name for p in PooledDiscrimination().parameters({"spread_rate": 1.0})]
    ['log_discrimination', 'log_discrimination_spread']
    """

    kind: ClassVar[str] = "pooled-discrimination"
    keys: ClassVar[dict[str, str]] = {"spread_rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, one per judge, and ``log_discrimination_spread``."""
        name, spread = "log_discrimination", "log_discrimination_spread"
        return spread_parameters(name, ("judge",), spread, prior["spread_rate"])


class PooledDiscriminationPosition(DiscriminationPosition):
    """As :class:`PooledDiscrimination`, with shifts b_k ~ Normal(0, r), r ~ Exponential(shift_rate).

    Examples
    --------
    >>> [p.name for p in PooledDiscriminationPosition().parameters({"spread_rate": 1.0, "shift_rate": 1.0})][2:]
    ['shift', 'log_shift_spread']
    """

    kind: ClassVar[str] = "pooled-discrimination-position"
    keys: ClassVar[dict[str, str]] = {"spread_rate": "positive", "shift_rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return those of :class:`PooledDiscrimination`, ``shift``, one per judge, and ``log_shift_spread``."""
        return (
            *PooledDiscrimination().parameters(prior),
            *spread_parameters("shift", ("judge",), "log_shift_spread", prior["shift_rate"]),
        )


class Linked(Discrimination):
    """P(first) = sigmoid(m d) in votes, eta = theta - severity_k in scores; log m ~ Normal(0, scale_sd).

    Strengths are in units of the noise of one score. A vote may be noisier (m < 1) or sharper (m > 1) than that, by
    the same factor for the whole panel; items with both votes and scores identify it. Judges differ only in
    their severity. No mirror.

    Examples
    --------
    >>> [p.name for p in Linked().parameters({"scale_sd": 0.5})]
    ['log_vote_scale']
    """

    kind: ClassVar[str] = "linked"
    keys: ClassVar[dict[str, str]] = {"scale_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_vote_scale``, one number."""
        return (Parameter("log_vote_scale", (), Normal(0.0, prior["scale_sd"])),)

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return m d."""
        return xp.exp(values["log_vote_scale"])[..., None] * d[..., pair]

    def perceived_strength(self, values: Values, strength: Array, judge: Array, xp: Any) -> Array:
        """Return the strengths unchanged."""
        return strength


class LinkedDiscrimination(Discrimination):
    """P(first) = sigmoid(m a_k d) in votes, eta = a_k theta - severity_k in scores, with the same a_k > 0.

    log a_k ~ Normal(0, sd) with sum zero over judges (as in :class:`.Discrimination`), log m as in :class:`Linked`.
    Both the votes and the scores of a judge inform a_k.

    Examples
    --------
    >>> [p.name for p in LinkedDiscrimination().parameters({"sd": 0.5, "scale_sd": 0.5})]
    ['log_discrimination', 'log_vote_scale']
    """

    kind: ClassVar[str] = "linked-discrimination"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "scale_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, one per judge, summing to zero, and ``log_vote_scale``."""
        return (*super().parameters(prior), *Linked().parameters(prior))

    def log_slopes(self, values: Values) -> Array:
        """Return log m a_k."""
        return values["log_discrimination"] + values["log_vote_scale"][..., None]


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

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, ``log_vote_scale`` and ``shift``."""
        return (*super().parameters(prior), Parameter("shift", ("judge",), Normal(0.0, prior["shift_sd"])))


class LearnedLinkedPosition(LinkedPosition):
    """As :class:`LinkedPosition`, for models with learned spreads: log a_k with sum zero, log m, and shifts.

    log a_k and log m are estimated by marginal likelihood, like spreads: if they were latent values beside the
    strengths that they scale, the search for spreads would end too early in some tables, and intervals would be too
    narrow. b_k ~ Normal(0, q), q ~ Exponential(shift_rate). In scores eta - kappa_c,l = a_k (theta - severity_k -
    cut_location_c) - (kappa_c,l - cut_location_c), so that strengths have no location: the cutpoints have the location
    of all items of a criterion, for any a_k.

    Examples
    --------
    >>> LearnedLinkedPosition().parameters({"sd": 0.5, "shift_rate": 1.0, "scale_sd": 0.5})[0].prior
    LogNormal(mean=0.0, sd=0.5)
    """

    kind: ClassVar[str] = "learned-linked-position"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "shift_rate": "positive", "scale_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``log_discrimination``, ``log_vote_scale``, ``shift``, one per judge, and ``log_shift_spread``."""
        return (
            Parameter("log_discrimination", ("judge",), LogNormal(0.0, prior["sd"]), zero_sum=True),
            Parameter("log_vote_scale", (), LogNormal(0.0, prior["scale_sd"])),
            *spread_parameters("shift", ("judge",), "log_shift_spread", prior["shift_rate"]),
        )
