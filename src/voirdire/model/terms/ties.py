"""Ties by Davidson's model, with one propensity for all judges or a habit of each judge."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from voirdire.model.terms.arrays import Array, log_sigmoid
from voirdire.model.terms.parameters import Normal, Parameter, spread_parameters
from voirdire.model.terms.term import Term, Values

LOG_TWO = math.log(2.0)


class Davidson(Term):
    """One tie propensity for the panel: log nu ~ Normal(mean, sd) (Davidson 1970).

    P(tie) = nu / (nu + 2 cosh(d/2)), and Bradley-Terry given no tie: the usual form with
    nu sqrt(p_i p_j) in the numerator, factored. It depends only on |d|, so that ties carry no direction and coins
    apply only to decided votes.

    Examples
    --------
    >>> [p.name for p in Davidson().parameters({"mean": 0.0, "sd": 2.0})]
    ['tie']
    """

    kind: ClassVar[str] = "davidson"
    says: ClassVar[str] = (
        "only in tables that have ties; then every vote of a judge, on items or on criteria, has the factor P(tie) or "
        "P(no tie) = 1 - P(tie), of the difference d that the judge perceives (a_k d under a sharpness, without shift)"
    )
    by_judge: ClassVar[bool] = False
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``tie`` (log nu)."""
        return (Parameter("tie", (), Normal(prior["mean"], prior["sd"])),)

    def log_tie_propensity(self, values: Values, judge: Array) -> Array:
        """Return log nu of each judge in the index array: the panel's, shape (..., 1)."""
        return values["tie"][..., None]


class DavidsonByJudge(Davidson):
    """A tie habit of each judge: log nu_k = tie + tie_judge_k, tie_judge_k ~ Normal(0, judge_sd).

    Examples
    --------
    >>> [p.dims for p in DavidsonByJudge().parameters({"mean": 0.0, "sd": 2.0, "judge_sd": 1.0})]
    [(), ('judge',)]
    """

    kind: ClassVar[str] = "davidson-by-judge"
    by_judge: ClassVar[bool] = True
    keys: ClassVar[dict[str, str]] = {"mean": "number", "sd": "positive", "judge_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``tie`` (log nu of the typical judge) and each judge's deviation ``tie_judge``."""
        return (*super().parameters(prior), Parameter("tie_judge", ("judge",), Normal(0.0, prior["judge_sd"])))

    def log_tie_propensity(self, values: Values, judge: Array) -> Array:
        """Return log nu_k."""
        return values["tie"][..., None] + values["tie_judge"][..., judge]


class LearnedDavidsonByJudge(DavidsonByJudge):
    """A learned scale of ties, and a tie habit of each judge with a learned spread.

    P(tie) / P(no tie) = (nu / 2) cosh(d / 2)^-tie_scale with log tie_scale ~ Normal(scale_mean, scale_sd): 1 is
    Davidson's model; near 0 ties are given whatever the items are, and so say nothing of them. This is the
    generalised Davidson model of BradleyTerry2 (Turner and Firth 2012, Journal of Statistical Software 48(9)) with most
    ties between equal items. tie_judge_k ~ Normal(0, r), r ~ Exponential(rate).

    Examples
    --------
    >>> prior = {"mean": 0.0, "sd": 2.0, "scale_mean": -0.5, "scale_sd": 1.0, "rate": 1.0}
    >>> [p.name for p in LearnedDavidsonByJudge().parameters(prior)]
    ['tie', 'log_tie_scale', 'tie_judge', 'log_tie_spread']
    """

    kind: ClassVar[str] = "learned-davidson-by-judge"
    keys: ClassVar[dict[str, str]] = {
        **Davidson.keys,
        "scale_mean": "number",
        "scale_sd": "positive",
        "rate": "positive",
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``tie``, ``log_tie_scale``, ``tie_judge`` and ``log_tie_spread``."""
        return (
            *Davidson().parameters(prior),
            Parameter("log_tie_scale", (), Normal(prior["scale_mean"], prior["scale_sd"])),
            *spread_parameters("tie_judge", ("judge",), "log_tie_spread", prior["rate"]),
        )


class DavidsonByContext(LearnedDavidsonByJudge):
    """Tie habits of judges, of contexts, of judges in contexts and of items, each with a learned spread.

    log nu = tie + tie_judge_k + tie_context_x + tie_judge_context_k,x + tie_item_first + tie_item_second, each
    Normal(0, r) with r ~ Exponential(its rate). Tables without contexts have only the first two terms. The habits of
    judges in contexts require two votes of a judge in a context on average, to be separated from chance.

    Examples
    --------
    >>> DavidsonByContext.keys["context_rate"]
    'positive'
    """

    kind: ClassVar[str] = "davidson-by-context"
    keys: ClassVar[dict[str, str]] = LearnedDavidsonByJudge.keys | dict.fromkeys(
        ("context_rate", "judge_context_rate", "item_rate"), "positive"
    )


def log_tie_parts(propensity: Array, d: Array, xp: Any, scale: Array | float = 1.0) -> tuple[Array, Array]:
    """Logarithms of P(tie) and P(no tie) = 1 - P(tie), with P(tie) / P(no tie) = (nu / 2) cosh(d / 2)^-scale.

    The scale 1 gives Davidson's model; with 0 ties do not depend on the difference.

    Parameters
    ----------
    propensity : array
        log nu, aligned with ``d``.
    d : array
        Difference in strength (log-odds).
    xp : module
    scale : array or float

    Examples
    --------
    >>> import numpy as np
    >>> for scale in (1.0, 0.0):
    ...     tie, no_tie = log_tie_parts(np.array(np.log(2.0)), np.array([0.0, 3.0]), np, scale)
    ...     print(np.exp(tie).round(3), np.exp(no_tie).round(3))
    [0.5   0.298] [0.5   0.702]
    [0.5 0.5] [0.5 0.5]
    """
    half = 0.5 * abs(d)
    log_cosh = half + xp.log1p(xp.exp(-2.0 * half)) - LOG_TWO
    odds = propensity - LOG_TWO - scale * log_cosh
    return log_sigmoid(odds, xp), log_sigmoid(-odds, xp)


def tie_scale(values: Values, xp: Any) -> Array | float:
    """Scale of ties, shape (..., 1), or 1 for models without."""
    return xp.exp(values["log_tie_scale"])[..., None] if "log_tie_scale" in values else 1.0
