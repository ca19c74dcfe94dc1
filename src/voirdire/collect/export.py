"""Export of a run's rows as CSV tables whose bytes depend only on the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voirdire.collect.protocol import TABLES, Row
from voirdire.collect.redact import Redactor
from voirdire.folders import write_file

#: Leading columns, in this order; others follow in the order of their first occurrence.
_LEADING_COLUMNS = {
    "votes": ("judge", "criterion", "context", "first", "second", "winner", "run", "phase", "group"),
    "decisions": ("judge", "criterion", "context", "first", "second", "winner", "run", "phase", "group"),
    "criteria": ("judge", "first", "second", "winner", "run"),
    "scores": ("judge", "item", "criterion", "score", "context", "system", "run", "phase", "group"),
    "labels": ("judge", "item", "criterion", "label", "context", "system", "run", "phase", "group"),
    "rankings": ("judge", "criterion", "context", "item", "rank", "run", "phase", "group"),
    "texts": ("judge", "kind", "item", "text", "run", "phase", "group"),
    "missing": ("judge", "key", "reason"),
}


def write_tables(rows: Sequence[Row], folder: Path, hide: Redactor) -> dict[str, int]:
    """Write each table with rows to ``<table>.csv``, and ``missing.csv`` always; keys are redacted.

    A file is replaced atomically, and removed if its table has no rows.

    Returns
    -------
    dict of str to int
        Number of rows by table.

    Examples
    --------
    >>> import tempfile
    >>> row = Row("votes", {"judge": "a", "first": "x", "second": "y", "winner": "first"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counts = write_tables([row], Path(folder), Redactor())
    ...     text = Path(folder, "votes.csv").read_text()
    >>> counts, text
    ({'votes': 1, 'missing': 0}, 'judge,first,second,winner\\na,x,y,first\\n')
    """
    tables: dict[str, list[Mapping[str, Any]]] = {name: [] for name in TABLES}
    for row in rows:
        tables[row.table].append(row.values)
    counts = {}
    for name, values in tables.items():
        path = folder / f"{name}.csv"
        if values or name == "missing":
            counts[name] = len(values)
            write_file(path, _csv_text(values, _LEADING_COLUMNS[name], hide).encode("utf-8", "replace"))
        else:
            path.unlink(missing_ok=True)
    return counts


def write_json(content: Mapping[str, Any], path: Path, hide: Redactor) -> None:
    """Write a JSON file atomically; keys are redacted."""
    write_file(path, json.dumps(hide.redact_value(content), indent=1, allow_nan=False) + "\n")


def _csv_text(rows: Sequence[Mapping[str, Any]], first: Sequence[str], hide: Redactor) -> str:
    present = dict.fromkeys(column for row in rows for column in row)
    columns = [name for name in first if name in present or not rows]
    columns += [name for name in present if name not in first]
    lines = [columns, *([_cell_text(row.get(column)) for column in columns] for row in rows)]
    return "".join(",".join(_quote_cell(hide.redact_text(cell)) for cell in line) + "\n" for line in lines)


def _cell_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=dict)
    return str(value)


def _quote_cell(text: str) -> str:
    # the csv module quotes a carriage return only since Python 3.13
    if any(mark in text for mark in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
