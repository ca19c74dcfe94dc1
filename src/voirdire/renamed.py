"""Names of the last release in runs that it stored: what checks and arrays are called now."""

from __future__ import annotations

from typing import Any

#: Checks of any kind of data; `mirror` was also what labels called theirs.
CHECKS = {"mirror": "orientation", "split-items": "judge-item-interaction"}
ARRAYS = {"discount": "answer_weight"}


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
    data = run["model"]["data"]
    checks = [entry | {"check": check_now(entry["check"], data)} for entry in run["method_checks"]]
    return run | {"method_checks": checks}


def arrays_now(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a fit by the names of today."""
    return {ARRAYS.get(name, name): value for name, value in arrays.items()}
