"""Content of files: tables of answers, which of them is meant, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.columns import ANSWER_COLUMNS
from voirdire.tables.formats.anchors import Anchors
from voirdire.tables.formats.long_table import NAMELESS
from voirdire.tables.formats.rows import Refused
from voirdire.tables.formats.table_rows import Rows
from voirdire.tables.problems import names_by_similarity

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 3
#: What can be done about a table in which something cannot be read, beside mending it.
_TAKE_THE_REST = (
    "mend it, or take the rest: `voirdire import FILE --out DIR` lists in refused.csv what it leaves out"
)


@dataclass
class Imported:
    """Content of files of a tool, or of a table whose columns were named.

    Attributes
    ----------
    votes, scores, labels, rankings : DataFrame or None
        The tables that there are.
    anchors : DataFrame or None
        Answers that are known to be right, as ``anchors=`` takes them.
    refused : DataFrame
        Answers that are in no table: file, place and reason.
    notes : tuple of str
        What else is to be said of the files.
    formats : dict of str to str
        The tool of each file.
    kind : str, optional
        Which table is meant, where there are several.
    levels : sequence of str, optional
        The labels there may be, or the levels of the scores.
    positive : str, optional
        The label that is a success.
    people : tuple of str
        Judges who are people.
    sets : bool
        Whether cells of labels are sets of labels.
    unnamed : bool
        Whether all answers are people's, who need not be named.
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
            They are of several kinds.
        """
        return self.known.frame()

    @property
    def votes(self) -> pd.DataFrame | None:
        """The votes; those of rankings, too, where votes are asked for."""
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
        """The rankings, one row an item of a ranking."""
        return self.rows["rankings"].frame()

    @property
    def refused(self) -> pd.DataFrame:
        """Answers that are in no table, and why."""
        import pandas as pd

        found = self.rows["refused"].frame()
        return pd.DataFrame(columns=list(Refused._fields)) if found is None else found

    @property
    def counts(self) -> dict[str, int]:
        """Rows by table."""
        return {name: rows.count for name, rows in self.rows.items() if rows.count} | self.known.counts

    @property
    def kinds(self) -> list[str]:
        """Tables that there are, or the one that is meant.

        Raises
        ------
        InputError
            The one that is meant is not there.
        """
        return self._chosen_kinds([name for name in ANSWER_COLUMNS if self.rows[name].count], self.kind)

    def _chosen_kinds(self, names: list[str], kind: str | None) -> list[str]:
        if kind is not None and kind not in names:
            raise InputError(f"{self.called} holds {' and '.join(names)}, not {kind}")
        return names if kind is None else [kind]

    @property
    def called(self) -> str:
        """The files, for a message."""
        return f"file {', '.join(map(repr, self.formats))}"

    @property
    def table(self) -> pd.DataFrame:
        """The one table that there is or that is meant, without the answers of people who were named.

        Raises
        ------
        InputError
            There are several, or something in a table cannot be read.
        """
        return self._rows_of_judges(self._frame(None))

    def table_of(self, kind: str | None) -> pd.DataFrame:
        """As `table`, of a kind."""
        return self._rows_of_judges(self._frame(kind))

    @property
    def answers_of_people(self) -> pd.DataFrame | None:
        """The answers of people who were named, with a column person in the place of judge; None where none was.

        Raises
        ------
        InputError
            One of them is no judge of the table.
        """
        if not self.people:
            return None
        frame = self._frame(None)
        judges = sorted(set(frame["judge"]))
        if strange := [name for name in self.people if name not in judges]:
            near = names_by_similarity(strange[0], judges)
            raise InputError(
                f"people: {strange[0]!r} is no judge of the table; its judges are {', '.join(near[:8])}"
                f"{', ...' if len(judges) > 8 else ''}; people= (--people) names those of them who are people"
            )
        if len(set(self.people)) == len(judges):
            raise InputError(
                "people: all judges of the table are named as people; nobody is left to be judged"
            )
        own = frame[frame["judge"].isin(self.people)].reset_index(drop=True)
        return own.rename(columns={"judge": "person"})

    def _frame(self, kind: str | None) -> pd.DataFrame:
        if self.faults:
            raise InputError(self.faults, _TAKE_THE_REST)
        kinds = self._chosen_kinds(self.kinds, kind)
        if len(kinds) > 1:
            raise InputError(
                f"the files hold {' and '.join(kinds)}; take one of them, such as .{kinds[0]} (--table {kinds[0]})"
            )
        frame: pd.DataFrame = getattr(self, kinds[0])
        if self.unnamed and set(frame["judge"]) == {NAMELESS}:
            frame = frame.drop(columns="judge")
        return frame

    def _rows_of_judges(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not self.people:
            return frame
        _ = self.answers_of_people  # says who of them is no judge
        return frame[~frame["judge"].isin(self.people)].reset_index(drop=True)

    def say(self) -> None:
        """Say what was read as what, what else there is to be said, and how many answers are in no table."""
        for path, tool in self.formats.items():
            if tool != "table":
                give_notice(f"{path} is read as a file of {tool}.")
        for note in self.notes:
            give_notice(note)
        if len(refused := self.refused):
            shown = refused.head(_SHOWN)
            first = "; ".join(
                f"{place}: {why}" for place, why in zip(shown["place"], shown["reason"], strict=True)
            )
            are = "1 answer is" if len(refused) == 1 else f"{len(refused):,} answers are"
            give_notice(
                f"{are} in no table ({first}{'; ...' if len(refused) > _SHOWN else ''}); `voirdire import` lists each "
                "with its reason."
            )
