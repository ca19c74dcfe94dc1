"""The records of a file one at a time, with their places: JSON lists, lines of JSON, rows of tables.

What stands for a record that cannot be read is the reason, as a text.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from voirdire.errors import InputError
from voirdire.tables.formats.streams import open_text
from voirdire.tables.parquet_file import connected, parquet, parquet_columns

_CHUNK = 2**22  # characters of a JSON list that are looked at together
_SEPARATORS = (",", "\t", ";", "|")

Record: TypeAlias = dict[str, Any]
Placed: TypeAlias = Iterator[tuple[str, Record | str]]


def listed(path: str, name: str) -> Placed:
    """The objects of a JSON list, of which only a part is in memory."""
    decode = json.JSONDecoder().raw_decode
    with open_text(path) as stream:
        buffer = stream.read(_CHUNK).lstrip().removeprefix("[")
        number, at, size = 0, 0, _CHUNK
        while True:
            at = _skip(buffer, at)
            if at < len(buffer) and buffer[at] == "]":
                return
            try:
                value, end = decode(buffer, at)
                complete = end < len(buffer)  # a number may go on in what comes next
            except (ValueError, IndexError) as error:
                value, end, complete, why = None, at, False, error
            else:
                why = ValueError("the list has no end")
            if not complete:
                more = stream.read(size)
                if not more:
                    place = f"{name}[{number}]"
                    reason = getattr(why, "msg", None) or str(why)
                    raise InputError(f"{place}: not JSON ({reason}); is the file whole?")
                buffer, at = buffer[at:] + more, 0
                size = max(_CHUNK, len(buffer))  # a long record is not read anew with every part of it
                continue
            yield f"{name}[{number}]", value if isinstance(value, dict) else _no_object(value)
            number, at = number + 1, end


def _skip(buffer: str, at: int) -> int:
    while at < len(buffer) and buffer[at] in " \t\r\n,":
        at += 1
    return at


def lined(path: str, name: str) -> Placed:
    """The object in each line that is not empty."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError as error:
                yield f"{name}:{number}", f"not a JSON object: {getattr(error, 'msg', error)}"
            else:
                yield f"{name}:{number}", value if isinstance(value, dict) else _no_object(value)


def _no_object(value: object) -> str:
    return f"a {type(value).__name__} instead of an object"


def named_cells(rows: Iterator[tuple[int, list[Any]]], name: str) -> Placed:
    """Rows by the names of their header."""
    header = next(rows)[1]
    for number, row in rows:
        place = f"{name}:{number}"
        if len(row) == len(header):
            yield place, dict(zip(header, row, strict=True))
        elif row:
            yield place, f"{len(row)} fields, where the header has {len(header)}"


def separated(path: str, name: str, separator: str) -> Iterator[tuple[int, list[Any]]]:
    """Header and rows of a text table with their lines."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with open_text(path, newline="") as lines:
            reader = csv.reader(lines, delimiter=separator, strict=True)
            try:
                for row in reader:
                    if row:
                        yield reader.line_num, row
            except csv.Error as error:
                raise InputError(
                    f"{name}: line {reader.line_num} is not CSV: {error}; is a quotation mark left open?"
                ) from None
    finally:
        csv.field_size_limit(limit)


def sheet(path: str) -> Iterator[tuple[int, list[Any]]]:
    """Header and rows of the first sheet of a spreadsheet with their lines."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"file {path!r} is a spreadsheet; install voirdire[xlsx] to read it, or save it as CSV"
        ) from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        width = 0
        for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
            cells = ["" if cell is None else cell for cell in row]
            while cells and cells[-1] == "" and len(cells) > width:
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))
    finally:
        book.close()


def parquet_records(path: str, name: str, columns: Sequence[str]) -> Placed:
    """Rows of a Parquet file, of which only some columns need be read; all where none is named."""
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, connected(folder) as connection:
        connection.execute("SET threads = 1")
        present = parquet_columns(connection, path, folder)
        wanted = [column for column in present if not columns or column.name in columns] or present
        names = [column.name for column in wanted]
        selected = ", ".join(column.sql for column in wanted)
        found = connection.execute(f"SELECT {selected} FROM {parquet(path, folder)}")
        number = 0
        while rows := found.fetchmany(10_000):
            for row in rows:
                number += 1
                yield f"{name} row {number}", dict(zip(names, row, strict=True))


def parquet_names(path: str) -> list[str]:
    """The columns of a Parquet file."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, connected(folder) as connection:
        try:
            return [column.name for column in parquet_columns(connection, path, folder)]
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise InputError(f"file {path!r} cannot be read as Parquet: {said}; is it whole?") from None


def separator_of(path: str) -> str:
    """The separator that makes most columns of the header; a comma where none does."""
    with open_text(path, newline="") as lines:
        header = "".join(line for _, line in zip(range(1), lines, strict=False))
    return max(_SEPARATORS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
