"""The verb ``datasets``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.datasets import available, load, overview
from voirdire.errors import InputError
from voirdire.folders import write_file

if TYPE_CHECKING:
    import pandas as pd


def _matching_datasets(typed: str) -> list[str]:
    return [name for name in available() if name.startswith(typed)]


@declare_options()
def datasets(
    name: Annotated[str | None, typer.Argument(autocompletion=_matching_datasets)] = None,
    *,
    folder: Path | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """List the published data sets (name, what, size, licence, cached), or download one and verify it.

    Parameters
    ----------
    name : [NAME]
        Data set to load; prints its licence, citation and table.
    folder : DIR
        Read its files from this folder; download nothing.
    out : DIR
        Write its tables to this folder, as CSV files.
    """

    if name is None:
        if folder is not None or out is not None:
            raise typer.BadParameter("--folder and --out are of one data set: name it")
        rows = overview().to_dict("records")
        console.print_result({"datasets": rows}, json, lambda: _list_datasets(rows))
        return
    data = load(name, folder=folder)
    if out is not None:
        tables = {"": data.table, "-gold": data.gold, "-items": data.items}
        _write_tables({out / f"{name}{part}.csv": table for part, table in tables.items() if table is not None})
    words = ("name", "kind", "description", "licence", "citation", "source")
    card = {word: getattr(data, word) for word in words}
    card |= {"rows": len(data.table), "columns": list(data.table.columns)}
    console.print_result(card, json, lambda: print(console.printable_lines(str(data))), out)


def _write_tables(tables: dict[Path, pd.DataFrame]) -> None:
    """Write tables to new files."""
    existing = [f"{path} exists: remove it, or name another folder with --out" for path in tables if path.exists()]
    if existing:
        raise InputError(existing)
    for path, table in tables.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, table.to_csv(index=False))


def _list_datasets(rows: list[dict[Any, Any]]) -> None:
    heads = {"data set": "name", "what": "what", "size": "size", "licence": "licence"}
    shown = [
        {head: row[key] for head, key in heads.items()} | {"cached": "yes" if row["cached"] else "no"} for row in rows
    ]
    out = console.stdout_console()
    table = console.empty_table()
    out.print(console.fill_table(table, shown, list(shown[0])))
    out.print("\nvoirdire datasets NAME fetches one; --folder DIR takes its files from a folder.")
