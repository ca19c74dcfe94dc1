"""One coin per judge and criterion, partially pooled over a judge's criteria."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, logistic_sigmoid
from voirdire.model.terms.parameters import LogitBeta, Normal, Parameter
from voirdire.model.terms.reliability import Observations, Values, log_two_coin_probability


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
