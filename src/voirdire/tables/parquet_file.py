"""A Parquet file as DuckDB reads it: this file and no other, with the columns that are in it and their own names."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.errors import InputError
from voirdire.tables.cells import MIN_CODED_ROWS, Cells, CodedCells
from voirdire.tables.formats import size_limits
from voirdire.tables.formats.failures import convert_library_errors

_FETCHED = 10_000  # rows that come together
_BEGIN = b"PAR1"
_HASH = "hash"  # what texts are told apart by
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_CELL = 8  # bytes that a cell takes at least


@dataclass(frozen=True)
class InFile:
    """A column: its name, what DuckDB calls it (names that differ in case are one to it), and its type."""

    name: str
    alias: str
    type: str

    @property
    def sql(self) -> str:
        """Columns to select. Times with a zone are text, because as Python's they need another package."""
        return sql_name(self.alias) + ("::VARCHAR" if "WITH TIME ZONE" in self.type else "")


@contextmanager
def duckdb_connection(folder: str | Path) -> Iterator[Any]:
    """A connection to DuckDB that puts temporary files into a folder, and prints nothing."""
    import duckdb

    with duckdb.connect() as connection:
        # it would go to standard output, which is ours
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = {sql_literal(str(folder))}")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def path_sql_literal(path: str, folder: str | Path) -> str:
    """A path as an SQL literal that stands for this file alone, whatever is in its name.

    DuckDB takes names for patterns, and has no way to write every name so that it is none: of a file with more than
    letters, digits and the like in its path, a link in ``folder`` is read.

    Examples
    --------
    >>> path_sql_literal("/data/votes.csv", "/tmp")
    "'/data/votes.csv'"
    """
    real = os.path.realpath(path)
    if not re.fullmatch(r"[\w./: -]+", real):
        link = os.path.join(tempfile.mkdtemp(dir=folder), "file")
        with suppress(OSError):  # where there are no links, brackets must do
            os.symlink(real, link)
            real = link
    return sql_literal(re.sub(r"[*?[]", r"[\g<0>]", real))


def parquet_source(path: str, folder: str | Path) -> str:
    """The table function of a Parquet file. The names of its folders are no columns."""
    return f"read_parquet({path_sql_literal(path, folder)}, hive_partitioning = false)"


def parquet_columns(connection: Any, path: str, folder: str | Path) -> list[InFile]:
    """The columns of a Parquet file, in its order.

    Raises
    ------
    InputError
        It does not begin as such a file does.
    """
    with open(path, "rb") as stream:
        if stream.read(len(_BEGIN)) != _BEGIN:
            raise InputError(
                f"file {path!r} cannot be read as Parquet: it does not begin as one does; write it anew"
            )
    found = connection.execute(f"DESCRIBE SELECT * FROM {parquet_source(path, folder)}").fetchall()
    tree = connection.execute(
        f"SELECT name, num_children FROM parquet_schema({path_sql_literal(path, folder)})"
    )
    names, below = [], 0  # how many of those that come next are parts of the last column
    for name, children in tree.fetchall()[1:]:
        if not below:
            names.append(name)
        below += (children or 0) - (1 if below else 0)
    return [InFile(name, alias, kind) for name, (alias, kind, *_) in zip(names, found, strict=True)]


def parquet_names(path: str) -> list[str]:
    """The columns of a Parquet file.

    Raises
    ------
    InputError
        It is damaged.
    """
    with (
        tempfile.TemporaryDirectory(prefix="voirdire-") as folder,
        convert_library_errors(path, "Parquet"),
        duckdb_connection(folder) as connection,
    ):
        return [column.name for column in parquet_columns(connection, path, folder)]


@contextmanager
def _open_columns(path: str, wanted: Sequence[str]) -> Iterator[tuple[Any, str, list[InFile]]]:
    """A connection, the table function of a Parquet file that is not too large, and its columns that are wanted."""
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        with convert_library_errors(path, "Parquet"):
            connection.execute("SET threads = 1")
            by_name = {column.name: column for column in parquet_columns(connection, path, folder)}
            columns = [by_name[name] for name in wanted]
            _check_size(connection, path, folder, columns)
        yield connection, parquet_source(path, folder), columns


