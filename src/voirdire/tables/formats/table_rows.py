"""Rows of one table, kept in memory or written while files are read, and the subjects of rows."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import TABLES, Extended, Note, Odd, Refused, name_text
from voirdire.tables.formats.source import Source

if TYPE_CHECKING:
    import pandas as pd


class Subjects:
    """Reader of the subjects of the rows of a table.

    Parameters
    ----------
    source : Source
    places : mapping of str to str
        Columns of voirdire's that name the subject, to those of the file.
    further : mapping of str to str
        Columns that stay as they are: names in the new table to those in the file.
    """

    def __init__(self, source: Source, places: Mapping[str, str], further: Mapping[str, str]) -> None:
        self._called, self._places, self._further = source.name, places, further
        self._crossed: dict[str, tuple[str, str]] = {}
        self._objects: set[str] = set()
        self.crosses = "item" not in places and {"context", "system"} <= places.keys()

    def names(self, record: Record) -> dict[str, Any]:
        """Names of the subject of a record by voirdire's columns; without items, context and system name the item.

        Raises
        ------
        Odd
            Another pair of context and system gives the same name of an item.

        Examples
        --------
        >>> source = Source("a.csv", "a.csv", "csv", None)
        >>> subjects = Subjects(source, {"context": "prompt", "system": "model"}, {})
        >>> subjects.names({"prompt": "capital of France", "model": "gpt"})["item"]
        'capital of France / gpt'
        """
        subject: dict[str, Any] = {name: name_text(record.get(column)) or None for name, column in self._places.items()}
        if self.crosses:
            context, system = pair = subject["context"], subject["system"]
            subject["item"] = None if None in pair else f"{context} / {system}"
            if subject["item"] and self._crossed.setdefault(subject["item"], pair) != pair:
                raise Odd(
                    f"context {context!r} and system {system!r} make the name {subject['item']!r}, as others do; add a "
                    "column item"
                )
        return subject

    def further(self, record: Record) -> dict[str, Any]:
        """The further cells of a record; None replaces objects and lists.

        Examples
        --------
        >>> subjects = Subjects(Source("a.csv", "a.csv", "csv", None), {}, {"topic": "topic", "turns": "turns"})
        >>> subjects.further({"topic": "t", "turns": [1]})
        {'topic': 't', 'turns': None}
        """
        cells = {column: record.get(name) for column, name in self._further.items()}
        objects = {column for column, cell in cells.items() if isinstance(cell, list | dict)}
        self._objects |= objects
        return cells | dict.fromkeys(objects)

    def notes(self) -> list[Note]:
        """Note on columns that hold objects or lists, if there are any."""
        names = ", ".join(map(repr, sorted(self._objects)))
        sentence = f"{self._called}: {names} hold objects or lists, which are no cells of a table: left out"
        return [Note(sentence)] if names else []


#: Columns of each table, and of the refusals.
COLUMNS: dict[str, tuple[str, ...]] = {name: row._fields for row, name in TABLES.items()} | {"refused": Refused._fields}
_REQUIRED_COLUMNS = 3  # number of first columns that every row fills
_ROWS_PER_PART = 50_000


class Rows:
    """Rows of one table, in memory or written to a file; columns that no row fills are left out.

    Parameters
    ----------
    name : str
    path : Path, optional
        File to write; without it all rows are kept in memory.
    """

    def __init__(self, name: str, path: Path | None = None) -> None:
        self.name, self.path, self.count = name, path, 0
        self.fields: list[str] = list(COLUMNS[name])
        self._rows: list[Any] = []
        self._parts: list[tuple[int, dict[str, list[Any]]]] = []  # rows, by column
        self._filled: set[str] = set()
        self._names, self._further = set(self.fields), list[str]()
        self._kept: set[str] = set(self.fields[:_REQUIRED_COLUMNS])
        self._header: tuple[str, ...] = ()
        self._runs: set[Any] = set()

    def declare_columns(self, names: Sequence[str]) -> None:
        """Add columns that the table has even if no row fills them."""
        self.declare_fields(names)
        self._kept = {name for name in self._kept if name != "judge"} | set(names)

    def declare_fields(self, names: Iterable[str]) -> None:
        """Add columns that the table has if a row fills them."""
        self.fields += [name for name in names if name not in self.fields]
        self._names, self._further = set(self.fields), self.fields[len(COLUMNS[self.name]) :]

    def add(self, row: Any) -> None:
        """Add one row, which may have further columns."""
        self.count += 1
        if isinstance(row, Extended):
            if not self._names.issuperset(row.further):
                self.declare_fields(row.further)
            row = (*row.row, *map(row.further.get, self._further))
        self._rows.append(row)
        if len(self._rows) >= _ROWS_PER_PART:
            self._fold_into_columns()
            if self.path is not None:
                self.flush()

    def _fold_into_columns(self) -> None:
        """Convert the latest rows to columns, which take a tenth of the memory: each text is kept once."""
        if not self._rows:
            return
        width = len(self.fields)
        columns = zip(*[(*row, *(None,) * (width - len(row))) for row in self._rows], strict=True)
        part = {
            name: [intern(cell) if type(cell) is str else cell for cell in cells]
            for name, cells in zip(self.fields, columns, strict=True)
            if name in self._kept or any(cell is not None for cell in cells)
        }
        self._runs.update(part.get("run", [None]))
        self._filled.update(part)
        self._parts.append((len(self._rows), part))
        self._rows.clear()

    def filled_columns(self) -> tuple[str, ...]:
        """Columns that rows fill and declared columns; a column run only for several runs."""
        self._fold_into_columns()
        left_out = {"run"} if len(self._runs) < 2 and "run" not in self._kept else set()
        names = (self._kept | self._filled) - left_out | set(self._header)
        return tuple(name for name in self.fields if name in names)

    def flush(self) -> None:
        """Write the rows in memory; rewrite the file if it lacks a column."""
        columns = self.filled_columns()
        if self.path is None or not self._parts:
            return
        if columns != self._header:
            self._rewrite_with_columns(columns)
        with self.path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            for length, part in self._parts:
                cells = [part.get(name) or [None] * length for name in columns]
                csv.writer(stream, lineterminator="\n").writerows(zip(*cells, strict=True))
        self._parts.clear()

    def _rewrite_with_columns(self, columns: tuple[str, ...]) -> None:
        assert self.path is not None
        draft = self.path.with_name(self.path.name + ".draft")
        with draft.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            if self._header:
                defaults = dict.fromkeys(columns, "") | ({"run": "1"} if "run" in columns else {})
                with self.path.open(encoding="utf-8", newline="") as old:
                    for row in csv.DictReader(old):
                        writer.writerow((defaults | row)[name] for name in columns)
        os.replace(draft, self.path)
        self._header = columns

    def frame(self) -> pd.DataFrame | None:
        """The rows as a dataframe; None if there are none."""
        import pandas as pd

        columns = self.filled_columns()
        if not self._parts:
            return None
        cells = {
            name: list(chain.from_iterable(part.get(name) or [None] * size for size, part in self._parts))
            for name in columns
        }
        try:
            return pd.DataFrame(cells)
        except UnicodeEncodeError:  # a surrogate in a further column, which is refused on use
            return pd.DataFrame(cells, dtype=object)
