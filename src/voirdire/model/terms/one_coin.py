"""One coin per judge: Crowd-BT's reliability eta.

Fixed reliability: every judge answers by Bradley-Terry.

One coin per judge and criterion, partially pooled over a judge's criteria.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, logistic_sigmoid
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Normal, Parameter, Population
from voirdire.model.terms.reliability import (
    Observations,
    Values,
    log_chosen_probability,
    log_two_coin_probability,
)


class Fixed:
    """P(first) = sigmoid(d) for every judge (Bradley and Terry 1952; MAPLE with eta fixed at 1).

    No parameters. Orientation is given by the likelihood, so there is no mirror.

    Examples
    --------
    >>> Fixed().parameters({})
    ()
    """

    kind: ClassVar[str] = "fixed"
    position_aware: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return no parameters."""
        return ()

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference itself."""
        return d[..., pair]

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log sigmoid(d) or log sigmoid(-d)."""
        return log_chosen_probability(d, obs, xp)

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return ones."""
        return 1.0, 1.0

    def mirror_values(self, values: Values) -> Values | None:
        """Return None: the likelihood changes with the sign of the strengths."""
        return None


class OneCoinByCriterion:
    """As one-coin, with logit eta_kc = logit eta_k + delta_kc.

    eta_k is the judge's typical reliability, delta_kc ~ Normal(0, deviation_sd) its deviation under
    criterion c. Votes on the criteria themselves use eta_k. The mirror flips eta_k and every delta_kc.

    Examples
    --------
    >>> prior = {"a": 2.0, "b": 1.0, "reversed": 0.1, "deviation_sd": 0.5}
    >>> [p.dims for p in OneCoinByCriterion().parameters(prior)]
    [('judge',), ('judge', 'criterion')]
    """

    kind: ClassVar[str] = "one-coin-by-criterion"
    position_aware: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {
        "a": "positive",
        "b": "positive",
        "reversed": "share",
        "deviation_sd": "positive",
    }
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "one-coin": lambda values: {**values, "reliability_deviation": 0.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds) per judge and ``reliability_deviation`` per judge and criterion."""
        return (
            Parameter("reliability", ("judge",), LogitBeta(prior["a"], prior["b"], prior["reversed"])),
            Parameter("reliability_deviation", ("judge", "criterion"), Normal(0.0, prior["deviation_sd"])),
        )

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference itself."""
        return d[..., pair]

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        base = values["reliability"][..., None]
        table = xp.concatenate([base + values["reliability_deviation"], base], axis=-1)
        table = table.reshape((*table.shape[:-2], -1))
        return log_two_coin_probability(
            table, table, obs.judge * (obs.criteria + 1) + obs.criterion, d, obs, xp
        )

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return 1 and 2 eta_kc - 1."""
        log_odds = values["reliability"][..., :, None] + values["reliability_deviation"]
        return 1.0, 2.0 * logistic_sigmoid(log_odds, xp) - 1.0

    def mirror_values(self, values: Values) -> Values | None:
        """Return eta_kc -> 1 - eta_kc for every criterion."""
        return {name: -values[name] for name in ("reliability", "reliability_deviation")}


class OneCoin:
    """P(first) = eta_k sigmoid(d) + (1 - eta_k) sigmoid(-d), eta_k a coin (Chen et al. 2013; MAPLE eq. 2-4).

    eta_k is the probability that judge k reports what Bradley-Terry says rather than its opposite. The
    likelihood is the same at (d, eta) and (-d, 1 - eta): only a prior that leans to one half orients it.

    Examples
    --------
    >>> [p.name for p in OneCoin().parameters({"a": 2.0, "b": 1.0, "reversed": 0.1})]
    ['reliability']
    """

    kind: ClassVar[str] = "one-coin"
    position_aware: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive", "reversed": "share"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "fixed": lambda values: {**values, "reliability": math.inf},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds of eta), one per judge."""
        return (Parameter("reliability", ("judge",), LogitBeta(prior["a"], prior["b"], prior["reversed"])),)

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference itself."""
        return d[..., pair]

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        eta = values["reliability"]
        return log_two_coin_probability(eta, eta, obs.judge, d, obs, xp)

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return 1 and 2 eta_k - 1."""
        return 1.0, (2.0 * logistic_sigmoid(values["reliability"], xp) - 1.0)[..., :, None]

    def mirror_values(self, values: Values) -> Values | None:
        """Return eta -> 1 - eta."""
        return {"reliability": -values["reliability"]}


class PooledOneCoin(OneCoin):
    """One coin a judge, of a population whose mean m and spread t are learned.

    The log-odds x of every judge's coin ~ Normal(m, t) times r + (1 - 2 r) Phi(x) over the mean of that, r = reversed
    (:class:`.Population`); m ~ Exponential(mean_rate), t ~ Exponential(spread_rate). See :class:`.PooledTwoCoin`.

    Examples
    --------
    >>> prior = {"mean_rate": 0.7, "spread_rate": 1.0, "reversed": 0.1}
    >>> [p.name for p in PooledOneCoin().parameters(prior)]
    ['reliability', 'log_coin_mean', 'log_coin_spread']
    """

    kind: ClassVar[str] = "pooled-one-coin"
    keys: ClassVar[dict[str, str]] = {"mean_rate": "positive", "spread_rate": "positive", "reversed": "share"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "one-coin": lambda values: {**values, "log_coin_mean": 0.0, "log_coin_spread": 0.0},
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds of eta), one per judge, and the population's numbers."""
        coin = Population("log_coin_spread", level="log_coin_mean", reversed=prior["reversed"])
        return (
            Parameter("reliability", ("judge",), coin),
            Parameter("log_coin_mean", (), LogExponential(prior["mean_rate"])),
            Parameter("log_coin_spread", (), LogExponential(prior["spread_rate"])),
        )
