"""Tables of anchors from the known answers in files of tools: each answer once, without contradictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tables.columns import ANSWER_COLUMNS
from voirdire.tables.formats.rows import TABLES, Known, Label, Refused, Vote
from voirdire.tables.formats.table_rows import Rows

if TYPE_CHECKING:
    import pandas as pd

ANCHORS_TABLE = "anchors"


class Anchors:
    """Known answers by kind of answer and question."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._tables: dict[str, Rows] = {}

    def add(self, known: Known) -> Refused | None:
        """Add a known answer; refuse an answer that contradicts an earlier one.

        Examples
        --------
        >>> anchors = Anchors()
        >>> anchors.add(Known("file:2", Label(None, "x", "good")))
        >>> anchors.add(Known("file:9", Label(None, "x", "bad"))).reason
        "the known answer for 'x' is 'bad' here and 'good' before"
        """
        given: Any = known.answer
        kind = TABLES[type(given)]
        if isinstance(given, Label):
            given = given._replace(system=None)
        answer = getattr(given, ANSWER_COLUMNS[kind])
        question = (kind, *given._replace(**{ANSWER_COLUMNS[kind]: None}))
        if question not in self._answers:
            table = self._tables.setdefault(kind, Rows(kind))
            table.declare_columns(())  # without judges
            table.add(given)
        known_answer = self._answers.setdefault(question, answer)
        if known_answer == answer:
            return None
        subject = f"{given.first} or {given.second}" if isinstance(given, Vote) else given.item
        return Refused(known.place, f"the known answer for {subject!r} is {answer!r} here and {known_answer!r} before")

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of known answers by table: ``anchors`` if all are of one kind, else one table per kind."""
        return {self._table_name(kind): table.count for kind, table in self._tables.items()}

    def _table_name(self, kind: str) -> str:
        return ANCHORS_TABLE if len(self._tables) == 1 else f"{ANCHORS_TABLE}_{kind}"

    def frame(self) -> pd.DataFrame | None:
        """The table of anchors; None if no answer is known.

        Raises
        ------
        InputError
            The known answers are of several kinds; one table holds one kind.
        """

        if len(self._tables) > 1:
            raise InputError(
                f"the known answers are {' and '.join(self._tables)}; `voirdire import` writes each into a table of "
                "its own, and --set questions=a,b reads some of the questions"
            )
        return next((table.frame() for table in self._tables.values()), None)

    def write(self, folder: Path) -> None:
        """Write the tables into a folder."""
        for kind, table in self._tables.items():
            frame: Any = table.frame()
            frame.to_csv(folder / f"{self._table_name(kind)}.csv", index=False, lineterminator="\n")
