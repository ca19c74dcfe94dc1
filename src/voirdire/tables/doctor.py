"""Findings about a file: the roles of its columns, the usable verbs, notable facts, and the command to type."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables.columns import ANSWER_COLUMNS, table_option_remedy
from voirdire.tables.detect import read_table
from voirdire.tables.formats.column_samples import sample_columns
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.registry import tool_of_file, unfold_table
from voirdire.tables.formats.source import Source, leave_out_columns, open_source
from voirdire.tables.formats.suggestions import likely_tables
from voirdire.tables.formats.tables import column_roles
from voirdire.tables.label_sets import cells_as_sets, set_members
from voirdire.tables.labels import MAX_CLASSES
from voirdire.tables.numbers import count_in_words
from voirdire.tables.rankings import RANKING_COLUMNS
from voirdire.tables.reading import OPTIONS_SUFFIX, Reading, read_as
from voirdire.tables.repeats import name_notes, repeat_notes
from voirdire.tables.run_folders import run_folder
from voirdire.tables.verbs import command_for, unusable_command_reasons

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ColumnRead:
    """Reading of one column: its name, its role (None: kept unchanged), its content, and its number of empty cells."""

    name: str
    read_as: str | None
    holds: str
    empty: int


@dataclass(frozen=True)
class Findings:
    """Findings about a file.

    Attributes
    ----------
    file, tool, wrapping : str
        Path of the file, the tool that wrote it ("table" for a general table), and the kind of file.
    columns : tuple of ColumnRead
        Columns of a table; empty for a file of a tool.
    rows : dict of str to int
        Number of rows of each kind of table, and of refused rows.
    judges, items : int
        Numbers of distinct judges and items.
    lacks : dict of str to str
        Reason why each unusable verb cannot be used; verbs without an entry can be used.
    stands_out : tuple of str
        Facts to know before the table is used.
    error : str, optional
        Reason why the file cannot be read without further options.
    command : str
        Command to type; for an unreadable file, a command that probably reads it, or an empty text.
    """

    file: str
    tool: str
    wrapping: str
    columns: tuple[ColumnRead, ...]
    rows: dict[str, int]
    judges: int
    items: int
    lacks: dict[str, str]
    stands_out: tuple[str, ...]
    error: str | None
    command: str

    @property
    def rows_in_words(self) -> str:
        """Numbers of rows by kind, in words."""
        names = {"rankings": "rows of rankings"}
        return ", ".join(count_in_words(count, names.get(name, name)) for name, count in self.rows.items())

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def examine_file(path: str | os.PathLike[str], reading: Reading | None = None) -> Findings:
    """Examine a file: its content, its reading, the verbs that can use it, and the command to type.

    Parameters
    ----------
    path : path
        Any file that :func:`voirdire.read` takes.
    reading : Reading, optional
        Options of reading, in addition to those in the options file of the table.

    Returns
    -------
    Findings

    Raises
    ------
    InputError
        The file is missing or damaged.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("rater,item,grade\\nann,x,1\\nbob,x,2\\n")
    ...     found = examine_file(path)
    >>> found.rows, [(column.name, column.read_as) for column in found.columns]
    ({'scores': 2}, [('rater', 'judge'), ('item', 'item'), ('grade', 'score')])
    """
    name = os.fspath(path)
    reading = reading or Reading()
    if run_folder(name) is not None:
        raise InputError(f"{name} is the folder of a run, which every verb reads as it is")
    with open_source(name, reading.sep, reading.sheet) as source:
        leave_out_columns([source], reading.leave_out)
        wrapping = f"{source.kind}{', compressed' if source.packed else ''}"
        recognised = None if reading.tool or reading.map or reading.wide or reading.columns else tool_of_file(source)
        if recognised is None and not reading.tool:
            unfold_table(source, reading.format_options)
        is_table = recognised is None and source.head.shape in ("records", "table")
        columns = _columns_read(source, reading) if is_table else ()
        notes = list(getattr(source, "notes", ()))
        suggested = (
            [table for table in likely_tables(source) if table.options and table.is_complete][:1] if is_table else []
        )
    heard_notes: list[str] = []
    try:
        with listen_for_notes(heard_notes.append):
            tables = _read_tables(name, reading, [column.read_as for column in columns])
    except InputError as error:
        command = " ".join(["voirdire fit", quote(name), *(table.options for table in suggested)]) if suggested else ""
        tool = "table" if recognised is None else recognised.name
        return Findings(name, tool, wrapping, columns, {}, 0, 0, {}, tuple(notes), str(error), command)
    first_table = next(iter(tables.values()))
    tool = next(iter(first_table.formats.values()))
    frames = {kind: frame for kind, table in tables.items() if (frame := getattr(table, kind)) is not None}
    notes = list(dict.fromkeys((*notes, *heard_notes, *(note for table in tables.values() for note in table.notes))))
    if len(frames) > 1 and tool == "table":
        notes.append(f"each row has answers of {len(frames)} kinds: {table_option_remedy(list(frames))}")
    notes += [sentence for kind, frame in frames.items() for sentence in _notable_facts(kind, frame)]
    if refused := first_table.counts.get("refused", 0):
        are = "row is" if refused == 1 else "rows are"
        notes.append(f"{refused:,} {are} refused: {'; '.join(_common_reasons(first_table))}")
    criterion_column = next((column.name for column in columns if column.read_as == "criterion"), "criterion")
    criterion = criterion_column if tool == "table" else None  # columns of a tool are not left out
    lacks = unusable_command_reasons(frames, reading, criterion)
    return Findings(
        name,
        tool,
        wrapping,
        columns if tool == "table" else (),
        {kind: count for table in tables.values() for kind, count in table.counts.items()},
        len({judge for frame in frames.values() for judge in frame["judge"]}),
        len({item for frame in frames.values() for item in _list_items(frame)}),
        lacks,
        tuple(dict.fromkeys(notes)),
        None,
        command_for(name, reading, frames, lacks, criterion),
    )


def _read_tables(name: str, reading: Reading, roles: Sequence[str | None]) -> dict[str, Imported]:
    """Read the tables of a file, by kind; a table with answers of several kinds is read as each of them.

    Raises
    ------
    InputError
        The file cannot be read without further options.
    """
    kinds = [kind for kind, answer in ANSWER_COLUMNS.items() if answer in roles]
    try:
        imported = read_as(name, reading)
        _check_usable(imported)
    except InputError:
        if len(kinds) < 2 or reading.table is not None:
            raise
        tables = {kind: read_as(name, replace(reading, table=kind)) for kind in kinds}
        if any(getattr(table, kind) is None for kind, table in tables.items()):
            raise  # it is read as neither
        return tables
    return dict.fromkeys(imported.kinds, imported)


def _check_usable(imported: Imported) -> None:
    """Raise an error where no verb can use the table that was read."""
    if len(imported.kinds) == 1:
        read_table(imported, rankings=True)
    elif imported.faults:
        raise InputError(list(imported.faults))


def _columns_read(source: Source, reading: Reading) -> tuple[ColumnRead, ...]:
    try:
        roles = column_roles(source, reading.format_options)
    except InputError:  # it is reported as the error of the table
        roles = {}
    return tuple(
        ColumnRead(sample.name, roles.get(sample.name), sample.describe_values, sample.empty)
        for sample in sample_columns(source)
    )


def _list_items(frame: pd.DataFrame) -> list[Any]:
    names = ["item"] if "item" in frame else [name for name in ("first", "second") if name in frame]
    return [item for name in names for item in frame[name]]


def _further_names(frame: pd.DataFrame) -> dict[str, Any]:
    plurals = {"criterion": "criteria", "context": "contexts", "system": "systems"}
    return {plural: frame[name].dropna() for name, plural in plurals.items() if name in frame}


def _common_reasons(imported: Imported) -> list[str]:
    counts = Counter(imported.refused["reason"])
    return [f"{reason} ({count})" for reason, count in counts.most_common(3)]


def _notable_facts(kind: str, frame: pd.DataFrame) -> list[str]:
    """Describe facts about a table that its user should know."""
    facts = []
    judges = list(dict.fromkeys(frame["judge"]))
    if len(judges) == 1:
        facts.append(f"one judge, {judges[0]!r}: its accuracy cannot be estimated without people's answers (--anchors)")
    facts += name_notes({"judges": judges, "items": _list_items(frame)} | _further_names(frame))
    keys = [name for name in frame if name not in ("winner", "score", "label", "rank", "degree", "time", "order")]
    repeats = repeat_notes(frame, ANSWER_COLUMNS[kind])
    if not repeats and (repeated := int(frame.duplicated(keys).sum())):
        facts.append(f"{repeated:,} repeated answers of a judge to a question; all count")
    facts += repeats
    describe = _DESCRIBERS.get(ANSWER_COLUMNS[kind])
    return facts if describe is None else [*facts, *describe(frame)]


def _describe_classes(frame: pd.DataFrame) -> list[str]:
    as_sets = cells_as_sets(frame["label"].tolist(), None, False)
    cells = frame["label"] if as_sets is None else [member for cell in as_sets[0] for member in set_members(str(cell))]
    classes = Counter(map(str, cells))
    shown = ", ".join(f"{label} ({count:,})" for label, count in classes.most_common(8))
    sets = "" if as_sets is None else ", in sets"
    sentences = [f"{count_in_words(len(classes), 'labels')}{sets}: {shown}{', ...' if len(classes) > 8 else ''}"]
    if len(classes) > MAX_CLASSES:
        sentences.append("so many labels are rather names or texts than classes; is another column the label?")
    return [*sentences, *name_notes({"labels": classes})]


def _describe_levels(frame: pd.DataFrame) -> list[str]:
    levels = sorted({float(score) for score in frame["score"]})
    if len(levels) == 1:
        return [f"every score is {levels[0]:g}"]
    return [f"scores from {levels[0]:g} to {levels[-1]:g}, {len(levels)} different ones"]


def _describe_rankings(frame: pd.DataFrame) -> list[str]:
    sizes = frame.groupby([name for name in RANKING_COLUMNS if name in frame], dropna=False).size()
    smallest, largest = int(sizes.min()), int(sizes.max())
    size = smallest if smallest == largest else f"{smallest} to {largest}"
    return [f"{count_in_words(len(sizes), 'rankings')} of {size} items"]


def _describe_order(frame: pd.DataFrame) -> list[str]:
    if "order" in frame and (frame["order"] == "unknown").any():
        return ["the order in which items were shown is unknown: no model of positions is used"]
    pairs = {(first, second) for first, second in zip(frame["first"], frame["second"], strict=True)}
    if pairs and not any((second, first) in pairs for first, second in pairs):
        return [
            "no pair is shown in both orders: a preference for the first position is confounded with the items; "
            "if the order shown is unknown, --order unknown"
        ]
    return []


#: Descriptions of a table by its column of answers.
_DESCRIBERS: dict[str, Callable[[Any], list[str]]] = {
    "winner": _describe_order,
    "label": _describe_classes,
    "score": _describe_levels,
    "rank": _describe_rankings,
}


def write_reading_options(path: str | os.PathLike[str], reading: Reading) -> str:
    """Write reading options to a file next to the table, from which every verb takes them.

    Raises
    ------
    InputError
        No option is set, or the file exists.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_reading_options(pathlib.Path(folder, "votes.csv"), Reading(map={"judge": "who"}))
    ...     print(pathlib.Path(written).read_text().strip())
    map = {"judge" = "who"}
    """
    import json

    if not reading.set_options:
        raise InputError("--keep: there is no option to keep; give --map, --wide, ...")
    target = f"{os.fspath(path)}{OPTIONS_SUFFIX}"
    lines = []
    for option, value in reading.set_options.items():
        name = {"tool": "from"}.get(option, option)
        if isinstance(value, dict):
            cells = ", ".join(f"{json.dumps(str(key))} = {json.dumps(column)}" for key, column in value.items())
            lines.append(f"{name} = {{{cells}}}")
        else:
            plain_value = list(value) if isinstance(value, tuple) else value
            lines.append(f"{name} = {json.dumps(plain_value, ensure_ascii=False)}")
    try:
        with open(target, "x", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise InputError(f"{target} exists already; remove it, or change it by hand") from None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
    return target
