"""Reading of a single Parquet file by DuckDB, with the columns and names of the file."""

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
from voirdire.tables.formats import failures
from voirdire.tables.formats.failures import convert_library_errors

_BATCH_ROWS = 10_000
_MAGIC = b"PAR1"
_HASH = "hash"  # DuckDB's function that codes texts
_INTEGER_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_MIN_CELL_BYTES = 8


@dataclass(frozen=True)
class ParquetColumn:
    """A column: its name, its name in DuckDB (which ignores case, so the two may differ), and its type."""

    name: str
    alias: str
    type: str

    @property
    def sql(self) -> str:
        """SQL of the column. Times with a zone become text, because Python's would need another package."""
        return sql_name(self.alias) + ("::VARCHAR" if "WITH TIME ZONE" in self.type else "")


@contextmanager
def duckdb_connection(folder: str | Path) -> Iterator[Any]:
    """Open a connection to DuckDB that writes temporary files to a folder and prints nothing."""
    import duckdb

    with duckdb.connect() as connection:
        # it would be printed to standard output
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = {sql_literal(str(folder))}")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def path_sql_literal(path: str, folder: str | Path) -> str:
    """Write a path as an SQL literal that matches this file alone.

    DuckDB reads names as patterns and cannot escape every name. A file with special characters in its path is read
    through a symbolic link in ``folder``.

    Examples
    --------
    >>> path_sql_literal("/data/votes.csv", "/tmp")
    "'/data/votes.csv'"
    """
    real = os.path.realpath(path)
    if not re.fullmatch(r"[\w./: -]+", real):
        link = os.path.join(tempfile.mkdtemp(dir=folder), "file")
        with suppress(OSError):  # without links, brackets must suffice
            os.symlink(real, link)
            real = link
    return sql_literal(re.sub(r"[*?[]", r"[\g<0>]", real))


def parquet_source(path: str, folder: str | Path) -> str:
    """Write DuckDB's table function for a Parquet file. Names of folders do not become columns."""
    return f"read_parquet({path_sql_literal(path, folder)}, hive_partitioning = false)"


