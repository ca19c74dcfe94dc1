"""The rows of one table: kept, or written while files are read."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.tables.formats.rows import (
    TABLES,
    Extended,
    Refused,
)

if TYPE_CHECKING:
    import pandas as pd

#: Columns of each table, and of what is refused.
COLUMNS: dict[str, tuple[str, ...]] = {name: row._fields for row, name in TABLES.items()} | {
    "refused": Refused._fields
}
_NEEDED = 3  # columns that every row fills
_FLUSH = 50_000


class Rows:
    """The rows of one table, in memory or on their way into a file; columns that no row fills are left out.

    Parameters
    ----------
    name : str
    path : Path, optional
        Where to write; without it all rows are kept.
    """

    def __init__(self, name: str, path: Path | None = None) -> None:
        self.name, self.path, self.count = name, path, 0
        self.fields: list[str] = list(COLUMNS[name])
        self.rows: list[Any] = []
        self._names, self._further = set(self.fields), list[str]()
        self._kept: set[str] = set(self.fields[:_NEEDED])
        self._header: tuple[str, ...] = ()
        self._runs: set[Any] = set()

    def declare(self, names: Sequence[str]) -> None:
        """Have columns, whether or not a row fills them."""
        self.declare_fields(names)
        self._kept = {name for name in self._kept if name != "judge"} | set(names)

    def declare_fields(self, names: Iterable[str]) -> None:
        """Have columns where a row fills them."""
        self.fields += [name for name in names if name not in self.fields]
        self._names, self._further = set(self.fields), self.fields[len(COLUMNS[self.name]) :]

    def add(self, row: Any) -> None:
        """Take one row, perhaps with further columns."""
        self.count += 1
        if isinstance(row, Extended):
            if not self._names.issuperset(row.further):
                self.declare_fields(row.further)
            row = (*row.row, *map(row.further.get, self._further))
        self.rows.append(row)
        if self.path is not None and len(self.rows) >= _FLUSH:
            self.flush()

    def filled(self) -> tuple[str, ...]:
        """The columns that the rows at hand fill, those that are in the file, and those that there are to be."""
        place = self.fields.index("run") if "run" in self.fields and "run" not in self._kept else None
        if place is not None:
            self._runs.update(row[place] for row in self.rows)
        return tuple(
            name
            for at, name in enumerate(self.fields)
            if name in self._kept
            or name in self._header
            or (
                len(self._runs) > 1
                if at == place
                else any(len(row) > at and row[at] is not None for row in self.rows)
            )
        )

    def flush(self) -> None:
        """Write what is at hand; the file is written anew where it lacks a column."""
        if self.path is None or not self.rows:
            return
        columns = self.filled()
        if columns != self._header:
            self._widen(columns)
        places = [self.fields.index(name) for name in columns]
        with self.path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(
                [[row[at] if at < len(row) else None for at in places] for row in self.rows]
            )
        self.rows.clear()

    def _widen(self, columns: tuple[str, ...]) -> None:
        assert self.path is not None
        draft = self.path.with_name(self.path.name + ".draft")
        with draft.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            if self._header:
                fill = dict.fromkeys(columns, "") | ({"run": "1"} if "run" in columns else {})
                with self.path.open(encoding="utf-8", newline="") as old:
                    for row in csv.DictReader(old):
                        writer.writerow((fill | row)[name] for name in columns)
        os.replace(draft, self.path)
        self._header = columns

    def frame(self) -> pd.DataFrame | None:
        """The rows as a dataframe; None where there are none."""
        import pandas as pd

        if not self.rows:
            return None
        width = len(self.fields)
        rows = [(*row, *(None,) * (width - len(row))) for row in self.rows]
        cells = dict(zip(self.fields, zip(*rows, strict=True), strict=True))
        return pd.DataFrame({name: list(cells[name]) for name in self.filled()})
