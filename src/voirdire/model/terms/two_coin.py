"""Two coins per judge: one for each position of the better item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, logistic_sigmoid
from voirdire.model.terms.parameters import LogExponential, LogitBeta, Parameter, Population
from voirdire.model.terms.reliability import Observations, Values, log_two_coin_probability


class TwoCoin:
    """P(first) = e1_k sigmoid(d) + (1 - e2_k) sigmoid(-d), two coins a judge.

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
    keys: ClassVar[dict[str, str]] = {"a": "positive", "b": "positive", "reversed": "share"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "one-coin": lambda values: {
            **values,
            "coin_first": values["reliability"],
            "coin_second": values["reliability"],
        },
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``coin_first`` and ``coin_second`` (log-odds), one each per judge."""
        coin = LogitBeta(prior["a"], prior["b"], prior["reversed"])
        return (Parameter("coin_first", ("judge",), coin), Parameter("coin_second", ("judge",), coin))

    def scaled_difference(self, values: Values, d: Array, judge: Array, pair: Array, xp: Any) -> Array:
        """Return the difference itself."""
        return d[..., pair]

    def log_decided(self, values: Values, d: Array, obs: Observations, xp: Any) -> Array:
        """Return log P(outcome | no tie)."""
        return log_two_coin_probability(values["coin_first"], values["coin_second"], obs.judge, d, obs, xp)

    def worth(self, values: Values, xp: Any) -> tuple[Array, Array]:
        """Return 1 and e1_k + e2_k - 1."""
        e1, e2 = (logistic_sigmoid(values[coin], xp) for coin in ("coin_first", "coin_second"))
        return 1.0, (e1 + e2 - 1.0)[..., :, None]

    def mirror_values(self, values: Values) -> Values | None:
        """Return (e1, e2) -> (1 - e2, 1 - e1)."""
        return {"coin_first": -values["coin_second"], "coin_second": -values["coin_first"]}


class PooledTwoCoin(TwoCoin):
    """Two coins a judge, of a population whose mean m and spread t are learned.

    The log-odds x of both coins of every judge ~ Normal(m, t), independently, times r + (1 - 2 r) Phi(x) over the mean
    of that, r = reversed (:class:`.Population`); m ~ Exponential(mean_rate), t ~ Exponential(spread_rate). Judges who
    are alike are fitted as one: t is then near 0.
    Were t given, equal judges could only be perfect ones, whose log-odds differ where nobody sees it, and items would
    be too close together. A panel that flips coins has m near 0.

    Examples
    --------
    >>> prior = {"mean_rate": 0.7, "spread_rate": 1.0, "reversed": 0.1}
    >>> [p.name for p in PooledTwoCoin().parameters(prior)]
    ['coin_first', 'coin_second', 'log_coin_mean', 'log_coin_spread']
    """

    kind: ClassVar[str] = "pooled-two-coin"
    keys: ClassVar[dict[str, str]] = {"mean_rate": "positive", "spread_rate": "positive", "reversed": "share"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "two-coin": lambda values: {**values, "log_coin_mean": 0.0, "log_coin_spread": 0.0},
        "one-coin": lambda values: {
            **TwoCoin.lifts["one-coin"](values),
            "log_coin_mean": 0.0,
            "log_coin_spread": 0.0,
        },
        "pooled-one-coin": TwoCoin.lifts["one-coin"],
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``coin_first`` and ``coin_second`` (log-odds), one each per judge, and the population's numbers."""
        coin = Population("log_coin_spread", level="log_coin_mean", reversed=prior["reversed"])
        return (
            Parameter("coin_first", ("judge",), coin),
            Parameter("coin_second", ("judge",), coin),
            Parameter("log_coin_mean", (), LogExponential(prior["mean_rate"])),
            Parameter("log_coin_spread", (), LogExponential(prior["spread_rate"])),
        )
