"""Groups of judges: how each scores, and how severe it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voirdire.report.page import Block, Text, isolate_name
from voirdire.report.table import is_missing, make_table

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def groups_section(fit: Fit, result: dict[str, Any]) -> Iterator[Block]:
    """Section on groups: the one that scores highest, and the table."""
    rows = sorted(result["groups"], key=lambda row: -row["mean"])
    yield Text(
        f"{isolate_name(rows[0]['group'])} gives the highest scores, {rows[0]['mean']:.2f} on average; "
        f"{isolate_name(rows[-1]['group'])} the lowest, {rows[-1]['mean']:.2f}.",
        "lead",
    )
    told = not all(is_missing(row.get("severity")) for row in rows)
    yield make_table(
        "groups",
        "Groups of judges, by their mean score",
        rows,
        heads={"votes": "answers", "severity": f"severity ({fit.kind.unit(fit.problem)})"},
        decimals={"mean": 2},
        notes=(
            "The mean averages the group's judges, each judge's scores first"
            + ("; severity is what remains once the items are taken into account." if told else "."),
        ),
    )
