"""Strengths of items and log weights of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Around, AroundBoth, Normal, Parameter, Spread, spread_parameters
from voirdire.model.terms.structure import LogDivided
from voirdire.model.terms.term import Term

STRENGTH_DIMS = ("criterion", "item")


class NormalStrength(Term):
    """theta_c,i ~ Normal(0, sd) with sum zero over the items of each criterion (log-odds scale).

    Only differences enter the likelihood, so that the sum fixes the location and the prior only determines the scale.
    A wide prior (sd = 4: two random items differ by 3.8 in the median) keeps the shrinkage of strengths
    small, which would otherwise make judges look slightly more reliable than they are.

    Examples
    --------
    >>> NormalStrength().parameters({"sd": 3.0})[0].dims
    ('criterion', 'item')
    """

    kind: ClassVar[str] = "normal"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item)."""
        return (Parameter("strength", STRENGTH_DIMS, Normal(0.0, prior["sd"]), zero_sum=True),)


INFORMATION_NOTE = (
    "l = n mean_k(a_k^2 / (pi^2 / (3 r) + exp(log_judge_item_k)^2)) of a cell (criterion and item), n the judges per "
    "cell (of scores) and r the scores per judge and cell, each rounded to 0.1; a_k = 1 where judges are alike, no "
    "log_judge_item where no judge scores an item twice; each human score adds 3 exp(log_people)^2 / pi^2 (3 / pi^2 "
    "without log_people) to its cell; of votes and scores together l has v m^2 mean_k(a_k^2) 3 / pi^2 more, m = "
    "exp(log_vote_scale), v the votes on an item under a criterion on average, rounded to 0.1"
)


class LearnedStrength(Term):
    """theta_c,i ~ Normal(0, exp(log_spread_c)), sum zero over items; log_spread_c ~ Normal(mean, sd).

    The spread of the items of a criterion is learned, in the unit of the judges' discriminations. A fixed spread
    would instead determine the agreement of judges, because their discriminations have a root mean square of one: with
    less agreement, strengths would follow one judge, which would have all the discrimination.

    Examples
    --------
    >>> [p.name for p in LearnedStrength().parameters({"mean": 0.4, "sd": 0.7})]
    ['strength', 'log_spread']
    """

    kind: ClassVar[str] = "learned"
    says: ClassVar[str] = (
        f"log u_c = log s_c - mean over all cells of log(1 + l s_c^2) / 2, s_c = exp(log_spread_c), {INFORMATION_NOTE}"
    )
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item), and ``log_spread``, shape (criterion,)."""
        return (
            Parameter("strength", STRENGTH_DIMS, Spread("log_spread"), zero_sum=True),
            Parameter("log_spread", ("criterion",), Normal(prior["mean"], prior["sd"])),
        )


class LearnedScale(LearnedStrength):
    """theta_c,i ~ Normal(0, s_c), sum zero over items; s_c ~ Exponential(rate), estimated as log_spread_c = log s_c.

    The spread of the items of a criterion, in log-odds, is learned from votes: a fixed scale that is too wide would
    exaggerate small differences between items, and make judges look worse than they are.

    Examples
    --------
    >>> LearnedScale().parameters({"rate": 0.3})[1].prior
    LogExponential(rate=0.3)
    """

    kind: ClassVar[str] = "learned-scale"
    says: ClassVar[str] = "u = s of all whose spread is learned, which is found by its marginal density"
    keys: ClassVar[dict[str, str]] = {"rate": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item), and ``log_spread``, shape (criterion,)."""
        return spread_parameters("strength", STRENGTH_DIMS, "log_spread", prior["rate"], rows=1, zero_sum=True)


