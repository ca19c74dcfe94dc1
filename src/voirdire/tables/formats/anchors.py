"""Known answers of files of tools as tables of anchors: each once, and none that another contradicts."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tables.formats.rows import TABLES, Known, Label, Refused, Score, Vote

if TYPE_CHECKING:
    import pandas as pd

NAME = "anchors"
_COLUMNS: dict[type[Any], tuple[str, ...]] = {
    Vote: ("first", "second", "winner", "criterion", "context"),
    Score: ("item", "score", "criterion", "context", "system"),
    Label: ("item", "label", "criterion", "context"),
}
_ANSWER: dict[type[Any], str] = {Vote: "winner", Score: "score", Label: "label"}


class Anchors:
    """Known answers by what they are about."""

    def __init__(self) -> None:
        self._found: dict[type[Any], dict[tuple[Any, ...], Any]] = {}

    def add(self, known: Known) -> Refused | None:
        """Take a known answer; what contradicts one that is there is refused.

        Examples
        --------
        >>> anchors = Anchors()
        >>> anchors.add(Known("file:2", Label(None, "x", "good")))
        >>> anchors.add(Known("file:9", Label(None, "x", "bad"))).reason
        "the known answer for 'x' is 'bad' here and 'good' before"
        """
        kind = type(known.answer)
        said = getattr(known.answer, _ANSWER[kind])
        about = tuple(getattr(known.answer, name) for name in _COLUMNS[kind] if name != _ANSWER[kind])
        before = self._found.setdefault(kind, {}).setdefault(about, said)
        if before == said:
            return None
        what = about[0] if kind is not Vote else f"{about[0]} or {about[1]}"
        return Refused(known.place, f"the known answer for {what!r} is {said!r} here and {before!r} before")

    @property
    def counts(self) -> dict[str, int]:
        """Known answers by table: ``anchors`` where they are of one kind, else one name a kind."""
        return {self._table_name(kind): len(rows) for kind, rows in self._found.items()}

    def _table_name(self, kind: type[Any]) -> str:
        return NAME if len(self._found) == 1 else f"{NAME}_{TABLES[kind]}"

    def frame(self) -> pd.DataFrame | None:
        """The table of anchors; None where no answer is known.

        Raises
        ------
        InputError
            They are of several kinds, which no one table holds.
        """
        import pandas as pd

        if not self._found:
            return None
        if len(self._found) > 1:
            kinds = " and ".join(TABLES[kind] for kind in self._found)
            raise InputError(
                f"the known answers are {kinds}; `voirdire import` writes each into a table of its own, and "
                "--set questions=a,b reads some of the questions"
            )
        (kind,) = self._found
        columns, rows = self._filled_columns(kind)
        return pd.DataFrame(rows, columns=columns)

    def write(self, folder: Path) -> None:
        """Write the tables into a folder."""
        for kind in self._found:
            columns, rows = self._filled_columns(kind)
            with (folder / f"{self._table_name(kind)}.csv").open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows([columns, *rows])

    def _filled_columns(self, kind: type[Any]) -> tuple[list[str], list[list[Any]]]:
        """Columns that some row fills, and the rows."""
        names, place = _COLUMNS[kind], _COLUMNS[kind].index(_ANSWER[kind])
        rows = [[*about[:place], said, *about[place:]] for about, said in self._found[kind].items()]
        kept = [at for at in range(len(names)) if any(row[at] is not None for row in rows)]
        return [names[at] for at in kept], [[row[at] for at in kept] for row in rows]
