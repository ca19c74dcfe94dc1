"""Files of tools as tables: read into memory, or written while they are read."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import notice
from voirdire.tables.columns import ANSWERS
from voirdire.tables.formats.anchors import Anchors
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.frames import opened_frame
from voirdire.tables.formats.long_table import NAMELESS
from voirdire.tables.formats.ranking_pairs import votes_of_rankings
from voirdire.tables.formats.registry import format_of
from voirdire.tables.formats.row_choice import RowChoice
from voirdire.tables.formats.rows import (
    TABLES,
    Columns,
    Extended,
    Fault,
    Known,
    Note,
    Refused,
    UnknownOrder,
)
from voirdire.tables.formats.source import Source, opened
from voirdire.tables.problems import nearest

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: dict[str, tuple[str, ...]] = {name: row._fields for row, name in TABLES.items()} | {
    "refused": Refused._fields
}
_NEEDED = 3  # columns that every row fills
_FLUSH = 50_000
_SHOWN = 3
_MOST = 1_000  # rows that cannot be read, of which are told


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
        self.fields: list[str] = list(_COLUMNS[name])
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
        self._names, self._further = set(self.fields), self.fields[len(_COLUMNS[self.name]) :]

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


@dataclass
class Imported:
    """What was in files of a tool, or in a table whose columns were named.

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
        """The votes; of rankings, where votes are asked for, the pairs of each."""
        if self._are_pairs:
            return votes_of_rankings(self.rows["rankings"].frame())
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
    def _are_pairs(self) -> bool:
        """Whether votes are asked for, and there are rankings."""
        return self.kind == "votes" and not self.rows["votes"].count and self.rows["rankings"].count > 0

    @property
    def kinds(self) -> list[str]:
        """Tables that there are, or the one that is meant.

        Raises
        ------
        InputError
            The one that is meant is not there.
        """
        names = [name for name in ANSWERS if self.rows[name].count]
        if self.kind is None:
            return names
        if self.kind not in names and not self._are_pairs:
            raise InputError(f"{self.called} holds {' and '.join(names)}, not {self.kind}")
        return [self.kind]

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
            There are several, or a row of a long table cannot be read.
        """
        return self._of_judges(self._frame(None))

    def table_of(self, kind: str | None) -> pd.DataFrame:
        """As `table`, of a kind."""
        return self._of_judges(self._frame(kind))

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
            raise InputError(
                f"people: {strange[0]!r} is no judge of the table{nearest(strange[0], judges)}"
                f"; its judges are {', '.join(judges[:8])}{', ...' if len(judges) > 8 else ''}"
            )
        if len(set(self.people)) == len(judges):
            raise InputError(
                "people: all judges of the table are named as people; nobody is left to be judged"
            )
        return (
            frame[frame["judge"].isin(self.people)].rename(columns={"judge": "person"}).reset_index(drop=True)
        )

    def _frame(self, kind: str | None) -> pd.DataFrame:
        if self.faults:
            raise InputError(list(self.faults))
        kinds = self.kinds
        if kind is not None and kind not in kinds:
            raise InputError(f"{self.called} holds {' and '.join(kinds)}, not {kind}")
        if kind is None and len(kinds) > 1:
            raise InputError(
                f"the files hold {' and '.join(kinds)}; take one of them, such as .{kinds[0]} (--table {kinds[0]})"
            )
        frame: pd.DataFrame = getattr(self, kind or kinds[0])
        if self.unnamed and set(frame["judge"]) == {NAMELESS}:
            frame = frame.drop(columns="judge")
        return frame

    def _of_judges(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not self.people:
            return frame
        _ = self.answers_of_people  # says who of them is no judge
        return frame[~frame["judge"].isin(self.people)].reset_index(drop=True)

    def say(self) -> None:
        """Say what was read as what, what else there is to be said, and how many answers are in no table."""
        for path, tool in self.formats.items():
            if tool != "table":
                notice(f"{path} is read as a file of {tool}.")
        for note in self.notes:
            notice(note)
        if self._are_pairs:
            notice(
                "Each ranking of n items is read as n (n - 1) / 2 votes, which are not independent of each other."
            )
        if refused := self.rows["refused"].rows:
            first = "; ".join(f"{row[0]}: {row[1]}" for row in refused[:_SHOWN])
            are = "1 answer is" if len(refused) == 1 else f"{len(refused):,} answers are"
            notice(
                f"{are} in no table ({first}{'; ...' if len(refused) > _SHOWN else ''}); `voirdire import` lists each "
                "with its reason."
            )


def gather(
    files: Any,
    tool: str | None = None,
    asked: Asked | None = None,
    sep: str | None = None,
    folder: Path | None = None,
    *,
    sheet: str | None = None,
    judges: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
) -> Imported:
    """As :func:`voirdire.read`; with a folder, rows are written into it while they are read, and none is kept."""
    paths = [files] if not isinstance(files, list | tuple) else list(files)
    if not paths:
        raise InputError("no file is given; name one or more")
    said = asked or Asked()
    rows = {name: Rows(name, None if folder is None else folder / f"{name}.csv") for name in _COLUMNS}
    notes: dict[str, None] = {}
    formats: dict[str, str] = {}
    unknown = False
    reasons: Counter[str] = Counter()
    known = Anchors()
    faults: list[Refused] = []
    filtering = RowChoice(where or {})
    with ExitStack() as stack:
        _check_twice(paths)
        sources = [stack.enter_context(_opened(path, sep, sheet)) for path in paths]
        check_judges(judges or {}, [source.path for source in sources])
        for source in sources:
            source.siblings = sources
            notes.update(dict.fromkeys(source.notes))
        chosen = [(source, format_of(source, _of_file(said, judges, source), tool)) for source in sources]
        _check_options(said, [one for _, one in chosen])
        for source, one in chosen:
            formats[source.path] = one.name
            for found in one.read(source, _of_file(said, judges, source)):
                row = known.add(found) if isinstance(found, Known) else found
                if row is None:
                    continue
                if isinstance(row, Note):
                    notes.setdefault(str(row))
                    unknown = unknown or isinstance(row, UnknownOrder)
                elif isinstance(row, Columns):
                    rows[row.table].declare(row.names)
                elif isinstance(row, Refused):
                    rows["refused"].add(Refused(*row))
                    reasons[row.reason] += 1
                    faults += [row] if isinstance(row, Fault) and len(faults) < _MOST else []
                elif filtering.keeps(row):
                    rows[TABLES[type(row.row if isinstance(row, Extended) else row)]].add(row)
            filtering.check_columns(source.name)
    names = ", ".join(source.name for source in sources)
    if not any(rows[name].count for name in TABLES.values()):
        filtering.check_any(names)
        raise InputError(f"{names}: no vote, score or label is in it{_why(reasons)}")
    for table in rows.values():
        table.flush()
    if known.counts:
        notes.setdefault(_of_anchors(known))
        if folder is not None:
            known.write(folder)
    imported = Imported(rows, tuple(notes), formats, unknown, said.table, unnamed=said.unnamed, known=known)
    imported.faults = tuple(_sentences(faults))
    return imported


def _of_anchors(known: Anchors) -> str:
    tables = " and ".join(f"{name}.csv" for name in known.counts)
    return (
        f"{sum(known.counts.values())} answers are known to be right and are no judge's: `voirdire import` writes them "
        f"to {tables}, for --anchors (in Python .anchors)"
    )


def _sentences(faults: Sequence[Refused]) -> list[str]:
    """Rows that cannot be read, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for fault in faults:
        by_reason.setdefault(fault.reason, []).append(fault.place)
    return [
        f"{', '.join(places[:_SHOWN])}{f' and {len(places) - _SHOWN} more' if len(places) > _SHOWN else ''}: {reason}"
        for reason, places in by_reason.items()
    ]