class SharedStrength(LearnedScale):
    """theta_c,i ~ Normal(g_i, s_c), g_i ~ Normal(0, s), s and s_c ~ Exponential(rate); all with sum zero over items.

    An item's value common to all criteria is learned together with its value under each: criteria are correlated,
    and a common view of all judges under every criterion is not a judge's taste.

    Examples
    --------
    >>> [p.name for p in SharedStrength().parameters({"rate": 0.3})]
    ['strength', 'log_spread', 'general', 'log_general_spread']
    """

    kind: ClassVar[str] = "shared-scale"
    alone: ClassVar[LearnedScale] = LearnedScale()  # replaces this term with one criterion

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item), ``general``, shape (item,), and the logarithms of spreads."""
        strength, spread = LearnedScale().parameters(prior)
        around = Around("log_spread", level="general")
        general = spread_parameters("general", ("item",), "log_general_spread", prior["rate"], zero_sum=True)
        return (replace(strength, prior=around), spread, *general)


class DividedStrength(SharedStrength):
    """As :class:`SharedStrength`, but s and all s_c are parts of one scale (:class:`.LogDivided`).

    With C criteria M = sqrt(2) (s + sum of s_c) / (C + 1) ~ Exponential(rate), with shares uniform on the simplex: if
    all s and s_c are equal, M is the standard deviation of theta_c, which has this prior with one criterion, too.

    Votes contain much less information about distances between items than about their order: they determine
    (2 eta - 1) theta and a curvature. With independent priors of all s their common scale would have the density of a
    Gamma(C + 1) variable, which favours distant items and judges near chance.

    Examples
    --------
    >>> print(DividedStrength().parameters({"rate": 0.3})[-1].prior)
    log divided Exponential(0.3) with log_spread
    """

    kind: ClassVar[str] = "divided-scale"

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters of :class:`SharedStrength`."""
        *others, general = super().parameters(prior)
        return (*others, replace(general, prior=LogDivided(prior["rate"], others="log_spread")))


class LearnedScaleLevel(LearnedScale):
    """theta_c,i ~ Normal(level_c, s_c), theta_c - level_c with sum zero over items; s_c ~ Exponential(rate).

    Values are relative to the scale of the scores: zero at its middle, unit its length; level_c ~ Normal(0, level_sd).

    Examples
    --------
    >>> [p.name for p in LearnedScaleLevel().parameters({"rate": 3.0, "level_sd": 0.3})]
    ['strength', 'log_spread', 'level']
    """

    kind: ClassVar[str] = "learned-scale-level"
    keys: ClassVar[dict[str, str]] = {"rate": "positive", "level_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item), ``log_spread`` and ``level``, shape (criterion,)."""
        return about_levels(super().parameters(prior), prior)


class SharedStrengthLevel(LearnedScaleLevel):
    """theta_c,i ~ Normal(level_c + g_i, s_c), g_i ~ Normal(0, s), as :class:`SharedStrength` for log-odds.

    g and theta_c - level_c have sum zero over items; s and s_c ~ Exponential(rate), level_c ~ Normal(0, level_sd),
    relative to the scale of the scores: zero at its middle, unit its length.

    Examples
    --------
    >>> [p.name for p in SharedStrengthLevel().parameters({"rate": 3.0, "level_sd": 0.3})]
    ['strength', 'log_spread', 'general', 'log_general_spread', 'level']
    """

    kind: ClassVar[str] = "shared-scale-level"
    alone: ClassVar[LearnedScaleLevel] = LearnedScaleLevel()

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return the parameters of :class:`SharedStrength`, and ``level``, shape (criterion,)."""
        strength, *others, level = about_levels(SharedStrength().parameters(prior), prior)
        around = AroundBoth("log_spread", level="general", rows="level")
        return (replace(strength, prior=around), *others, level)


class LevelStrength(Term):
    """theta_c,i ~ Normal(0, sd) relative to the scores' scale: zero at its middle, unit its length; no sum is fixed.

    Examples
    --------
    >>> LevelStrength().parameters({"sd": 0.4})[0].zero_sum
    False
    """

    kind: ClassVar[str] = "level"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``strength``, shape (criterion, item)."""
        return (Parameter("strength", STRENGTH_DIMS, Normal(0.0, prior["sd"])),)


class VotedWeights(Term):
    """Criterion weights learned from votes on the criteria (MAPLE eq. 3, 6): w_c ~ Normal(0, sd), sum zero.

    An item's score is sum_c softmax(w)_c theta_c,i. Judges have the same coins for votes on criteria as for
    votes on items.

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


class UniformWeights(Term):
    """Equal criterion weights (MAPLE with w fixed at 0)."""

    kind: ClassVar[str] = "uniform"


def about_levels(parameters: Sequence[Parameter], prior: dict[str, float]) -> tuple[Parameter, ...]:
    """Add a mean ``level`` of each criterion to the parameters of strengths."""
    strength, *others = parameters
    level = Parameter("level", ("criterion",), Normal(0.0, prior["level_sd"]))
    return (replace(strength, prior=Spread("log_spread", level="level")), *others, level)


def strength_difference(strength: Array, criterion: Array, first: Array, second: Array) -> Array:
    """Difference in strength of each pair, theta[c, first] - theta[c, second].

    Parameters
    ----------
    strength : array, shape (..., criteria, items)
    criterion, first, second : integer arrays, shape (pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> strength_difference(np.array([[1.0, -1.0]]), np.array([0]), np.array([0]), np.array([1]))
    array([2.])
    """
    return strength[..., criterion, first] - strength[..., criterion, second]
