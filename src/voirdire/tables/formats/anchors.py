"""Tables of anchors from the known answers in files of tools: each answer once, without contradictions."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tables.formats.rows import TABLES, Known, Label, Refused, Score, Vote

if TYPE_CHECKING:
    import pandas as pd

ANCHORS_TABLE = "anchors"
_COLUMNS: dict[type[Any], tuple[str, ...]] = {
    Vote: ("first", "second", "winner", "criterion", "context"),
    Score: ("item", "score", "criterion", "context", "system"),
    Label: ("item", "label", "criterion", "context"),
}
_ANSWER_COLUMNS: dict[type[Any], str] = {Vote: "winner", Score: "score", Label: "label"}


class Anchors:
    """Known answers by kind of answer and question."""

    def __init__(self) -> None:
        self._found: dict[type[Any], dict[tuple[Any, ...], Any]] = {}

    def add(self, known: Known) -> Refused | None:
        """Add a known answer; refuse an answer that contradicts an earlier one.

        Examples
        --------
        >>> anchors = Anchors()
        >>> anchors.add(Known("file:2", Label(None, "x", "good")))
        >>> anchors.add(Known("file:9", Label(None, "x", "bad"))).reason
        "the known answer for 'x' is 'bad' here and 'good' before"
        """
        kind = type(known.answer)
        answer = getattr(known.answer, _ANSWER_COLUMNS[kind])
        question = tuple(getattr(known.answer, name) for name in _COLUMNS[kind] if name != _ANSWER_COLUMNS[kind])
        known_answer = self._found.setdefault(kind, {}).setdefault(question, answer)
        if known_answer == answer:
            return None
        subject = question[0] if kind is not Vote else f"{question[0]} or {question[1]}"
        return Refused(known.place, f"the known answer for {subject!r} is {answer!r} here and {known_answer!r} before")

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of known answers by table: ``anchors`` if all are of one kind, else one table per kind."""
        return {self._table_name(kind): len(rows) for kind, rows in self._found.items()}

    def _table_name(self, kind: type[Any]) -> str:
        return ANCHORS_TABLE if len(self._found) == 1 else f"{ANCHORS_TABLE}_{TABLES[kind]}"

    def frame(self) -> pd.DataFrame | None:
        """The table of anchors; None if no answer is known.

        Raises
        ------
        InputError
            The known answers are of several kinds; one table holds one kind.
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
        """Columns that are not empty in all rows, and the rows."""
        names, place = _COLUMNS[kind], _COLUMNS[kind].index(_ANSWER_COLUMNS[kind])
        rows = [[*question[:place], answer, *question[place:]] for question, answer in self._found[kind].items()]
        filled = [index for index in range(len(names)) if any(row[index] is not None for row in rows)]
        return [names[index] for index in filled], [[row[index] for index in filled] for row in rows]
