"""Rows of ``agree`` and ``metaeval`` on stdout: a table for people, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from voirdire.cli import console

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

_ROOM = "humans alone"  # the column that gives way to names


def emit_rows(found: pd.DataFrame, title: str, json: bool, *, partner: bool = True) -> None:
    """Print a result: as JSON ``{"rows": [...]}``, or as a table.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows with the columns of `voirdire.agreement.coefficients.rows.COLUMNS`; others are left out.
    title : str
        The table's heading.
    json : bool
        Whether to print JSON.
    partner : bool
        Whether the table shows the last judge of each row, who is the same throughout where the title names
        them.
    """
    from voirdire.agreement.coefficients.rows import json_rows

    rows = json_rows(found)
    if json:
        console.emit({"rows": rows})
        return
    shown: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("value", lambda row: _number(row["value"])),
        ("interval", _interval),
        ("n", lambda row: f"{row['n']:,}"),
    ]
    _show(rows, title, shown, partner)


def emit_powered(found: pd.DataFrame, title: str, json: bool) -> None:
    """Print estimates with human answers: as JSON ``{"rows": [...]}``, or as a table.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows with the columns of `voirdire.agreement.ppi.rows.POWERED_COLUMNS`.
    title : str
        The table's heading.
    json : bool
        Whether to print JSON.
    """
    from voirdire.agreement.coefficients.rows import json_rows
    from voirdire.agreement.ppi.rows import POWERED_COLUMNS

    rows = json_rows(found, POWERED_COLUMNS)
    if json:
        console.emit({"rows": rows})
        return
    shown: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("value", lambda row: f"{_number(row['value'])} {_interval(row)}".rstrip()),
        (_ROOM, lambda row: _interval(row, "human_")),
        ("humans", lambda row: f"{row['n']:,} of {row['units']:,}"),
        ("worth", lambda row: "" if row["effective_n"] is None else f"{row['effective_n']:,.0f}"),
    ]
    # a table for each measure: beside its name there would be no room for the judges'
    measures = dict.fromkeys(row["measure"] for row in rows)
    for measure in measures:
        _show([row for row in rows if row["measure"] == measure], f"{measure}: {title}", shown, True, False)


def _show(
    rows: list[dict[str, Any]],
    title: str,
    shown: Sequence[tuple[str, Callable[[dict[str, Any]], str]]],
    partner: bool,
    measure: bool = True,
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    optional = [name for name in ("criterion", "level") if len({row[name] for row in rows}) > 1]
    # in 80 columns there is room for the one or for the other
    shown = [(name, cell) for name, cell in shown if not (optional and name == _ROOM)]
    notes = list(dict.fromkeys(row["note"] for row in rows if row["note"]))
    if measure:
        table.add_column("measure", no_wrap=True)
    for name in ("judges", *optional):
        table.add_column(name, overflow="fold")
    for name, _ in shown:
        table.add_column(name, justify="right", no_wrap=True)
    if notes:
        table.add_column("note", justify="right", no_wrap=True)
    for row in rows:
        cells = [
            *([row["measure"]] if measure else []),
            _judges(row["judges"] if partner else row["judges"][:-1]),
            *(row[name] or "" for name in optional),
        ]
        cells += [cell(row) for _, cell in shown]
        cells += [str(notes.index(row["note"]) + 1) if row["note"] else ""] if notes else []
        table.add_row(*(Text(console.plain(str(cell))) for cell in cells))
    out = console.stdout()
    out.print(table)
    for number, note in enumerate(notes, start=1):
        out.print(Text(console.plain(f"{number}: {note}")))


def check_out(out: Path | None, overwrite: bool) -> None:
    """Raise where rows could not be saved, before any work is done."""
    from voirdire.folders import check_new_folder
    from voirdire.report.sources import LAYOUT

    if out is not None:
        check_new_folder(out, LAYOUT, overwrite=overwrite)
    elif overwrite:
        raise typer.BadParameter("--overwrite is for --out")


def keep_rows(
    found: pd.DataFrame, out: Path, kind: str, asked: dict[str, Any], overwrite: bool, json: bool
) -> None:
    """Save rows, as :func:`voirdire.report.sources.save_rows`, and say where."""
    from voirdire.report.sources import save_rows

    save_rows(found, out, kind, asked, overwrite=overwrite)
    console.saved(out, json)


def _judges(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:z.3f}"


def _interval(row: dict[str, Any], of: str = "") -> str:
    low, high = row[f"{of}low"], row[f"{of}high"]
    return "" if low is None else f"[{_number(low)}, {_number(high)}]"
