"""Records of a file with their places, one at a time: JSON lists, lines of JSON, rows of tables.

A text with the reason replaces a record that cannot be read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from voirdire.errors import InputError
from voirdire.tables.cells import repeated_columns
from voirdire.tables.csv_file import REPEATED_HEADER, repeats_header
from voirdire.tables.formats import failures
from voirdire.tables.formats.json_text import NotJsonError, RepeatedKeyError, check_unmerged, list_members, parse_json
from voirdire.tables.formats.rows import name_text
from voirdire.tables.formats.streams import open_text

Record: TypeAlias = dict[str, Any]
Placed: TypeAlias = Iterator[tuple[str, Record | str]]
#: Rows of a table with their line numbers; a reason replaces a row that cannot be read.
Numbered: TypeAlias = Iterator[tuple[int, Sequence[Any] | str]]


#: Last columns of Mechanical Turk's results, for the reviewer; rows may end before them.
_REVIEW_COLUMNS = ("Approve", "Reject")


def first_name(record: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first nonempty name under some keys; None without one.

    Examples
    --------
    >>> first_name({"id": "", "name": 7}, ("id", "name"))
    '7'
    """
    return next((name for key in keys if (name := name_text(record.get(key)))), None)


class Unread(str):
    """Reason why a line holds no value."""


class Repeated(Unread):
    """Reason for a line in which a key occurs twice."""


def json_values(path: str, name: str, kind: str) -> Generator[tuple[int, Any], None, None]:
    """Values of a JSON list with their numbers, or of lines of JSON with line numbers; some may be `Unread`.

    Parameters
    ----------
    kind : "json" or "jsonl"

    Raises
    ------
    InputError
        The list is broken, or text follows it; a key occurs twice in an object; the file has an unresolved merge
        conflict.
    """
    if kind == "json":
        with open_text(path) as stream:
            yield from enumerate(list_members(stream, name))
        return
    with open_text(path, newline="\n", lines=True) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            if len(line) > failures.MAX_UNCHECKED_SIZE:
                failures.check_json_object_count(line, 0, f"{name}:{number}")
            try:
                value = parse_json(line)
            except NotJsonError as error:
                check_unmerged(line, f"{name}:{number}")
                value = (Repeated if isinstance(error, RepeatedKeyError) else Unread)(error)
            yield number, value


def json_objects(path: str, name: str, kind: str) -> Placed:
    """The objects of a JSON list, or of lines of JSON.

    Raises
    ------
    InputError
        As :func:`json_values`, or a key occurs twice in an object.
    """
    with closing(json_values(path, name, kind)) as values:
        for number, value in values:
            place = f"{name}[{number}]" if kind == "json" else f"{name}:{number}"
            if isinstance(value, Repeated):
                raise InputError(f"{place}: {value} in an object; keep one")
            yield place, value if isinstance(value, dict) else non_object_reason(value)


def non_object_reason(value: object) -> str:
    """State why a value is no object.

    Examples
    --------
    >>> non_object_reason([1]), non_object_reason(Unread("Expecting value"))
    ('a list instead of an object', 'not a JSON object: Expecting value')
    """
    if isinstance(value, Unread):
        return f"not a JSON object: {value}"
    return f"a {type(value).__name__} instead of an object"


def records_by_column(table: Mapping[str, Any]) -> list[Record] | None:
    """Records of a table in column orientation, as programs write a dataframe; None for other objects.

    Examples
    --------
    >>> records_by_column({"judge": ["a", "b"], "score": [1, 2]})
    [{'judge': 'a', 'score': 1}, {'judge': 'b', 'score': 2}]
    >>> records_by_column({"judge": {"0": "a"}, "score": {"0": 1}})
    [{'judge': 'a', 'score': 1}]
    >>> records_by_column({"x": {"id": "a"}, "y": {"id": "b"}})
    """
    columns = list(table.values())
    if all(isinstance(cells, dict) and all(map(str.isdigit, cells)) for cells in columns):
        if any(list(cells) != list(columns[0]) for cells in columns):
            return None
        columns = [list(cells.values()) for cells in columns]
    is_table = len(columns) > 1 and all(isinstance(cells, list) and cells for cells in columns)
    if not is_table or len({len(cells) for cells in columns}) > 1:
        return None
    if any(isinstance(cell, list | dict) for cells in columns for cell in cells):
        return None
    return [dict(zip(table, cells, strict=True)) for cells in zip(*columns, strict=True)]


def json_rows(path: str, name: str, kind: str) -> Numbered:
    """The lists of a JSON list, or of lines of JSON, as rows of a table."""
    for number, value in json_values(path, name, kind):
        if isinstance(value, list | Unread):
            yield number, value if isinstance(value, list) else f"not a JSON list: {value}"
        else:
            yield number, f"a {type(value).__name__} instead of a list"


def rows_to_records(rows: Numbered, names: Sequence[str], name: str) -> Placed:
    """Convert rows to records by column name; several columns without a name are left out.

    Parameters
    ----------
    rows : iterator
        The header, then the rows.
    names : sequence of str
        Column names of the header.
    name : str
        Name of the file, for the places.
    """
    next(rows)
    named_positions = None if names.count("") < 2 else [position for position, column in enumerate(names) if column]
    short_length = (
        len(names) - len(_REVIEW_COLUMNS) if tuple(names[-len(_REVIEW_COLUMNS) :]) == _REVIEW_COLUMNS else None
    )
    for number, row in rows:
        place = f"{name}:{number}"
        if len(row) == short_length and not isinstance(row, str):
            row = [*row, *("" for _ in _REVIEW_COLUMNS)]
        if isinstance(row, str):
            yield place, row
        elif repeats_header(row, names):
            yield place, REPEATED_HEADER
        elif len(row) == len(names):
            if named_positions is None:
                yield place, dict(zip(names, row, strict=True))
            else:
                yield place, {names[position]: row[position] for position in named_positions}
        elif row:
            yield place, f"{len(row)} fields, where the header has {len(names)}"


def column_names(header: Iterable[object], name: str) -> tuple[str, ...]:
    """Names of columns as text.

    Raises
    ------
    InputError
        A name occurs twice, or is a list, an object or invalid text.

    Examples
    --------
    >>> column_names(["item", 7, 2.0, None], "t.xlsx")
    ('item', '7', '2', '')
    """
    names, problems = [], []
    for number, cell in enumerate(header, start=1):
        if isinstance(cell, dict | list):
            problems.append(f"{name}: the name of column {number} is a {type(cell).__name__}; write a text")
            cell = f"column {number}"
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        names.append("" if cell is None else cell if isinstance(cell, str) else str(cell))
    invalid = [column for column in names if any("\ud800" <= letter <= "\udfff" for letter in column)]
    problems += [f"{name}: column {column!r} has half of a character; name it anew" for column in invalid]
    problems += [f"{name}: {sentence}" for sentence in repeated_columns(names)]
    if problems:
        raise InputError(problems)
    return tuple(names)