def parquet_cells(path: str, wanted: Sequence[str]) -> Cells:
    """Cells of some columns of a Parquet file; long ones of text or whole numbers as codes, which are sooner made.

    Raises
    ------
    InputError
        As :func:`parquet_rows`.
    """
    with _open_columns(path, wanted) as (connection, table, columns), convert_library_errors(path, "Parquet"):
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        found: Cells = {}
        for column in columns if rows >= MIN_CODED_ROWS else ():
            coded = None
            if column.type == "VARCHAR":
                coded = coded_texts(connection, table, column.sql)
            elif column.type in _WHOLE:
                coded = _coded_numbers(connection, table, column.sql)
            found |= {} if coded is None else {column.name: coded}
    rest = [name for name in wanted if name not in found]
    read = list(chain.from_iterable(parquet_rows(path, rest))) if rest else []
    found |= {name: [row[place] for row in read] for place, name in enumerate(rest)}
    return {name: found[name] for name in wanted}


def coded_texts(connection: Any, table: str, column: str) -> CodedCells | None:
    """A column as codes, by the hashes of its texts; None where two texts have one."""
    import pandas as pd

    names = connection.execute(
        f"SELECT DISTINCT {column} name, {_HASH}({column}) hash FROM {table}"
    ).fetchnumpy()
    order = np.argsort(names["hash"])
    ordered = names["hash"][order]
    if (ordered[1:] == ordered[:-1]).any():
        return None
    hashes = connection.execute(f"SELECT {_HASH}({column}) hash FROM {table}").fetchnumpy()["hash"]
    codes, first = pd.factorize(hashes)
    place = order[np.searchsorted(ordered, first)]
    missing = np.ma.getmaskarray(names["name"])[place]
    levels: Any = np.where(missing, None, np.ma.getdata(names["name"])[place])
    return CodedCells(codes.astype(np.int64, copy=False), [*levels, None])


def _coded_numbers(connection: Any, table: str, column: str) -> CodedCells:
    """A column of whole numbers as codes."""
    import pandas as pd

    numbers = connection.execute(f"SELECT {column} number FROM {table}").fetchnumpy()["number"]
    codes, levels = pd.factorize(np.ma.getdata(numbers))
    codes = np.where(np.ma.getmaskarray(numbers), len(levels), codes)
    return CodedCells(codes.astype(np.int64, copy=False), [*levels.tolist(), None])


def parquet_rows(path: str, wanted: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows of some columns of a Parquet file, many at a time.

    Raises
    ------
    InputError
        It is damaged, or holds more than :mod:`voirdire.tables.formats.size_limits` allows.
    """
    with _open_columns(path, wanted) as (connection, table, columns):
        with convert_library_errors(path, "Parquet"):
            selected = ", ".join(column.sql for column in columns)
            found = connection.execute(f"SELECT {selected} FROM {table}")
        while True:
            with convert_library_errors(path, "Parquet"):
                rows = found.fetchmany(_FETCHED)
            if not rows:
                return
            yield rows


def _check_size(connection: Any, path: str, folder: str, columns: Sequence[InFile]) -> None:
    """Refuse a file whose cells would take far more memory than it does on the disk."""
    bound = size_limits.streamed_size_limit(os.path.getsize(path))
    (rows,) = connection.execute(
        f"SELECT num_rows FROM parquet_file_metadata({path_sql_literal(path, folder)})"
    ).fetchone()
    size = rows * len(columns) * _CELL
    texts = [column.sql for column in columns if column.type == "VARCHAR"]
    if size <= bound and texts:
        lengths = ", ".join(f"sum(strlen({text})), max(strlen({text}))" for text in texts)
        found = connection.execute(f"SELECT {lengths} FROM {parquet_source(path, folder)}").fetchone()
        size += sum(length or 0 for length in found[::2])
        if max(length or 0 for length in found[1::2]) > size_limits.record_bound():
            raise size_limits.too_large_error(f"file {path!r} has a cell of", size_limits.record_bound())
    if size > bound:
        raise size_limits.too_large_error(f"file {path!r} unpacks to", bound)


def sql_literal(text: str) -> str:
    """Text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
