"""Specification of a coverage study: checks of its file."""

from __future__ import annotations

from typing import Any

from voirdire.infer.method import METHODS
from voirdire.model.specs import load_model
from voirdire.settings import Rule, find_faults, is_whole

_MUST = "{key} is {value!r}; must be {words}"
_COUNT = Rule("a whole number from 1", lambda v: is_whole(v) and v >= 1, _MUST)
_PAIR = Rule("a whole number from 2", lambda v: is_whole(v) and v >= 2, _MUST)
_NAME = Rule("text", lambda v: isinstance(v, str), _MUST)
_SIZE = Rule("a number above 0", lambda v: isinstance(v, int | float) and v > 0, _MUST)
_NUMBER = Rule("a number", lambda v: isinstance(v, int | float), _MUST)
_SHARE = Rule("a number from 0 to 1", lambda v: isinstance(v, int | float) and 0 <= v <= 1, _MUST)
_PANEL = {
    "name": _NAME, "judges": _COUNT, "items": _PAIR, "votes": _COUNT, "sd": _SIZE, "right": _SHARE, "first": _SHARE,
    "first_share": _SHARE, "coin_mean": _NUMBER, "coin_sd": _SIZE, "contexts": _PAIR, "context_sd": _SIZE,
    "tables": _COUNT, "criteria": _PAIR, "general_share": _SHARE, "criteria_votes": _COUNT,
}  # fmt: skip
COINS = ("two-coin", "pooled-two-coin")
#: Required settings of panels with contexts or criteria, which no prior gives.
_GIVEN = {
    "contexts": ("sd", "coin_mean", "coin_sd", "context_sd"),
    "criteria": ("sd", "coin_mean", "coin_sd", "general_share", "criteria_votes"),
}
_NEEDED = ("name", "judges", "items", "votes")


def coverage_problems(settings: dict[str, Any]) -> list[str]:
    """List the faults of the settings of a coverage study, one sentence each.

    Examples
    --------
    >>> panel = {"name": "two", "judges": 2, "items": 1, "votes": 9}
    >>> coverage_problems({"panels": [panel], "methods": ["auto"], "models": ["crowd-bt-position"]})
    ['panels[0]: items is 1; must be a whole number from 2']
    """
    problems = method_problems(settings["methods"])
    problems += [
        f"models: {name} has no coin per position, which panels are drawn with; name crowd-bt-position"
        for name in [*settings["models"], *([settings["drawn_from"]] if "drawn_from" in settings else [])]
        if load_model(name).reliability.kind not in COINS
    ]
    if settings.get("known_sd") and "drawn_from" not in settings:
        problems.append("known_sd needs drawn_from, the model that a given sd is told; name crowd-bt-position")
    for number, panel in enumerate(settings["panels"]):
        problems += [f"panels[{number}]: {fault}" for _, fault in find_faults(panel, _PANEL, _NEEDED)]
        problems += [
            f"panels[{number}]: {what} need {', '.join(lacking)}, which no prior gives"
            for what, given in _GIVEN.items()
            if what in panel and (lacking := [name for name in given if name not in panel])
        ]
    return problems


def method_problems(methods: list[str]) -> list[str]:
    """Report methods without intervals, one sentence each.

    Examples
    --------
    >>> method_problems(["auto", "laplace"])
    []
    """
    known = [name for name in METHODS if name not in ("map", "adam")]
    return [f"methods: {name!r} is none of {', '.join(known)}" for name in methods if name not in known]
