"""The records of a file one at a time, with their places: JSON lists, lines of JSON, rows of tables.

What stands for a record that cannot be read is the reason, as a text.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from voirdire.errors import InputError
from voirdire.tables.cells import repeated_columns
from voirdire.tables.csv_file import REPEATED_HEADER, repeats_header
from voirdire.tables.formats import size_limits
from voirdire.tables.formats.json_text import (
    UNMERGED,
    NotJsonError,
    RepeatedKeyError,
    is_merge_conflict_marker,
    list_members,
    parse_json,
)
from voirdire.tables.formats.streams import open_text

Record: TypeAlias = dict[str, Any]
Placed: TypeAlias = Iterator[tuple[str, Record | str]]
#: Rows of a table with the numbers of their lines; for one that cannot be read, the reason.
Numbered: TypeAlias = Iterator[tuple[int, Sequence[Any] | str]]


#: Last columns of results of Mechanical Turk, for whoever looks through them: rows end before them.
_TO_FILL_IN = ("Approve", "Reject")


class Unread(str):
    """Why a line holds no value."""


class Repeated(Unread):
    """That a key of a line occurs twice."""


def json_values(path: str, name: str, kind: str) -> Generator[tuple[int, Any], None, None]:
    """The values of a JSON list by their number, or of lines of JSON by that of the line, where some may be `Unread`.

    Parameters
    ----------
    kind : "json" or "jsonl"

    Raises
    ------
    InputError
        The list is broken, or something stands behind it; a key occurs twice in an object; two versions of the file
        were not merged.
    """
    if kind == "json":
        with open_text(path) as stream:
            yield from enumerate(list_members(stream, name))
        return
    with open_text(path, newline="\n", lines=True) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            if len(line) > size_limits.SHORT:
                size_limits.check_json_object_count(line, 0, f"{name}:{number}")
            try:
                value = parse_json(line)
            except NotJsonError as error:
                if is_merge_conflict_marker(line):
                    raise InputError(f"{name}:{number}: {UNMERGED}") from None
                value = (Repeated if isinstance(error, RepeatedKeyError) else Unread)(error)
            yield number, value


def json_objects(path: str, name: str, kind: str) -> Placed:
    """The objects of a JSON list, or of lines of JSON.

    Raises
    ------
    InputError
        As :func:`json_values`, or a key occurs twice in an object.
    """
    with closing(json_values(path, name, kind)) as found:
        for number, value in found:
            place = f"{name}[{number}]" if kind == "json" else f"{name}:{number}"
            if isinstance(value, Repeated):
                raise InputError(f"{place}: {value} in an object; keep one")
            yield place, value if isinstance(value, dict) else non_object_reason(value)


def non_object_reason(value: object) -> str:
    """Say why a value is no object.

    Examples
    --------
    >>> non_object_reason([1]), non_object_reason(Unread("Expecting value"))
    ('a list instead of an object', 'not a JSON object: Expecting value')
    """
    if isinstance(value, Unread):
        return f"not a JSON object: {value}"
    return f"a {type(value).__name__} instead of an object"


def records_by_column(found: Mapping[str, Any]) -> list[Record] | None:
    """Records of a table that is written by column, as programs write a dataframe; None for any other object.

    Examples
    --------
    >>> records_by_column({"judge": ["a", "b"], "score": [1, 2]})
    [{'judge': 'a', 'score': 1}, {'judge': 'b', 'score': 2}]
    >>> records_by_column({"judge": {"0": "a"}, "score": {"0": 1}})
    [{'judge': 'a', 'score': 1}]
    >>> records_by_column({"x": {"id": "a"}, "y": {"id": "b"}})
    """
    columns = list(found.values())
    if all(isinstance(cells, dict) and all(map(str.isdigit, cells)) for cells in columns):
        if any(list(cells) != list(columns[0]) for cells in columns):
            return None
        columns = [list(cells.values()) for cells in columns]
    whole = len(columns) > 1 and all(isinstance(cells, list) and cells for cells in columns)
    if not whole or len({len(cells) for cells in columns}) > 1:
        return None
    if any(isinstance(cell, list | dict) for cells in columns for cell in cells):
        return None
    return [dict(zip(found, cells, strict=True)) for cells in zip(*columns, strict=True)]


def json_rows(path: str, name: str, kind: str) -> Numbered:
    """The lists of a JSON list, or of lines of JSON, as rows of a table."""
    for number, value in json_values(path, name, kind):
        if isinstance(value, list | Unread):
            yield number, value if isinstance(value, list) else f"not a JSON list: {value}"
        else:
            yield number, f"a {type(value).__name__} instead of a list"


def rows_to_records(rows: Numbered, names: Sequence[str], name: str) -> Placed:
    """Rows by the names of their columns, of which some may be nameless and are left out where there are several.

    Parameters
    ----------
    rows : iterator
        The header and then the rows.
    names : sequence of str
        Those of the header.
    name : str
        Of the file, for the places.
    """
    next(rows)
    kept = None if names.count("") < 2 else [at for at, column in enumerate(names) if column]
    short = len(names) - len(_TO_FILL_IN) if tuple(names[-len(_TO_FILL_IN) :]) == _TO_FILL_IN else None
    for number, row in rows:
        place = f"{name}:{number}"
        if len(row) == short and not isinstance(row, str):
            row = [*row, *("" for _ in _TO_FILL_IN)]
        if isinstance(row, str):
            yield place, row
        elif repeats_header(row, names):
            yield place, REPEATED_HEADER
        elif len(row) == len(names):
            if kept is None:
                yield place, dict(zip(names, row, strict=True))
            else:
                yield place, {names[at]: row[at] for at in kept}
        elif row:
            yield place, f"{len(row)} fields, where the header has {len(names)}"


def column_names(header: Iterable[object], name: str) -> tuple[str, ...]:
    """The names of columns, as text.

    Raises
    ------
    InputError
        A name occurs twice, or is none.

    Examples
    --------
    >>> column_names(["item", 7, 2.0, None], "t.xlsx")
    ('item', '7', '2', '')
    """
    names, problems = [], []
    for at, cell in enumerate(header, start=1):
        if isinstance(cell, dict | list):
            problems.append(f"{name}: the name of column {at} is a {type(cell).__name__}; write a text")
            cell = f"column {at}"
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        names.append("" if cell is None else cell if isinstance(cell, str) else str(cell))
    broken = [column for column in names if any("\ud800" <= letter <= "\udfff" for letter in column)]
    problems += [f"{name}: column {column!r} has half of a character; name it anew" for column in broken]
    problems += [f"{name}: {sentence}" for sentence in repeated_columns(names)]
    if problems:
        raise InputError(problems)
    return tuple(names)
