"""Rows of ``agree`` and ``metaeval`` on stdout: a table for people, or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.cli import console

if TYPE_CHECKING:
    import pandas as pd


def emit_rows(found: pd.DataFrame, title: str, json: bool, *, partner: bool = True) -> None:
    """Print a result: as JSON ``{"rows": [...]}``, or as a table.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows with the columns of `voirdire.agree.rows.COLUMNS`; others are left out.
    title : str
        The table's heading.
    json : bool
        Whether to print JSON.
    partner : bool
        Whether the table shows the last judge of each row, who is the same throughout where the title names
        them.
    """
    from voirdire.agree.rows import json_rows

    rows = json_rows(found)
    if json:
        console.emit({"rows": rows})
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    optional = [name for name in ("criterion", "level") if len({row[name] for row in rows}) > 1]
    notes = list(dict.fromkeys(row["note"] for row in rows if row["note"]))
    table.add_column("measure", no_wrap=True)
    for name in ("judges", *optional):
        table.add_column(name, overflow="fold")
    for name in ("value", "interval", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    if notes:
        table.add_column("note", justify="right", no_wrap=True)
    for row in rows:
        cells = [
            row["measure"],
            _judges(row["judges"] if partner else row["judges"][:-1]),
            *(row[name] or "" for name in optional),
        ]
        cells += [_number(row["value"]), _interval(row), f"{row['n']:,}"]
        cells += [str(notes.index(row["note"]) + 1) if row["note"] else ""] if notes else []
        table.add_row(*(Text(console.plain(str(cell))) for cell in cells))
    out = console.stdout()
    out.print(table)
    for number, note in enumerate(notes, start=1):
        out.print(Text(console.plain(f"{number}: {note}")))


def _judges(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:z.3f}"


def _interval(row: dict[str, Any]) -> str:
    return "" if row["low"] is None else f"[{_number(row['low'])}, {_number(row['high'])}]"
