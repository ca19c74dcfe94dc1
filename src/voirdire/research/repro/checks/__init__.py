"""Ways to compute a published figure anew, by the name that claims files use."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from voirdire.research.repro.checks.arithmetic import ARITHMETIC
from voirdire.research.repro.checks.base import Check, Context, Found, NotFetched
from voirdire.research.repro.checks.counts import COUNTS
from voirdire.research.repro.checks.public import PUBLIC
from voirdire.research.repro.checks.studies import STUDIES
from voirdire.research.repro.tables import Table

__all__ = ["CHECKS", "Check", "Context", "Found", "NotFetched", "problems_of"]

CHECKS: dict[str, Check] = {**ARITHMETIC, **COUNTS, **STUDIES, **PUBLIC}


def problems_of(settings: Mapping[str, Any], tables: Mapping[str, Table]) -> list[str]:
    """What is wrong with the settings of a check; nothing is computed.

    Examples
    --------
    >>> problems_of({"kind": "mean"}, {})
    ["check 'mean' needs 'over'"]
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in CHECKS:
        near = difflib.get_close_matches(str(kind), CHECKS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return [f"check {kind!r} is unknown{hint}; known: {', '.join(sorted(CHECKS))}"]
    check = CHECKS[kind]
    found = [f"check {kind!r} needs {key!r}" for key in check.needs if key not in settings]
    takes = (*check.needs, *check.takes)
    found += [
        f"check {kind!r} takes no {key!r}; it takes {', '.join(takes) or 'nothing'}"
        for key in settings
        if key != "kind" and key not in takes
    ]
    table = settings.get("table")
    if table is not None and table not in tables:
        found.append(
            f"check {kind!r}: table {table!r} is unknown or has faults; known: {', '.join(sorted(tables))}"
        )
    return found
