"""Files of tools as tables: read into memory, or written while they are read."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tables.formats.format import Asked, Format
from voirdire.tables.formats.registry import format_of
from voirdire.tables.formats.rows import TABLES, Note, Refused, Row, UnknownOrder
from voirdire.tables.formats.source import opened

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: dict[str, tuple[str, ...]] = {name: row._fields for row, name in TABLES.items()} | {
    "refused": Refused._fields
}
_NEEDED = 3  # columns that every row fills
_FLUSH = 50_000
_SHOWN = 3


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
        self.fields = _COLUMNS[name]
        self.rows: list[Any] = []
        self._header: tuple[str, ...] = ()
        self._runs: set[Any] = set()

    def add(self, row: Row) -> None:
        """Take one row."""
        self.count += 1
        self.rows.append(row)
        if self.path is not None and len(self.rows) >= _FLUSH:
            self.flush()

    def filled(self) -> tuple[str, ...]:
        """The columns that the rows at hand fill, and those that are in the file."""
        place = self.fields.index("run") if "run" in self.fields else None
        if place is not None:
            self._runs.update(row[place] for row in self.rows)
        return tuple(
            name
            for at, name in enumerate(self.fields)
            if at < _NEEDED
            or name in self._header
            or (len(self._runs) > 1 if at == place else any(row[at] is not None for row in self.rows))
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
                [[row[at] for at in places] for row in self.rows]
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
        return pd.DataFrame(self.rows, columns=list(self.fields))[list(self.filled())]


@dataclass
class Imported:
    """What was in files of a tool.

    Attributes
    ----------
    votes, scores, labels : DataFrame or None
        The tables that there are.
    refused : DataFrame
        Answers that are in no table: file, place and reason.
    notes : tuple of str
        What else is to be said of the files.
    formats : dict of str to str
        The tool of each file.
    """

    rows: dict[str, Rows] = field(repr=False)
    notes: tuple[str, ...]
    formats: dict[str, str]
    order_unknown: bool = False

    @property
    def votes(self) -> pd.DataFrame | None:
        """The votes."""
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
    def refused(self) -> pd.DataFrame:
        """Answers that are in no table, and why."""
        import pandas as pd

        found = self.rows["refused"].frame()
        return pd.DataFrame(columns=list(Refused._fields)) if found is None else found

    @property
    def counts(self) -> dict[str, int]:
        """Rows by table."""
        return {name: rows.count for name, rows in self.rows.items() if rows.count}

    @property
    def table(self) -> pd.DataFrame:
        """The one table that there is.

        Raises
        ------
        InputError
            There are several.
        """
        names = [name for name in self.counts if name != "refused"]
        if len(names) > 1:
            raise InputError(
                f"the files hold {' and '.join(names)}; take one of them, such as .{names[0]} (--table {names[0]})"
            )
        found = self.rows[names[0]].frame()
        assert found is not None
        return found


def read(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    tool: str | None = None,
    *,
    sep: str | None = None,
    **asked: Any,
) -> Imported:
    """Read files of the tools that people use as tables of votes, scores and labels; judges stay apart.

    The content of a file says which tool wrote it: AlpacaEval, MT-bench, LMArena, Arena-Hard, Inspect (``.eval``,
    ``.json``), promptfoo, DeepEval, lm-evaluation-harness, Langfuse, LangSmith, Argilla, Label Studio, Potato,
    Crowd-Kit, JudgeBench, PandaLM, BiGGen-Bench, CJE; or it is a table (CSV, TSV, JSON, JSONL, Parquet, XLSX) whose
    columns are named. ``.gz`` and ``.zst`` are unpacked, ``-`` is the standard input.

    Parameters
    ----------
    files : path or sequence of paths
        Of one tool or several.
    tool : str, optional
        The tool, where the content shall not decide.
    sep : str, optional
        What separates the columns of a text table, where it is neither comma, tab, semicolon nor bar.
    **asked
        Fields of `Asked`, such as ``baseline="gpt-4-0314"`` or ``columns={"judge": "grader"}``.

    Returns
    -------
    Imported
        Tables, what was refused and why, and notes.

    Raises
    ------
    InputError
        A file is damaged or of no known format, or nothing in it is a vote, a score or a label.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "human.csv")
    ...     _ = path.write_text("worker,left,right,label\\nw1,sofa,chair,chair\\nw2,sofa,chair,\\n")
    ...     found = read(path)
    >>> found.votes.to_dict("records"), found.refused["reason"].tolist()
    ([{'judge': 'w1', 'first': 'sofa', 'second': 'chair', 'winner': 'second'}], ['no label'])
    """
    return gather(files, tool, Asked(**asked), sep)


def gather(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    tool: str | None = None,
    asked: Asked | None = None,
    sep: str | None = None,
    folder: Path | None = None,
) -> Imported:
    """As :func:`read`; with a folder, rows are written into it while they are read, and none is kept."""
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    if not paths:
        raise InputError("no file is given; name one or more")
    said = asked or Asked()
    rows = {name: Rows(name, None if folder is None else folder / f"{name}.csv") for name in _COLUMNS}
    notes: dict[str, None] = {}
    formats: dict[str, str] = {}
    unknown = False
    reasons: Counter[str] = Counter()
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(path, sep)) for path in paths]
        for source in sources:
            source.siblings = sources
            notes.update(dict.fromkeys(source.notes))
        chosen = [(source, format_of(source, said, tool)) for source in sources]
        _check_options(said, [one for _, one in chosen])
        for source, one in chosen:
            formats[source.path] = one.name
            for row in one.read(source, said):
                if isinstance(row, Note):
                    notes.setdefault(str(row))
                    unknown = unknown or isinstance(row, UnknownOrder)
                elif isinstance(row, Refused):
                    rows["refused"].add(row)
                    reasons[row.reason] += 1
                else:
                    rows[TABLES[type(row)]].add(row)
    if not any(rows[name].count for name in TABLES.values()):
        names = ", ".join(source.name for source in sources)
        raise InputError(f"{names}: no vote, score or label is in it{_why(reasons)}")
    for table in rows.values():
        table.flush()
    return Imported(rows, tuple(notes), formats, unknown)


def _why(reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    shown = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(_SHOWN))
    return f"; {sum(reasons.values())} answers are refused: {shown}"


def _check_options(asked: Asked, formats: Sequence[Format]) -> None:
    fits = {name for one in formats for name in one.options}
    given = {name for name, value in vars(asked).items() if value}
    if alien := sorted(given - fits):
        named = ", ".join(sorted({one.title for one in formats}))
        raise InputError(f"{', '.join(alien)}: says nothing to files of {named}; leave it out")