def _opened(path: Any, sep: str | None, sheet: str | None) -> Any:
    if isinstance(path, str | os.PathLike):
        return opened(path, sep, sheet)
    return opened_frame(path)


def _check_twice(paths: Sequence[Any]) -> None:
    """Raise where a file is given twice, under whatever name."""
    seen: dict[str, str] = {}
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            continue
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(f"file {os.fspath(path)!r} is given twice; its answers would count twice")
        seen[real] = os.fspath(path)


def _of_file(asked: Asked, judges: Mapping[str, str] | None, source: Source) -> Asked:
    """What is asked of one of several files."""
    judge = next((name for file, name in (judges or {}).items() if file in (source.path, source.name)), None)
    return asked if judge is None else replace(asked, judge=judge)


def check_judges(judges: Mapping[str, str], paths: Sequence[str]) -> None:
    """Raise where a judge is said of a file that is not among those that are read.

    Examples
    --------
    >>> check_judges({"a.csv": "ann"}, ["data/a.csv", "data/b.csv"])
    """
    names = [os.path.basename(path) for path in paths]
    for file, judge in judges.items():
        if file not in names and file not in paths:
            raise InputError(
                f"set judge: {judge!r} is said of {file!r}, which is none of the files {', '.join(names)}"
                f"{nearest(file, names)}"
            )


def _why(reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    shown = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(_SHOWN))
    return f"; {sum(reasons.values())} answers are refused: {shown}"


def _check_options(asked: Asked, formats: Sequence[Format]) -> None:
    fits = {name for one in formats for name in one.options} | {"table", "unnamed"}
    given = {name for name, value in vars(asked).items() if value}
    if alien := sorted(given - fits):
        named = ", ".join(sorted({one.title for one in formats}))
        raise InputError(f"{', '.join(alien)}: says nothing to files of {named}; leave it out")
