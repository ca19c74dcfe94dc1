"""Files that are no tables of ours, taken for one: those of tools, with other names of columns, in other wrappings."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from voirdire.errors import InputError
from voirdire.notices import give_notice
from voirdire.tables.cells import Cells, choose_columns
from voirdire.tables.columns import ALIASES, ANSWERS, find_roles, table_kind
from voirdire.tables.formats.format import Asked
from voirdire.tables.formats.imported import Imported
from voirdire.tables.formats.registry import tool_from_first_record, tool_of_file, unfold_table
from voirdire.tables.formats.source import Source, open_source
from voirdire.tables.formats.tables import has_known_layout, has_known_table_kind
from voirdire.tables.problems import Problems
from voirdire.tables.reading import BESIDE, Reading, read_as

_OURS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def is_foreign(path: str) -> bool:
    """True where a file is one of a tool, or a table with other names of columns or in another layout or wrapping."""
    return _tool_and_names(path) is not None


def _tool_and_names(path: str) -> tuple[str, tuple[str, ...]] | None:
    """As :func:`_tool_and_columns`; None, too, for what is no file."""
    if path != "-" and not os.path.isfile(path):
        return None
    found = _tool_and_columns(*_state_of_file(path))
    return ("", ()) if found is None and path == "-" else found


def converted_column_names(path: str) -> list[str] | None:
    """The columns that such a file has as a table of ours; None for one that is ours, and for what is no file."""
    found = _tool_and_names(path)
    if found is None:
        return None
    if found[0]:
        return imported_column_names(_read_imported(*_state_of_file(path)))
    used = {name: column for column, name in find_roles(found[1]).items()}
    return [used.get(name, name) for name in found[1]]


def original_column_names(path: str) -> tuple[str, ...]:
    """The columns of a file that is a table of other names than ours, under its own names; nothing of all others."""
    tool, names = _tool_and_names(path) or ("", ())
    return () if tool else names


def imported_column_names(found: Imported) -> list[str]:
    """The columns of what was imported: of one table all, of several those of answers."""
    kinds = found.kinds
    return [str(name) for name in found.table] if len(kinds) == 1 else [ANSWERS[kind] for kind in kinds]


def foreign_cells(
    path: str, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells | None:
    """Columns of such a file; None for one that is ours.

    Raises
    ------
    InputError
        It holds nothing that is wanted.
    """
    known = _tool_and_names(path)
    if known is None:
        return None
    tool, names = known
    if tool:
        return imported_cells(_read_imported(*_state_of_file(path)), required, optional, problems)
    roles = column_name_mapping(names, required, optional)
    with open_source(path) as source:
        cells = _renamed_columns(source, names, roles, required, optional, problems)
    report_column_roles(path, roles)
    problems.row_lines = partial(_lines_of_rows, path)
    return cells


def _lines_of_rows(path: str, rows: int | None = None) -> list[int]:
    """Line that each row of a text table begins in; none of other files, or of one with another number of rows."""
    if not os.path.isfile(path):
        return []
    with open_source(path) as source:
        lines = [line for line, _ in source.rows()][1:] if source.kind == "csv" else []
    return lines if rows in (None, len(lines)) else []


def imported_cells(
    found: Imported, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    """Columns of what was imported: of the table with the answers that are required, else of the only one.

    Raises
    ------
    InputError
        There is no such table.
    """
    wanted = next((kind for kind, column in ANSWERS.items() if column in required), None)
    frame = found.table_of(wanted)
    found.say()
    if len(found.formats) == 1:
        problems.row_lines = partial(_lines_of_rows, next(iter(found.formats)), len(frame))
    return {
        name: frame[name].tolist()
        for name in choose_columns([str(name) for name in frame], required, optional, problems)
    }


def column_name_mapping(
    names: Sequence[str], required: Sequence[str], optional: Sequence[str] | None
) -> dict[str, str]:
    """Columns of ours that are wanted and stand under other names, to these."""
    asked = [*required, *(optional or ())]
    return {column: name for column, name in find_roles(names).items() if column != name and column in asked}


def report_column_roles(called: str, roles: Mapping[str, str]) -> None:
    """Say which columns are taken for ours."""
    if roles:
        shown = ", ".join(f"{name!r} as {column}" for column, name in roles.items())
        give_notice(f"{called}: columns are taken for others: {shown}.")


def write_votes(path: str, folder: str) -> str:
    """The votes of a large file of a tool or of other columns, written into a folder as a table of ours."""
    read_as(path, Reading(), folder=Path(folder)).say()
    return str(Path(folder, "votes.csv"))


def _state_of_file(path: str) -> tuple[str, tuple[int, ...]]:
    """A file and when it, and what is beside it, were changed."""
    states = [os.stat(name) for name in (path, path + BESIDE) if path != "-" and os.path.exists(name)]
    return path, tuple(number for state in states for number in (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _tool_and_columns(path: str, changed: tuple[int, ...]) -> tuple[str, tuple[str, ...]] | None:
    """Tool that wrote a file, and its columns; None for a table of ours.

    A tool's name; ``table`` for a table whose layout is another, or beside which a file says how it is read; nothing
    where only names of columns or the wrapping are others.
    """
    ours = Path(path).suffix.lower() in _OURS
    if os.path.isfile(path + BESIDE):
        return "table", ()
    try:
        with open_source(path) as source:
            found = tool_from_first_record(source.head)
            if found is None and source.head.shape == "object":
                unfold_table(source, Asked())
            if source.head.lone and found is None:
                source.head = source.head.as_single_record_list()
            if source.head.shape not in ("records", "table"):
                return None if found is None else (found.name, ())
            names = source.columns()
            if _is_ours(source, path) and table_kind([name for name in names if name in ALIASES]):
                return None
            found = tool_of_file(source)
            if found is not None:
                return found.name, names
            unfold_table(source, Asked())
            names = source.columns()
            roles = find_roles(names)
            if has_known_layout(source, roles) or (source.unfolded and has_known_table_kind(source, Asked())):
                return "table", names
            plain = _is_ours(source, path)
            elsewhere = not ours or (source.kind != "csv" and not plain)
            others = any(column != name for column, name in roles.items())
            answers = bool(set(ANSWERS.values()) & roles.keys())
            if names and (elsewhere or (not plain and table_kind(roles)) or (others and answers)):
                return "", names
    except InputError:
        if not ours or zipfile.is_zipfile(
            path
        ):  # a spreadsheet under another name, of which sheets are to be said
            raise
    return None


def _is_ours(source: Source, path: str) -> bool:
    """True where a file is in a wrapping that tables of ours are read from as they are."""
    plain = _OURS.get(Path(path).suffix.lower()) == source.kind
    return plain and source.separator == "," and not source.packed


@lru_cache(maxsize=1)
def _read_imported(path: str, changed: tuple[int, ...]) -> Imported:
    return read_as(path, Reading())


def _renamed_columns(
    source: Source,
    names: Sequence[str],
    roles: Mapping[str, str],
    required: Sequence[str],
    optional: Sequence[str] | None,
    problems: Problems,
) -> Cells:
    """Columns under our names, as far as they are wanted and not there under them; all others keep theirs."""
    kept = [name for name in names if name not in roles.values()]
    wanted = choose_columns([*roles, *kept], required, optional, problems)
    places = [(column, roles.get(column, column)) for column in wanted]
    cells: dict[str, list[object]] = {column: [] for column in wanted}
    known: dict[object, str] = {}  # each text once
    for note in source.notes:
        give_notice(note)
    for place, record in source.records([name for _, name in places]):
        if isinstance(record, str):
            problems.stop(f"{place}: {record}")
        for column, name in places:
            cell = record.get(name)
            cells[column].append(known.setdefault(cell, cell) if isinstance(cell, str) else cell)
    return dict(cells)
