"""Findings about a file: how its columns are read, what each verb finds in it, what stands out, and what to type."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.notices import listen_for_notes
from voirdire.tables.columns import ANSWERS, say_which
from voirdire.tables.detect import read_table
from voirdire.tables.formats.column_samples import sample_columns
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.registry import tool_of_file, unfold_table
from voirdire.tables.formats.source import Source, leave_out_columns, open_source
from voirdire.tables.formats.suggestions import likely_tables
from voirdire.tables.formats.tables import column_roles
from voirdire.tables.label_sets import cells_as_sets, set_members
from voirdire.tables.labels import FEW_CLASSES
from voirdire.tables.rankings import ABOUT
from voirdire.tables.reading import BESIDE, Reading, read_as
from voirdire.tables.repeats import name_notes, repeat_notes, systems_of_items_notes
from voirdire.tables.run_folders import run_folder
from voirdire.tables.verbs import command_for, unusable_command_reasons
from voirdire.tables.words import count_in_words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ColumnRead:
    """Reading of one column: its name, what it is taken for (nothing: kept as it is), and what its cells hold."""

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
        The tool is "table" for a table of nobody's format.
    columns : tuple of ColumnRead
        Of a table; empty for a file of a tool.
    rows : dict of str to int
        Rows of each kind of table, and refused ones.
    judges, items : int
    lacks : dict of str to str
        What each verb lacks; verbs that are not named can be used.
    stands_out : tuple of str
        What is to be known before the table is used.
    error : str, optional
        Why nothing can be read as it is.
    command : str
        What to type; of a file that cannot be read as it is, what is likely to read it, or nothing.
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
        """How many rows of what there are."""
        names = {"rankings": "rows of rankings"}
        return ", ".join(count_in_words(count, names.get(name, name)) for name, count in self.rows.items())

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def examine_file(path: str | os.PathLike[str], how: Reading | None = None) -> Findings:
    """Find out what a file holds, how it is read, what it supports, and what to type.

    Parameters
    ----------
    path : path
        Any file that :func:`voirdire.read` takes.
    how : Reading, optional
        How it is read, beside what the file beside it says.

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
    how = how or Reading()
    if run_folder(name) is not None:
        raise InputError(f"{name} is the folder of a run, which every verb reads as it is")
    with open_source(name, how.sep, how.sheet) as source:
        leave_out_columns([source], how.leave_out)
        wrapping = f"{source.kind}{', compressed' if source.packed else ''}"
        known = None if how.tool or how.map or how.wide or how.columns else tool_of_file(source)
        if known is None and not how.tool:
            unfold_table(source, how.format_options)
        table = known is None and source.head.shape in ("records", "table")
        columns = _columns_read(source, how) if table else ()
        notes = list(getattr(source, "notes", ()))
        likely = (
            [one for one in likely_tables(source) if one.options and one.is_complete][:1] if table else []
        )
    heard: list[str] = []
    try:
        with listen_for_notes(heard.append):
            tables = _read_tables(name, how, [column.read_as for column in columns])
    except InputError as error:
        command = " ".join(["voirdire fit", quote(name), *(one.options for one in likely)]) if likely else ""
        tool = "table" if known is None else known.name
        return Findings(name, tool, wrapping, columns, {}, 0, 0, {}, tuple(notes), str(error), command)
    found = next(iter(tables.values()))
    tool = next(iter(found.formats.values()))
    frames = {kind: frame for kind, one in tables.items() if (frame := getattr(one, kind)) is not None}
    notes = list(dict.fromkeys((*notes, *heard, *(note for one in tables.values() for note in one.notes))))
    if len(frames) > 1 and tool == "table":
        notes.append(f"each row has answers of {len(frames)} kinds: {say_which(list(frames))}")
    notes += [sentence for kind, frame in frames.items() for sentence in _notable_facts(kind, frame)]
    if refused := found.counts.get("refused", 0):
        are = "row is" if refused == 1 else "rows are"
        notes.append(f"{refused:,} {are} refused: {'; '.join(_common_reasons(found))}")
    named = next((column.name for column in columns if column.read_as == "criterion"), "criterion")
    criterion = named if tool == "table" else None  # columns of a tool are not left out
    lacks = unusable_command_reasons(frames, how, criterion)
    return Findings(
        name,
        tool,
        wrapping,
        columns if tool == "table" else (),
        {kind: count for one in tables.values() for kind, count in one.counts.items()},
        len({judge for frame in frames.values() for judge in frame["judge"]}),
        len({item for frame in frames.values() for item in _items_named(frame)}),
        lacks,
        tuple(dict.fromkeys(notes)),
        None,
        command_for(name, how, frames, lacks, criterion),
    )


def _read_tables(name: str, how: Reading, roles: Sequence[str | None]) -> dict[str, Imported]:
    """The tables of a file by their kind; a table with answers of several kinds is read as each of them.

    Raises
    ------
    InputError
        Nothing can be read as it is.
    """
    kinds = [kind for kind, answer in ANSWERS.items() if answer in roles]
    try:
        found = read_as(name, how)
        _check_usable(found)
    except InputError:
        if len(kinds) < 2 or how.table is not None:
            raise
        return {kind: read_as(name, replace(how, table=kind)) for kind in kinds}
    return dict.fromkeys(found.kinds, found)


def _check_usable(found: Imported) -> None:
    """Raise where no verb can take the table that was read."""
    if len(found.kinds) == 1:
        read_table(found, rankings=True)
    elif found.faults:
        raise InputError(list(found.faults))


