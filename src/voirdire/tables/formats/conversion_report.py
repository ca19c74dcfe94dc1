"""Conversion of files of tools and of other tables to voirdire's, in memory or in a folder."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from voirdire.errors import InputError
from voirdire.folders import write_folder_atomically
from voirdire.layouts import Layout, recognise_text
from voirdire.notices import give_notice
from voirdire.tables.cells import Cells, WantedColumns
from voirdire.tables.columns import ALIASES, ANSWER_COLUMNS, find_roles, table_kind
from voirdire.tables.formats.format import FormatOptions
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.registry import tool_from_first_record, tool_of_file, unfold_table
from voirdire.tables.formats.source import Source, open_source
from voirdire.tables.formats.tables import has_known_layout, has_known_table_kind
from voirdire.tables.reading import OPTIONS_SUFFIX, Reading, read_as

_ANCHOR_TABLES = {
    "anchors_votes.csv": recognise_text("first,second,winner"),
    "anchors_scores.csv": recognise_text("item,score"),
    "anchors_labels.csv": recognise_text("item,label"),
}


def _is_anchors(path: Path) -> bool:
    return any(recognises(path) for recognises in _ANCHOR_TABLES.values())


LAYOUT = Layout(
    "imported tables",
    {
        "votes.csv": recognise_text("judge,first,second,winner"),
        "scores.csv": recognise_text("judge,item,score"),
        "labels.csv": recognise_text("judge,item,label"),
        "rankings.csv": recognise_text("judge,item,rank"),
        "anchors.csv": _is_anchors,
        **_ANCHOR_TABLES,
        "refused.csv": recognise_text("place,reason"),
    },
)


def import_files(
    files: Sequence[str | os.PathLike[str]], out: str | Path, reading: Reading | None = None, *, overwrite: bool = False
) -> Imported:
    """Convert files of tools to tables, which are written while the files are read.

    Parameters
    ----------
    files : sequence of paths
    out : path
        A new or empty folder; only tables that have rows are written.
    reading : Reading, optional
        Options for reading the files; see :func:`voirdire.read`.
    overwrite : bool
        If true, tables of an earlier import may be replaced.

    Returns
    -------
    Imported
        Counts and notes; the rows are in the folder.

    Raises
    ------
    InputError
        As :func:`voirdire.read`, or the folder cannot be written; nothing is left behind then.
    """
    with write_folder_atomically(out, LAYOUT, overwrite=overwrite) as place:
        return read_as(list(files), reading or Reading(), folder=place)


_KIND_OF_SUFFIX = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def is_foreign(path: str) -> bool:
    """True if a file is one of a tool, or a table with other column names or in another layout or file format."""
    return _tool_and_names(path) is not None


def _tool_and_names(path: str) -> tuple[str, tuple[str, ...]] | None:
    """Tool and columns as :func:`_tool_and_columns` gives them; None also if there is no such file."""
    if path != "-" and not os.path.isfile(path):
        return None
    tool_and_columns = _tool_and_columns(*_state_of_file(path))
    return ("", ()) if tool_and_columns is None and path == "-" else tool_and_columns


def converted_column_names(path: str) -> list[str] | None:
    """Columns of a file after conversion; None for a table of voirdire's, or if there is no such file."""
    tool_and_columns = _tool_and_names(path)
    if tool_and_columns is None:
        return None
    if tool_and_columns[0]:
        return imported_column_names(_read_imported(*_state_of_file(path)))
    our_names = {name: column for column, name in find_roles(tool_and_columns[1]).items()}
    return [our_names.get(name, name) for name in tool_and_columns[1]]


def original_column_names(path: str) -> tuple[str, ...]:
    """Original column names of a table with other column names than voirdire's; empty for all other files."""
    tool, names = _tool_and_names(path) or ("", ())
    return () if tool else names


def imported_column_names(imported: Imported) -> list[str]:
    """Columns of imported tables: all columns of one table, or the answer columns of several."""
    kinds = imported.kinds
    return [str(name) for name in imported.table] if len(kinds) == 1 else [ANSWER_COLUMNS[kind] for kind in kinds]


def convert_foreign_file(path: str, wanted: WantedColumns) -> Cells | None:
    """Columns of a file that needs conversion; None for a table of voirdire's.

    Raises
    ------
    InputError
        The file holds none of the required columns.
    """
    tool_and_names = _tool_and_names(path)
    if tool_and_names is None:
        return None
    tool, names = tool_and_names
    if tool:
        return imported_cells(_read_imported(*_state_of_file(path)), wanted)
    columns = wanted.by_role(names)
    cells: dict[str, list[object]] = {column: [] for column in columns}
    texts: dict[object, str] = {}  # each text once
    with open_source(path) as source:
        for note in source.notes:
            give_notice(note)
        for place, record in source.records(list(columns.values())):
            if isinstance(record, str):
                wanted.problems.stop(f"{place}: {record}")
            for column, name in columns.items():
                cell = record.get(name)
                cells[column].append(texts.setdefault(cell, cell) if isinstance(cell, str) else cell)
    report_column_roles(path, columns)
    wanted.problems.row_lines = partial(_lines_of_rows, path)
    return dict(cells)


