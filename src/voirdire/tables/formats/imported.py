"""Imported content of files: tables of answers, known answers, the selected table, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.columns import ANSWER_COLUMNS
from voirdire.tables.formats.long_table import DEFAULT_JUDGE
from voirdire.tables.formats.rows import TABLES, Known, Label, Refused, Vote
from voirdire.tables.formats.table_rows import Rows
from voirdire.tables.problems import names_by_similarity

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


_MAX_SHOWN = 3
#: Remedy for a table with unreadable cells or rows.
_FAULT_REMEDY = "mend it, or take the rest: `voirdire import FILE --out DIR` lists in refused.csv what it leaves out"


@dataclass
class Imported:
    """Content of files of a tool, or of a table with mapped columns.

    Attributes
    ----------
    votes, scores, labels, rankings : DataFrame or None
        The tables; None for a kind without rows.
    anchors : DataFrame or None
        Known correct answers, as ``anchors=`` takes them.
    refused : DataFrame
        Answers that are in no table: place and reason.
    notes : tuple of str
        Notes on the files.
    formats : dict of str to str
        The tool of each file.
    kind : str, optional
        The selected kind of table, if there are several.
    levels : sequence of str, optional
        The possible labels, or the levels of the scores.
    positive : str, optional
        The label that counts as success.
    people : tuple of str
        Judges who are people.
    sets : bool
        If true, cells of labels are sets of labels.
    unnamed : bool
        If true, all answers are those of people, who need not be named.
    """

    rows: dict[str, Rows] = field(repr=False)
    notes: tuple[str, ...]
    formats: dict[str, str]
    order_unknown: bool = False
    kind: str | None = None
    levels: Sequence[str] | None = None
    positive: str | None = None
    people: tuple[str, ...] = ()
    sets: bool = False
    unnamed: bool = False
    faults: tuple[str, ...] = ()
    known: Anchors = field(default_factory=Anchors, repr=False)

    @property
    def anchors(self) -> pd.DataFrame | None:
        """The known answers.

        Raises
        ------
        InputError
            The known answers are of several kinds.
        """
        return self.known.frame()

    @property
    def votes(self) -> pd.DataFrame | None:
        """The votes; with ``table="votes"`` also those of rankings."""
        return self.rows["votes"].frame()

    @property
    def scores(self) -> pd.DataFrame | None:
        """The scores."""
        return self.rows["scores"].frame()

    @property
    def labels(self) -> pd.DataFrame | None:
        """The labels."""
        return self.rows["labels"].frame()

    @property
    def rankings(self) -> pd.DataFrame | None:
        """The rankings, one row per item of a ranking."""
        return self.rows["rankings"].frame()

    @property
    def refused(self) -> pd.DataFrame:
        """Answers that are in no table, with reasons."""
        import pandas as pd

        frame = self.rows["refused"].frame()
        return pd.DataFrame(columns=list(Refused._fields)) if frame is None else frame

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of rows by table."""
        return {name: rows.count for name, rows in self.rows.items() if rows.count} | self.known.counts

    @property
    def kinds(self) -> list[str]:
        """Kinds of the tables, or the selected kind.

        Raises
        ------
        InputError
            The selected kind is missing.
        """
        return self._chosen_kinds([name for name in ANSWER_COLUMNS if self.rows[name].count], self.kind)

    def _chosen_kinds(self, names: list[str], kind: str | None) -> list[str]:
        if kind is not None and kind not in names:
            raise InputError(f"{self.names_of_files} holds {' and '.join(names)}, not {kind}")
        return names if kind is None else [kind]

    @property
    def names_of_files(self) -> str:
        """The files, for a message."""
        return f"file {', '.join(map(repr, self.formats))}"

    @property
    def table(self) -> pd.DataFrame:
        """The only or selected table, without the answers of the judges in `people`.

        Raises
        ------
        InputError
            There are several tables, or cells or rows cannot be read.
        """
        return self._rows_of_judges(self._frame(None))

    def table_of(self, kind: str | None) -> pd.DataFrame:
        """The table of a kind, as `table`."""
        return self._rows_of_judges(self._frame(kind))

    @property
    def answers_of_people(self) -> pd.DataFrame | None:
        """The answers of the judges in `people`, with a column person instead of judge; None if `people` is empty.

        Raises
        ------
        InputError
            A member of `people` is no judge of the table, or all judges are in `people`.
        """
        if not self.people:
            return None
        frame = self._frame(None)
        judges = sorted(set(frame["judge"]))
        if unknown := [name for name in self.people if name not in judges]:
            similar = names_by_similarity(unknown[0], judges)
            raise InputError(
                f"people: {unknown[0]!r} is no judge of the table; its judges are {', '.join(similar[:8])}"
                f"{', ...' if len(judges) > 8 else ''}; people= (--people) names those of them who are people"
            )
        if len(set(self.people)) == len(judges):
            raise InputError("people: all judges of the table are named as people; nobody is left to be judged")
        answers = frame[frame["judge"].isin(self.people)].reset_index(drop=True)
        return answers.rename(columns={"judge": "person"})

    def _frame(self, kind: str | None) -> pd.DataFrame:
        if self.faults:
            raise InputError(self.faults, _FAULT_REMEDY)
        kinds = self._chosen_kinds(self.kinds, kind)
        if len(kinds) > 1:
            raise InputError(
                f"the files hold {' and '.join(kinds)}; take one of them, such as .{kinds[0]} (--table {kinds[0]})"
            )
        frame: pd.DataFrame = getattr(self, kinds[0])
        if self.unnamed and set(frame["judge"]) == {DEFAULT_JUDGE}:
            frame = frame.drop(columns="judge")
        return frame

    def _rows_of_judges(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not self.people:
            return frame
        _ = self.answers_of_people  # raises if a name is no judge
        return frame[~frame["judge"].isin(self.people)].reset_index(drop=True)

    def report_files(self) -> None:
        """Report the format of each file, the notes, and the number of refused answers."""
        for path, tool in self.formats.items():
            if tool != "table":
                give_notice(f"{path} is read as a file of {tool}.")
        for note in self.notes:
            give_notice(note)
        if len(refused := self.refused):
            shown = refused.head(_MAX_SHOWN)
            examples = "; ".join(
                f"{place}: {reason}" for place, reason in zip(shown["place"], shown["reason"], strict=True)
            )
            subject = "1 answer is" if len(refused) == 1 else f"{len(refused):,} answers are"
            give_notice(
                f"{subject} in no table ({examples}{'; ...' if len(refused) > _MAX_SHOWN else ''}); `voirdire import` "
                "lists each with its reason."
            )
