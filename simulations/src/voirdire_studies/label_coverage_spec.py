"""Specification of a study of label panels: checks of its file."""

from __future__ import annotations

from typing import Any

from voirdire.model.specs import load_model
from voirdire.settings import Rule, find_faults, is_whole
from voirdire_studies.coverage_spec import method_problems

_MUST = "{key} is {value!r}; must be {words}"
_PAIR = Rule("a whole number from 2", lambda v: is_whole(v) and v >= 2, _MUST)
_COUNT = Rule("a whole number from 0", lambda v: is_whole(v) and v >= 0, _MUST)
_CLASSES = Rule("2 or 3", lambda v: v in (2, 3), _MUST)
_NAME = Rule("text", lambda v: isinstance(v, str), _MUST)
_SIZE = Rule("a number from 0", lambda v: isinstance(v, int | float) and v >= 0, _MUST)
_SHARE = Rule("a number from 0 to 1", lambda v: isinstance(v, int | float) and 0 <= v <= 1, _MUST)
_INSIDE = Rule("a number between 0 and 1", lambda v: isinstance(v, int | float) and 0 < v < 1, _MUST)
_PANEL = {
    "name": _NAME, "items": _PAIR, "classes": _CLASSES, "honest": _PAIR, "low": _INSIDE, "high": _INSIDE, "hard": _SIZE,
    "copies": _COUNT, "repeated": _SHARE, "family": _COUNT, "together": _SHARE, "family_hard": _SIZE, "biased": _SHARE,
    "families": _COUNT,
}  # fmt: skip
_NEEDED = ("name", "items", "classes", "honest", "low", "high")


def label_coverage_problems(settings: dict[str, Any]) -> list[str]:
    """Faults of the settings, one sentence each.

    Examples
    --------
    >>> panel = {"name": "two", "items": 9, "classes": 5, "honest": 3, "low": 0.6, "high": 0.8}
    >>> label_coverage_problems({"panels": [panel], "methods": ["auto"], "models": ["dawid-skene"]})
    ['panels[0]: classes is 5; must be 2 or 3']
    """
    problems = method_problems(settings["methods"])
    problems += [
        f"models: {name} is not a model of labels, which panels are drawn as"
        for name in settings["models"]
        if load_model(name).classes is None
    ]
    for number, panel in enumerate(settings["panels"]):
        faults = [fault for _, fault in find_faults(panel, _PANEL, _NEEDED)]
        if not faults and panel["low"] > panel["high"]:
            faults.append(f"low is {panel['low']}, above high, {panel['high']}")
        problems += [f"panels[{number}]: {fault}" for fault in faults]
    return problems
