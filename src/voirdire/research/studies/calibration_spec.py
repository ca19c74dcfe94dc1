"""What a calibration study's file must say."""

from __future__ import annotations

from typing import Any

METHOD_KEYS = {"laplace": ("draws", "replicates"), "nuts": ("draws", "warmup", "replicates")}
SHAPE = {"judges": 1, "items": 2, "criteria": 1}  # and the least number of each
NO_ORIGIN = {"majority-vote": "votes", "mean-score": "scores", "median-score": "scores"}
TWENTIETHS = 20  # 50, 80 and 90% intervals end at whole ranks where draws + 1 is a multiple


def calibration_problems(settings: dict[str, Any]) -> list[str]:
    """Faults of the settings of a calibration study, one sentence each.

    Examples
    --------
    >>> calibration_problems(
    ...     {
    ...         "models": ["maple"],
    ...         "draws": 99,
    ...         "shape": {"judges": 3, "items": 4, "criteria": 1},
    ...         "methods": {"laplace": {"draws": 998}},
    ...     }
    ... )
    ["methods.laplace: draws is 998; draws + 1 must be a multiple of 100 (the study's draws + 1), e.g. 999"]
    """
    draws = settings["draws"]
    problems = []
    if draws < TWENTIETHS - 1 or (draws + 1) % TWENTIETHS:
        problems.append(f"draws is {draws}; draws + 1 must be a multiple of {TWENTIETHS}, e.g. 99")
    for key, least in SHAPE.items():
        value = settings["shape"].get(key)
        if not _whole(value) or value < least:
            problems.append(f"shape: {key} is {value!r}; must be a whole number from {least}")
    problems += [f"shape: unknown key {key!r}" for key in settings["shape"] if key not in SHAPE]
    if not settings["methods"]:
        problems.append(f"methods is empty; name {' or '.join(METHOD_KEYS)}")
    for method, how in settings["methods"].items():
        problems += _method_problems(method, how, draws)
    problems += [
        f"models: {name} says nothing of how {what} arise, so it has no calibration"
        for name, what in NO_ORIGIN.items()
        if name in settings["models"]
    ]
    return problems


def _method_problems(method: str, how: Any, draws: int) -> list[str]:
    known = METHOD_KEYS.get(method)
    if known is None:
        return [f"methods: {method!r} is none of {', '.join(METHOD_KEYS)}"]
    if not isinstance(how, dict):
        return [f"methods.{method}: must be a table, not {how!r}"]
    problems = [f"methods.{method}: unknown key {key!r}" for key in how if key not in known]
    needed = [key for key in known if key != "replicates"]
    problems += [f"methods.{method}: {key!r} is missing" for key in needed if key not in how]
    problems += [
        f"methods.{method}: {key} is {value!r}; must be a whole number from 1"
        for key, value in how.items()
        if key in known and (not _whole(value) or value < 1)
    ]
    if not problems and (how["draws"] + 1) % (draws + 1):
        near = max(1, round((how["draws"] + 1) / (draws + 1))) * (draws + 1) - 1
        problems.append(
            f"methods.{method}: draws is {how['draws']}; draws + 1 must be a multiple of {draws + 1} "
            f"(the study's draws + 1), e.g. {near}"
        )
    return problems


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