def _columns_read(source: Source, how: Reading) -> tuple[ColumnRead, ...]:
    try:
        roles = column_roles(source, how.format_options)
    except InputError:  # which is told as the error of the table
        roles = {}
    return tuple(
        ColumnRead(one.name, roles.get(one.name), one.describe_values, one.empty)
        for one in sample_columns(source)
    )


def _items_named(frame: pd.DataFrame) -> list[Any]:
    names = ["item"] if "item" in frame else [name for name in ("first", "second") if name in frame]
    return [item for name in names for item in frame[name]]


def _further_names(frame: pd.DataFrame) -> dict[str, Any]:
    plurals = {"criterion": "criteria", "context": "contexts", "system": "systems"}
    return {plural: frame[name].dropna() for name, plural in plurals.items() if name in frame}


def _common_reasons(found: Imported) -> list[str]:
    counts = Counter(found.refused["reason"])
    return [f"{reason} ({count})" for reason, count in counts.most_common(3)]


def _notable_facts(kind: str, frame: pd.DataFrame) -> list[str]:
    """Sentences about what is to be known of a table before it is used."""
    found = []
    judges = list(dict.fromkeys(frame["judge"]))
    if len(judges) == 1:
        found.append(
            f"one judge, {judges[0]!r}: how far it is right cannot be told without people's answers (--anchors)"
        )
    found += name_notes({"judges": judges, "items": _items_named(frame)} | _further_names(frame))
    keys = [
        name for name in frame if name not in ("winner", "score", "label", "rank", "degree", "time", "order")
    ]
    repeats = repeat_notes(frame, ANSWERS[kind])
    if not repeats and (twice := int(frame.duplicated(keys).sum())):
        found.append(f"{twice:,} answers of a judge to what it had answered before; all count")
    found += repeats
    if {"item", "system"} <= {*frame.columns}:
        named = frame[["item", "system"]].dropna()
        found += systems_of_items_notes(named["item"].tolist(), named["system"].tolist())
    describe = _DESCRIBED.get(ANSWERS[kind])
    return found if describe is None else [*found, *describe(frame)]


def _describe_classes(frame: pd.DataFrame) -> list[str]:
    as_sets = cells_as_sets(frame["label"].tolist(), None, False)
    cells = frame["label"] if as_sets is None else [one for of in as_sets[0] for one in set_members(str(of))]
    classes = Counter(map(str, cells))
    shown = ", ".join(f"{label} ({count:,})" for label, count in classes.most_common(8))
    sets = "" if as_sets is None else ", in sets"
    found = [f"{count_in_words(len(classes), 'labels')}{sets}: {shown}{', ...' if len(classes) > 8 else ''}"]
    if len(classes) > FEW_CLASSES:
        found.append("so many labels are rather names or texts than classes; is another column the label?")
    return [*found, *name_notes({"labels": classes})]


def _describe_levels(frame: pd.DataFrame) -> list[str]:
    levels = sorted({float(score) for score in frame["score"]})
    if len(levels) == 1:
        return [f"every score is {levels[0]:g}"]
    return [f"scores from {levels[0]:g} to {levels[-1]:g}, {len(levels)} different ones"]


def _describe_rankings(frame: pd.DataFrame) -> list[str]:
    sizes = frame.groupby([name for name in ABOUT if name in frame], dropna=False).size()
    least, most = int(sizes.min()), int(sizes.max())
    return [
        f"{count_in_words(len(sizes), 'rankings')} of {least if least == most else f'{least} to {most}'} items"
    ]


def _describe_order(frame: pd.DataFrame) -> list[str]:
    if "order" in frame and (frame["order"] == "unknown").any():
        return ["which item was shown first is not known: no model of positions is used"]
    pairs = {(first, second) for first, second in zip(frame["first"], frame["second"], strict=True)}
    if pairs and not any((second, first) in pairs for first, second in pairs):
        return [
            "no pair is shown in both orders: a preference for the first place cannot be told from the items; "
            "if the order says nothing, --order unknown"
        ]
    return []


#: Descriptions of a table by its column of answers.
_DESCRIBED: dict[str, Callable[[Any], list[str]]] = {
    "winner": _describe_order,
    "label": _describe_classes,
    "score": _describe_levels,
    "rank": _describe_rankings,
}


def write_reading_options(path: str | os.PathLike[str], how: Reading) -> str:
    """Keep options in the file beside a table, from where every verb takes them.

    Raises
    ------
    InputError
        There is nothing to keep, or the file exists.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_reading_options(pathlib.Path(folder, "votes.csv"), Reading(map={"judge": "who"}))
    ...     print(pathlib.Path(written).read_text().strip())
    map = {"judge" = "who"}
    """
    import json

    if not how.set_options:
        raise InputError("--keep: there is no option to keep; give --map, --wide, ...")
    target = f"{os.fspath(path)}{BESIDE}"
    lines = []
    for option, value in how.set_options.items():
        name = {"tool": "from"}.get(option, option)
        if isinstance(value, dict):
            cells = ", ".join(f"{json.dumps(str(one))} = {json.dumps(two)}" for one, two in value.items())
            lines.append(f"{name} = {{{cells}}}")
        else:
            plain = list(value) if isinstance(value, tuple) else value
            lines.append(f"{name} = {json.dumps(plain, ensure_ascii=False)}")
    try:
        with open(target, "x", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise InputError(f"{target} exists already; remove it, or change it by hand") from None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from None
    return target
