"""Covariates of items: what length, style or own family add to a difference.

Of covariates z of the first and the second item, in standard deviations, judge k perceives

    d + sum_c (slope_c + judge_slope_c,k) (z_first,c - z_second,c),

so that strengths are those of items with equal covariates. Judges have slopes of their own where there are several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import LogExponential, Normal, Parameter, Spread
from voirdire.model.terms.reliability import Values

Part = dict[str, Array]
SHARED = "slope"  # the only one where there is one judge


class Slopes:
    """slope_c ~ Normal(0, sd), judge_slope_c,k ~ Normal(0, judge_sd): log-odds per standard deviation of a covariate.

    Examples
    --------
    >>> [p.dims for p in Slopes().parameters({"sd": 1.5, "judge_sd": 0.3})]
    [('covariate',), ('covariate', 'judge')]
    """

    kind: ClassVar[str] = "slopes"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "judge_sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``slope`` and ``judge_slope``."""
        return (
            Parameter(SHARED, ("covariate",), Normal(0.0, prior["sd"])),
            Parameter("judge_slope", ("covariate", "judge"), Normal(0.0, prior["judge_sd"])),
        )


class LearnedSlopes:
    """slope_c ~ Normal(0, sd), judge_slope_c,k ~ Normal(0, r_c), r_c ~ Exponential(rate) learned.

    Examples
    --------
    >>> [p.name for p in LearnedSlopes().parameters({"sd": 1.5, "rate": 2.0})]
    ['slope', 'judge_slope', 'log_slope_spread']
    """

    kind: ClassVar[str] = "learned-slopes"
    keys: ClassVar[dict[str, str]] = {"sd": "positive", "rate": "positive"}
    lifts: ClassVar[dict[str, Callable[[Values], Values]]] = {
        "slopes": lambda values: {**values, "log_slope_spread": 0.0}
    }

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``slope``, ``judge_slope`` and ``log_slope_spread``."""
        return (
            Parameter(SHARED, ("covariate",), Normal(0.0, prior["sd"])),
            Parameter("judge_slope", ("covariate", "judge"), Spread("log_slope_spread")),
            Parameter("log_slope_spread", ("covariate",), LogExponential(prior["rate"])),
        )


def by_covariates(values: Values, part: Part) -> Array:
    """Effect of covariates on the difference of each pair, shape (pairs,); 0 where there are none.

    Parameters
    ----------
    values : dict of array
    part : dict of array
        ``pair_covariate``, shape (covariates, pairs), and ``pair_judge``, shape (pairs,).
    """
    if SHARED not in values or "pair_covariate" not in part:
        return 0.0
    slope = values[SHARED][..., None]
    if "judge_slope" in values:
        slope = slope + values["judge_slope"][..., part["pair_judge"]]
    return (slope * part["pair_covariate"]).sum(axis=-2)
