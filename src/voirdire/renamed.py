"""Names of the last release, where they are asked for or stand in stored runs: what they name is called now."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_FORMS = ("severity", "discrimination", "position", "maple-position")
MODELS = {f"mixed-{form}": f"joint-{form}" for form in _FORMS}
STUDIES = {"calibration-mixed": "calibration-joint"}
DATA = {"mixed": "joint"}
#: Checks of any kind of data; `mirror` was also what labels called theirs.
CHECKS = {"mirror": "orientation", "split-items": "judge-item-interaction"}
ARRAYS = {"discount": "answer_weight"}


def name_now(name: str, names: Mapping[str, str], what: str) -> str:
    """The name that something has now, with a DeprecationWarning where it had another.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     name_now("mixed-severity", MODELS, "model"), name_now("maple", MODELS, "model")
    ('joint-severity', 'maple')
    >>> str(caught[0].message)
    "model 'mixed-severity' is 'joint-severity' now; the old name goes with the next release"
    """
    if name not in names:
        return name
    warnings.warn(
        f"{what} {name!r} is {names[name]!r} now; the old name goes with the next release",
        DeprecationWarning,
        stacklevel=3,
    )
    return names[name]


def argument_now(value: T, old: str, new: str) -> T:
    """The value of an argument that was given by its old name, with a DeprecationWarning.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     argument_now("page.html", "output", "out")
    'page.html'
    >>> str(caught[0].message)
    'output= is out= now; the old name goes with the next release'
    """
    warnings.warn(
        f"{old}= is {new}= now; the old name goes with the next release", DeprecationWarning, stacklevel=3
    )
    return value


def check_now(name: str, data: str) -> str:
    """The name of a check of a fit of some kind of data.

    Examples
    --------
    >>> check_now("mirror", "votes"), check_now("mirror", "labels"), check_now("rhat", "labels")
    ('orientation', 'label-switching', 'rhat')
    """
    return "label-switching" if (name, data) == ("mirror", "labels") else CHECKS.get(name, name)


def run_now(run: dict[str, Any]) -> dict[str, Any]:
    """What `run.json` of a fit holds, with the names of today."""
    model = run["model"]
    data = DATA.get(model["data"], model["data"])
    name = MODELS.get(model["name"], model["name"])
    if name == "dawid-skene" and model["reliability"]["kind"] == "confusion":
        name = f"hierarchical-{name}"  # today's of that name pools nothing
    reductions = [
        entry | {"model": MODELS.get(entry["model"], entry["model"])} for entry in model["reduces_to"]
    ]
    return run | {
        "model": model | {"name": name, "data": data, "reduces_to": reductions},
        "method_checks": [
            entry | {"check": check_now(entry["check"], data)} for entry in run["method_checks"]
        ],
        "notes": [note.replace(model["name"], name) for note in run["notes"]],
    }


def arrays_now(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a fit by the names of today."""
    return {ARRAYS.get(name, name): value for name, value in arrays.items()}
