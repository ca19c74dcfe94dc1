"""Coins of judges who vote: none, one (Crowd-BT's reliability eta), one for each criterion, or one for each position.

Coins by judge and criterion are partially pooled over a judge's criteria.
"""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Normal, Parameter, Population
from voirdire.model.terms.term import (
    Observations,
    Reliability,
    Values,
    log_chosen_probability,
    log_two_coin_probability,
)


class Fixed(Reliability):
    """P(first) = sigmoid(d) for every judge (Bradley and Terry 1952; MAPLE with eta fixed at 1).

    No parameters. The likelihood determines the orientation, so there is no mirror.

    Examples
    --------
    >>> Fixed().parameters({})
    ()
    """

    kind: ClassVar[str] = "fixed"

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log sigmoid(d) or log sigmoid(-d)."""
        return log_chosen_probability(d, obs, xp)


class OneCoin(Reliability):
    """P(first) = eta_k sigmoid(d) + (1 - eta_k) sigmoid(-d), eta_k a coin (Chen et al. 2013; MAPLE eq. 2-4).

    eta_k is the probability that judge k reports the Bradley-Terry outcome rather than its opposite. The
    likelihood is the same at (d, eta) and (-d, 1 - eta): only an asymmetric prior orients it.

    Examples
    --------
    >>> [p.name for p in OneCoin().parameters({"a": 2.0, "b": 1.0, "reversed": 0.1})]
    ['reliability']
    """

    kind: ClassVar[str] = "one-coin"
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive", "reversed": "share"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds of eta), one per judge."""
        return coin_parameters(prior, "reliability")

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        eta = values["reliability"]
        return log_two_coin_probability(eta, eta, obs.judge, d, obs, xp)

    def mirror_values(self, values: Values) -> Values | None:
        """Return eta -> 1 - eta."""
        return {"reliability": -values["reliability"]}


class OneCoinByCriterion(OneCoin):
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
    keys: ClassVar[dict[str, str]] = OneCoin.keys | {"deviation_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds) per judge and ``reliability_deviation`` per judge and criterion."""
        deviation = Normal(0.0, prior["deviation_sd"])
        return (*super().parameters(prior), Parameter("reliability_deviation", ("judge", "criterion"), deviation))

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        base = values["reliability"][..., None]
        table = xp.concatenate([base + values["reliability_deviation"], base], axis=-1)
        table = table.reshape((*table.shape[:-2], -1))
        return log_two_coin_probability(table, table, obs.judge * (obs.criteria + 1) + obs.criterion, d, obs, xp)

    def mirror_values(self, values: Values) -> Values | None:
        """Return eta_kc -> 1 - eta_kc for every criterion."""
        return {name: -values[name] for name in ("reliability", "reliability_deviation")}


class PooledOneCoin(OneCoin):
    """One coin for each judge, from a population with learned mean m and standard deviation t.

    The log-odds x of every judge's coin ~ Normal(m, t) times r + (1 - 2 r) Phi(x), divided by the mean of that, r =
    reversed (:class:`.Population`); m ~ Exponential(mean_rate), t ~ Exponential(spread_rate). See
    :class:`.PooledTwoCoin`.

    Examples
    --------
    >>> prior = {"mean_rate": 0.7, "spread_rate": 1.0, "reversed": 0.1}
    >>> [p.name for p in PooledOneCoin().parameters(prior)]
    ['reliability', 'log_coin_mean', 'log_coin_spread']
    """

    kind: ClassVar[str] = "pooled-one-coin"
    keys: ClassVar[dict[str, str]] = {"mean_rate": "positive", "spread_rate": "positive", "reversed": "share"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``reliability`` (log-odds of eta), one per judge, and the population's parameters."""
        return population_parameters(prior, "reliability")


class TwoCoin(Reliability):
    """P(first) = e1_k sigmoid(d) + (1 - e2_k) sigmoid(-d), two coins for each judge.

    e1 = P(says first | first is better), e2 = P(says second | second is better): the two-coin model of binary
    annotation (Raykar et al. 2010) on top of Bradley-Terry. Reliability (e1 + e2) / 2, informedness e1 + e2 - 1,
    position bias (e1 - e2) / 2. A judge that always picks the first item is e1 = 1, e2 = 0: no information and
    no harm. The mirror is (d, e1, e2) -> (-d, 1 - e2, 1 - e1).

    Examples
    --------
    >>> [p.name for p in TwoCoin().parameters({"a": 2.0, "b": 1.0, "reversed": 0.1})]
    ['coin_first', 'coin_second']
    """

    kind: ClassVar[str] = "two-coin"
    position_aware: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = OneCoin.keys

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``coin_first`` and ``coin_second`` (log-odds), one each per judge."""
        return coin_parameters(prior, "coin_first", "coin_second")

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        return log_two_coin_probability(values["coin_first"], values["coin_second"], obs.judge, d, obs, xp)

    def mirror_values(self, values: Values) -> Values | None:
        """Return (e1, e2) -> (1 - e2, 1 - e1)."""
        return {"coin_first": -values["coin_second"], "coin_second": -values["coin_first"]}


class PooledTwoCoin(TwoCoin):
    """Two coins for each judge, from a population with learned mean m and standard deviation t.

    The log-odds x of both coins of every judge ~ Normal(m, t), independently, times r + (1 - 2 r) Phi(x), divided by
    the mean of that, r = reversed (:class:`.Population`); m ~ Exponential(mean_rate), t ~ Exponential(spread_rate).
    Similar judges share their estimate: t is then near 0.
    With a fixed t, equal judges could only be perfect ones, with log-odds that differ where the data are uninformative,
    and items would be too close together. A panel that answers at random has m near 0.

    Examples
    --------
    >>> prior = {"mean_rate": 0.7, "spread_rate": 1.0, "reversed": 0.1}
    >>> [p.name for p in PooledTwoCoin().parameters(prior)]
    ['coin_first', 'coin_second', 'log_coin_mean', 'log_coin_spread']
    """

    kind: ClassVar[str] = "pooled-two-coin"
    keys: ClassVar[dict[str, str]] = PooledOneCoin.keys

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``coin_first`` and ``coin_second`` (log-odds), one each per judge, and the population's parameters."""
        return population_parameters(prior, "coin_first", "coin_second")


def coin_parameters(prior: dict[str, float], *names: str) -> tuple[Parameter, ...]:
    """Coins of judges (log-odds) with a fixed prior."""
    coin = LogitBeta(prior["a"], prior["b"], prior["reversed"])
    return tuple(Parameter(name, ("judge",), coin) for name in names)


def population_parameters(prior: dict[str, float], *names: str) -> tuple[Parameter, ...]:
    """Coins of judges (log-odds) from a population, and the logarithms of its mean and spread."""
    coin = Population("log_coin_spread", level="log_coin_mean", reversed=prior["reversed"])
    return (
        *(Parameter(name, ("judge",), coin) for name in names),
        Parameter("log_coin_mean", (), LogExponential(prior["mean_rate"])),
        Parameter("log_coin_spread", (), LogExponential(prior["spread_rate"])),
    )