def _lines_of_rows(path: str, rows: int | None = None) -> list[int]:
    """Line number where each row of a text table begins; empty for other files, or if the number of rows differs."""
    if not os.path.isfile(path):
        return []
    with open_source(path) as source:
        lines = [line for line, _ in source.rows()][1:] if source.kind == "csv" else []
    return lines if rows in (None, len(lines)) else []


def imported_cells(imported: Imported, wanted: WantedColumns) -> Cells:
    """Columns of the imported table that holds the required answers, else of the only table.

    Raises
    ------
    InputError
        There is no such table.
    """
    frame = imported.table_of(next((kind for kind, name in ANSWER_COLUMNS.items() if name in wanted.required), None))
    imported.report_files()
    if len(imported.formats) == 1:
        wanted.problems.row_lines = partial(_lines_of_rows, next(iter(imported.formats)), len(frame))
    return {name: frame[name].tolist() for name in wanted.among([str(name) for name in frame])}


def report_column_roles(file_name: str, roles: Mapping[str, str]) -> None:
    """Report which columns are taken for voirdire's."""
    if shown := ", ".join(f"{name!r} as {column}" for column, name in roles.items() if name != column):
        give_notice(f"{file_name}: columns are taken for others: {shown}.")


def write_votes(path: str, folder: str) -> str:
    """Write the votes of a large file of a tool, or with other columns, into a folder; return the table's path."""
    read_as(path, Reading(), folder=Path(folder)).report_files()
    return str(Path(folder, "votes.csv"))


def _state_of_file(path: str) -> tuple[str, tuple[int, ...]]:
    """The path of a file, and modification times (ns) and sizes (bytes) of it and of its file of options."""
    states = [os.stat(name) for name in (path, path + OPTIONS_SUFFIX) if path != "-" and os.path.exists(name)]
    return path, tuple(number for state in states for number in (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _tool_and_columns(path: str, changed: tuple[int, ...]) -> tuple[str, tuple[str, ...]] | None:
    """Tool that wrote a file, and the file's columns; None for a table of voirdire's.

    The tool is its name; ``table`` for a table with another layout or with a file of options beside it; empty if only
    the column names or the file format differ.
    """
    our_suffix = Path(path).suffix.lower() in _KIND_OF_SUFFIX
    if os.path.isfile(path + OPTIONS_SUFFIX):
        return "table", ()
    try:
        with open_source(path) as source:
            if source.head.shape == "table" and _is_our_table(source, path):
                return None
            tool = tool_from_first_record(source.head)
            if tool is None and source.head.shape == "object":
                unfold_table(source, FormatOptions())
            if source.head.lone and tool is None:
                source.head = source.head.as_single_record_list()
            if source.head.shape not in ("records", "table"):
                return None if tool is None else (tool.name, ())
            names = source.columns()
            if _is_our_table(source, path):
                return None
            tool = tool_of_file(source)
            if tool is not None:
                return tool.name, names
            unfold_table(source, FormatOptions())
            names = source.columns()
            roles = find_roles(names)
            if has_known_layout(source, roles) or (source.unfolded and has_known_table_kind(source, FormatOptions())):
                return "table", names
            our_wrapping = _needs_no_conversion(source, path)
            other_wrapping = not our_suffix or (source.kind != "csv" and not our_wrapping)
            other_names = any(column != name for column, name in roles.items())
            answers = bool(set(ANSWER_COLUMNS.values()) & roles.keys())
            if names and (other_wrapping or (not our_wrapping and table_kind(roles)) or (other_names and answers)):
                return "", names
    except InputError:
        if not our_suffix or zipfile.is_zipfile(
            path
        ):  # a spreadsheet under another name, of which sheets are to be said
            raise
    return None


def _is_our_table(source: Source, path: str) -> bool:
    """True if a file needs no conversion and has the columns of one kind of table under voirdire's names."""
    return _needs_no_conversion(source, path) and bool(
        table_kind([name for name in source.columns() if name in ALIASES])
    )


def _needs_no_conversion(source: Source, path: str) -> bool:
    """True if a file is in a file format of voirdire's tables that needs no conversion."""
    our_kind = _KIND_OF_SUFFIX.get(Path(path).suffix.lower()) == source.kind
    return our_kind and source.separator == "," and not source.packed


@lru_cache(maxsize=1)
def _read_imported(path: str, changed: tuple[int, ...]) -> Imported:
    return read_as(path, Reading())
