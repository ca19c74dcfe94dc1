"""How the values of a simpler term become those of one that contains it, by the kinds of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Values = dict[str, Any]
Lift = Callable[[Values], Values]


def with_values(**more: float) -> Lift:
    """A lift that adds values, over those that are there."""
    return lambda values: {**values, **more}


def two_coins(values: Values) -> Values:
    """Both coins of a judge are the one."""
    return {**values, "coin_first": values["reliability"], "coin_second": values["reliability"]}


def shared(values: Values) -> Values:
    """Criteria have nothing in common."""
    more = {"log_spread": 0.0, "general": 0.0 * values["strength"].mean(axis=-2), "log_general_spread": 0.0}
    return {**values, **more}


POPULATION = with_values(log_coin_mean=0.0, log_coin_spread=0.0)
SPREAD = with_values(log_discrimination_spread=0.0)
TIE_HABITS: Mapping[str, Lift] = {
    "davidson": with_values(tie_judge=0.0, log_tie_spread=0.0, log_tie_scale=0.0),
    "davidson-by-judge": with_values(log_tie_spread=0.0, log_tie_scale=0.0),
}

LIFTS: dict[str, Mapping[str, Lift]] = {
    # coins
    "one-coin": {"fixed": with_values(reliability=math.inf)},
    "one-coin-by-criterion": {"one-coin": with_values(reliability_deviation=0.0)},
    "pooled-one-coin": {"one-coin": POPULATION},
    "two-coin": {"one-coin": two_coins},
    "pooled-two-coin": {
        "two-coin": POPULATION,
        "one-coin": lambda values: POPULATION(two_coins(values)),
        "pooled-one-coin": two_coins,
    },
    # sharpness
    "discrimination": {"fixed": with_values(log_discrimination=0.0)},
    "discrimination-position": {"discrimination": with_values(shift=0.0)},
    "pooled-discrimination": {
        "discrimination": SPREAD,
        "fixed": with_values(log_discrimination=0.0, log_discrimination_spread=0.0),
    },
    "pooled-discrimination-position": {
        "pooled-discrimination": with_values(shift=0.0, log_shift_spread=0.0),
        "discrimination-position": with_values(log_discrimination_spread=0.0, log_shift_spread=0.0),
    },
    "linked-discrimination": {"linked": with_values(log_discrimination=0.0)},
    "linked-position": {"linked-discrimination": with_values(shift=0.0)},
    "rater-discrimination": {"alike-raters": with_values(raw_discrimination=1.0)},
    # ties
    "davidson-by-judge": {"davidson": with_values(tie_judge=0.0)},
    "learned-davidson-by-judge": TIE_HABITS,
    "davidson-by-context": {**TIE_HABITS, "learned-davidson-by-judge": with_values()},
    # strengths
    "learned": {"normal": with_values(log_spread=0.0)},
    "learned-scale": {"normal": with_values(log_spread=0.0)},
    "shared-scale": {"normal": shared},
    "divided-scale": {"normal": shared},
    # labels
    "confusion": {
        "confusion-pooled": with_values(confusion_judge=0.0),
        "confusion-separate": with_values(confusion=0.0),
    },
    "confusion-shared": {"confusion": with_values(log_load=-np.inf)},
    "confusion-family": {"confusion": with_values(log_load=-np.inf, common=0.0, common_label=0.0)},
    # cutpoints and people
    "by-judge": {"shared": with_values(shift=0.0, log_gap_judge=0.0)},
    "scoring-person": {"person-as-judge": with_values(log_people=0.0)},
    "normal-person": {"person": with_values()},
}