def parquet_columns(connection: Any, path: str, folder: str | Path) -> list[ParquetColumn]:
    """List the columns of a Parquet file, in the order of the file.

    Raises
    ------
    InputError
        The file does not begin with the mark of Parquet files.
    """
    with open(path, "rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"file {path!r} cannot be read as Parquet: it does not begin as one does; write it anew")
    described = connection.execute(f"DESCRIBE SELECT * FROM {parquet_source(path, folder)}").fetchall()
    tree = connection.execute(f"SELECT name, num_children FROM parquet_schema({path_sql_literal(path, folder)})")
    names, remaining_parts = [], 0  # number of next entries that are parts of the last column
    for name, children in tree.fetchall()[1:]:
        if not remaining_parts:
            names.append(name)
        remaining_parts += (children or 0) - (1 if remaining_parts else 0)
    return [ParquetColumn(name, alias, kind) for name, (alias, kind, *_) in zip(names, described, strict=True)]


def parquet_names(path: str) -> list[str]:
    """List the names of the columns of a Parquet file.

    Raises
    ------
    InputError
        The file is damaged.
    """
    with (
        tempfile.TemporaryDirectory(prefix="voirdire-") as folder,
        convert_library_errors(path, "Parquet"),
        duckdb_connection(folder) as connection,
    ):
        return [column.name for column in parquet_columns(connection, path, folder)]


@contextmanager
def _open_columns(path: str, wanted: Sequence[str]) -> Iterator[tuple[Any, str, list[ParquetColumn]]]:
    """Open a Parquet file and check its size; yield a connection, the table function and the wanted columns."""
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        with convert_library_errors(path, "Parquet"):
            connection.execute("SET threads = 1")
            by_name = {column.name: column for column in parquet_columns(connection, path, folder)}
            columns = [by_name[name] for name in wanted]
            _check_size(connection, path, folder, columns)
        yield connection, parquet_source(path, folder), columns


def parquet_cells(path: str, wanted: Sequence[str]) -> Cells:
    """Read cells of some columns of a Parquet file; long columns of text or integers come as codes, which is faster.

    Raises
    ------
    InputError
        As :func:`parquet_rows`.
    """
    with _open_columns(path, wanted) as (connection, table, columns), convert_library_errors(path, "Parquet"):
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        cells: Cells = {}
        for column in columns if rows >= MIN_CODED_ROWS else ():
            coded = None
            if column.type == "VARCHAR":
                coded = coded_texts(connection, table, column.sql)
            elif column.type in _INTEGER_TYPES:
                coded = _coded_numbers(connection, table, column.sql)
            cells |= {} if coded is None else {column.name: coded}
    uncoded = [name for name in wanted if name not in cells]
    fetched = list(chain.from_iterable(parquet_rows(path, uncoded))) if uncoded else []
    cells |= {name: [row[index] for row in fetched] for index, name in enumerate(uncoded)}
    return {name: cells[name] for name in wanted}


def coded_texts(connection: Any, table: str, column: str) -> CodedCells | None:
    """Read a column of text as codes, by hashes; None where two texts have the same hash."""
    import pandas as pd

    names = connection.execute(f"SELECT DISTINCT {column} name, {_HASH}({column}) hash FROM {table}").fetchnumpy()
    order = np.argsort(names["hash"])
    ordered = names["hash"][order]
    if (ordered[1:] == ordered[:-1]).any():
        return None
    hashes = connection.execute(f"SELECT {_HASH}({column}) hash FROM {table}").fetchnumpy()["hash"]
    codes, first_hashes = pd.factorize(hashes)
    positions = order[np.searchsorted(ordered, first_hashes)]
    missing = np.ma.getmaskarray(names["name"])[positions]
    levels: Any = np.where(missing, None, np.ma.getdata(names["name"])[positions])
    return CodedCells(codes.astype(np.int64, copy=False), [*levels, None])


def _coded_numbers(connection: Any, table: str, column: str) -> CodedCells:
    """Read a column of integers as codes."""
    import pandas as pd

    numbers = connection.execute(f"SELECT {column} number FROM {table}").fetchnumpy()["number"]
    codes, levels = pd.factorize(np.ma.getdata(numbers))
    codes = np.where(np.ma.getmaskarray(numbers), len(levels), codes)
    return CodedCells(codes.astype(np.int64, copy=False), [*levels.tolist(), None])


def parquet_rows(path: str, wanted: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows of some columns of a Parquet file in batches.

    Raises
    ------
    InputError
        The file is damaged, or exceeds the limits of :mod:`voirdire.tables.formats.failures`.
    """
    with _open_columns(path, wanted) as (connection, table, columns):
        with convert_library_errors(path, "Parquet"):
            selected = ", ".join(column.sql for column in columns)
            result = connection.execute(f"SELECT {selected} FROM {table}")
        while True:
            with convert_library_errors(path, "Parquet"):
                rows = result.fetchmany(_BATCH_ROWS)
            if not rows:
                return
            yield rows


def _check_size(connection: Any, path: str, folder: str, columns: Sequence[ParquetColumn]) -> None:
    """Refuse a file that needs far more memory than its size on disk."""
    bound = failures.streamed_size_limit(os.path.getsize(path))
    (rows,) = connection.execute(
        f"SELECT num_rows FROM parquet_file_metadata({path_sql_literal(path, folder)})"
    ).fetchone()
    size = rows * len(columns) * _MIN_CELL_BYTES
    texts = [column.sql for column in columns if column.type == "VARCHAR"]
    if size <= bound and texts:
        lengths = ", ".join(f"sum(strlen({text})), max(strlen({text}))" for text in texts)
        sizes = connection.execute(f"SELECT {lengths} FROM {parquet_source(path, folder)}").fetchone()
        size += sum(length or 0 for length in sizes[::2])
        if max(length or 0 for length in sizes[1::2]) > failures.record_bound():
            raise failures.too_large_error(f"file {path!r} has a cell of", failures.record_bound())
    if size > bound:
        raise failures.too_large_error(f"file {path!r} unpacks to", bound)


def sql_literal(text: str) -> str:
    """Quote text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """Quote a name in SQL."""
    return '"' + name.replace('"', '""') + '"'
