"""Rows of tables: what each is about, by names in some columns, and the further columns that stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Extended, Note, Odd, Row, name_text
from voirdire.tables.formats.source import Source


class Subjects:
    """What the rows of a table are about.

    Parameters
    ----------
    source : Source
    places : mapping of str to str
        Columns of voirdire's that name something to those of the file.
    further : mapping of str to str
        Columns that stay as they are, by their names in the table to be.
    """

    def __init__(self, source: Source, places: Mapping[str, str], further: Mapping[str, str]) -> None:
        self._called, self._places, self._further = source.name, places, further
        self._crossed: dict[str, tuple[str, str]] = {}
        self._objects: set[str] = set()
        self.crosses = "item" not in places and {"context", "system"} <= places.keys()

    def names(self, record: Record) -> dict[str, Any]:
        """What a record is about, by voirdire's columns; where no column names items, context and system do.

        Raises
        ------
        Odd
            Another context and system make the same name of an item.

        Examples
        --------
        >>> source = Source("a.csv", "a.csv", "csv", None)
        >>> subjects = Subjects(source, {"context": "prompt", "system": "model"}, {})
        >>> subjects.names({"prompt": "capital of France", "model": "gpt"})["item"]
        'capital of France / gpt'
        """
        about: dict[str, Any] = {
            name: name_text(record.get(column)) or None for name, column in self._places.items()
        }
        if self.crosses:
            context, system = both = about["context"], about["system"]
            about["item"] = None if None in both else f"{context} / {system}"
            if about["item"] and self._crossed.setdefault(about["item"], both) != both:
                raise Odd(
                    f"context {context!r} and system {system!r} make the name {about['item']!r}, as others do; add a "
                    "column item"
                )
        return about

    def extended(self, row: Row, record: Record) -> Row:
        """A row with the further columns of its record, of which objects and lists are left out.

        Examples
        --------
        >>> from voirdire.tables.formats.rows import Score
        >>> subjects = Subjects(Source("a.csv", "a.csv", "csv", None), {}, {"topic": "topic", "turns": "turns"})
        >>> subjects.extended(Score("ann", "x", 1), {"topic": "t", "turns": [1]}).further
        {'topic': 't', 'turns': None}
        """
        cells = {column: record.get(name) for column, name in self._further.items()}
        objects = {column for column, cell in cells.items() if isinstance(cell, list | dict)}
        self._objects |= objects
        return Extended(row, cells | dict.fromkeys(objects)) if cells else row

    def notes(self) -> list[Note]:
        """The note on columns that hold objects, where there are such."""
        names = ", ".join(map(repr, sorted(self._objects)))
        said = f"{self._called}: {names} hold objects or lists, which are no cells of a table: left out"
        return [Note(said)] if names else []
