"""Specification of a calibration study: checks of its file."""

from __future__ import annotations

from typing import Any

from voirdire.model.specs import load_model
from voirdire.settings import Rule, find_faults, is_whole

_MUST = "{key} is {value!r}; must be {words}"
_COUNT = Rule("a whole number from 1", lambda v: is_whole(v) and v >= 1, _MUST)
_PAIR = Rule("a whole number from 2", lambda v: is_whole(v) and v >= 2, _MUST)
METHODS = {
    "laplace": {"draws": _COUNT, "replicates": _COUNT},
    "auto": {"draws": _COUNT, "replicates": _COUNT},
    "nuts": {"draws": _COUNT, "warmup": _COUNT, "replicates": _COUNT},
}
SHAPE = {"judges": _COUNT, "items": _PAIR, "criteria": _COUNT}
MORE = {"contexts": _PAIR}  # for models with contexts
NO_ORIGIN = {"majority-vote": "votes", "mean-score": "scores", "median-score": "scores"}
TWENTIETHS = 20  # 50, 80 and 90% intervals end at whole ranks where draws + 1 is a multiple


def calibration_problems(settings: dict[str, Any]) -> list[str]:
    """List the faults of the settings of a calibration study, one sentence each.

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
    problems += [f"shape: {fault}" for _, fault in find_faults(settings["shape"], SHAPE | MORE, SHAPE)]
    if "contexts" in settings["shape"]:
        problems += [
            f"models: {name} has no contexts, which the shape has"
            for name in settings["models"]
            if load_model(name).context is None
        ]
    if not settings["methods"]:
        problems.append(f"methods is empty; name {' or '.join(METHODS)}")
    for method, how in settings["methods"].items():
        problems += _method_problems(method, how, max(draws, 0))
    problems += [
        f"models: {name} says nothing of how {what} arise, so it has no calibration"
        for name, what in NO_ORIGIN.items()
        if name in settings["models"]
    ]
    return problems


def _method_problems(method: str, how: Any, draws: int) -> list[str]:
    known = METHODS.get(method)
    if known is None:
        return [f"methods: {method!r} is none of {', '.join(METHODS)}"]
    if not isinstance(how, dict):
        return [f"methods.{method}: must be a table, not {how!r}"]
    needed = [key for key in known if key != "replicates"]
    problems = [f"methods.{method}: {fault}" for _, fault in find_faults(how, known, needed)]
    if not problems and (how["draws"] + 1) % (draws + 1):
        near = max(1, round((how["draws"] + 1) / (draws + 1))) * (draws + 1) - 1
        problems.append(
            f"methods.{method}: draws is {how['draws']}; draws + 1 must be a multiple of {draws + 1} "
            f"(the study's draws + 1), e.g. {near}"
        )
    return problems
