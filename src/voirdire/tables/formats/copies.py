"""Copies among files that are read together: other names or wrappings of the same answers."""

from __future__ import annotations

from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats.rows import Extended


class Copies:
    """The rows of each of several files, kept as one number, to tell files that hold the same.

    Examples
    --------
    >>> copies = Copies()
    >>> for name in ("a.csv", "b.csv"):
    ...     copies.add(("ann", "x", 1))
    ...     copies.end(name)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: file 'b.csv' holds the same answers as 'a.csv', which would count twice; give one of \
them, or, where judges were asked again, a column run
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], str] = {}
        self._rows = self._hash = 0

    def add(self, row: Any) -> None:
        """Take a row of the file that is being read."""
        cells = (*row.row, *row.further.items()) if isinstance(row, Extended) else row
        self._rows += 1
        self._hash = hash((self._hash, *map(str, cells)))

    def end(self, path: str) -> None:
        """Finish a file.

        Raises
        ------
        InputError
            An earlier file has the same rows.
        """
        key = (self._rows, self._hash)
        self._rows = self._hash = 0
        if key[0] and key in self._seen:
            raise InputError(
                f"file {path!r} holds the same answers as {self._seen[key]!r}, which would count twice; give one of "
                "them, or, where judges were asked again, a column run"
            )
        self._seen[key] = path
