"""Checks that recompute a published figure, by their name in claims files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.settings import ANY, find_faults, unknown_value_message
from voirdire_repro.checks.arithmetic import ARITHMETIC
from voirdire_repro.checks.base import Check, Context, Found, NotFetched
from voirdire_repro.checks.counts import COUNTS
from voirdire_repro.checks.public import PUBLIC
from voirdire_repro.checks.studies import STUDIES
from voirdire_repro.tables import Table

__all__ = ["CHECKS", "Check", "Context", "Found", "NotFetched", "problems_of"]

CHECKS: dict[str, Check] = {**ARITHMETIC, **COUNTS, **STUDIES, **PUBLIC}


def problems_of(settings: Mapping[str, Any], tables: Mapping[str, Table]) -> list[str]:
    """List the faults of the settings of a check, without computing it.

    Examples
    --------
    >>> problems_of({"kind": "mean"}, {})
    ["check 'mean' needs 'over'"]
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in CHECKS:
        return [unknown_value_message("check", kind, sorted(CHECKS))]
    check = CHECKS[kind]
    takes = (*check.needs, *check.takes)
    own = {key: value for key, value in settings.items() if key != "kind"}
    no = f"takes no {{key!r}}; it takes {', '.join(takes) or 'nothing'}"
    wrong = find_faults(own, dict.fromkeys(takes, ANY), check.needs, unknown=no, missing="needs {key!r}")
    faults = [f"check {kind!r} {fault}" for _, fault in wrong]
    table = settings.get("table")
    if table is not None and table not in tables:
        faults.append(f"check {kind!r}: table {table!r} is unknown or has faults; known: {', '.join(sorted(tables))}")
    return faults
