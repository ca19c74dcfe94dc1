"""Subjects of the rows of tables: names in columns of voirdire's, and further columns that stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voirdire.tables.formats.records import Record
from voirdire.tables.formats.rows import Note, Odd, name_text
from voirdire.tables.formats.source import Source


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
