"""Reduce a table to its distinct rows and how often each occurs, where the table is.

Votes are counts (see :mod:`voirdire.tables.votes`), so of a table that is too large to be read row by row only the
distinct rows need to come here. Files are grouped by DuckDB, which writes to disk what its share of the memory does not
hold; lazy frames (Polars, DuckDB, Dask, PySpark, whatever narwhals knows) are grouped by their own engine.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from voirdire.tables.encode import IntArray
from voirdire.tables.problems import Problems
from voirdire.tables.read import Cells, Coded, cells_of, choose, frame_of

MEMORY = "VOIRDIRE_MEMORY"  # the environment variable that sets how much memory grouping may take
MEMORY_DEFAULT = "1GB"
LARGE = 64 * 2**20  # bytes of a file from which it is grouped instead of read
COUNT = "voirdire count"
_SUFFIXES = (".parquet", ".csv")
_NO_NAMES = ("STRUCT", "MAP", "UNION", "LIST", "BLOB", "BIT")


def is_grouped(table: object) -> bool:
    """Whether a table is one to be grouped where it is: a pattern of files, a large file, a lazy frame.

    Examples
    --------
    >>> is_grouped("votes/*.parquet"), is_grouped("votes.csv")
    (True, False)
    """
    if isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        if _is_pattern(path):
            return True
        large = os.path.isfile(path) and os.path.getsize(path) >= LARGE
        return large and Path(path).suffix.lower() in _SUFFIXES
    module = type(table).__module__.partition(".")[0]
    if module in ("pandas", "numpy", "voirdire", "builtins"):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def grouped_columns(
    table: object, required: Sequence[str], optional: Sequence[str], problems: Problems
) -> tuple[Cells, IntArray]:
    """Distinct rows of the named columns, and how often each occurs.

    Parameters
    ----------
    table : path or lazy frame
        ``.parquet`` or ``.csv`` files, also several by a pattern (``votes/*.parquet``); or a lazy frame.
    required, optional : sequence of str
    problems : Problems
        Where problems are reported.

    Returns
    -------
    cells : dict of str to sequence
        The columns that are present, one entry per distinct row, in no particular order.
    times : int64 array, shape (distinct rows,)

    Raises
    ------
    InputError
        At once, if a file is missing, damaged or of another kind, or if no file matches.
    """
    if isinstance(table, str | os.PathLike):
        return _group_files(os.fspath(table), required, optional, problems)
    return _group_frame(table, required, optional, problems)


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.exists(path)


def header(path: str, problems: Problems) -> list[str]:
    """Names of the columns of the first of the files, reporting what cannot be read."""
    with _connection() as connection:
        return _describe(connection, _files(path, problems)[0], problems)[0]


def _group_frame(
    table: object, required: Sequence[str], optional: Sequence[str], problems: Problems
) -> tuple[Cells, IntArray]:
    import narwhals as nw

    frame, names = frame_of(table, problems)
    wanted = choose(names, required, optional, problems)
    if not wanted:
        return {}, np.zeros(0, np.int64)
    grouped = frame.select(wanted).group_by(wanted).agg(nw.len().alias(COUNT))
    try:
        backend = "polars" if frame.implementation.is_polars() else "pandas"
        found = grouped.collect(backend=backend)
    except Exception as error:
        # every engine has exceptions of its own, and what they say first is what is wrong with the table
        said = (str(error).splitlines() or [""])[0]
        problems.stop(f"the lazy frame cannot be evaluated: {type(error).__name__}: {said}")
    times = np.asarray(found[COUNT].to_list(), dtype=np.int64)
    return {name: cells_of(found[name]) for name in wanted}, times


def _group_files(
    path: str, required: Sequence[str], optional: Sequence[str], problems: Problems
) -> tuple[Cells, IntArray]:
    import duckdb

    files = _files(path, problems)
    with _connection() as connection:
        parts, every = [], None
        for file in files:
            names, types = _describe(connection, file, problems)
            of_file = Problems(problems.name)
            wanted = choose(names, required, optional, of_file)
            for sentence in of_file.sentences:
                problems.table(f"file {file!r}: {sentence}")
            for name in wanted:
                kind = types[names.index(name)]
                if kind.startswith(_NO_NAMES) or kind.endswith("]"):
                    problems.table(
                        f"file {file!r}: column {name!r} is of type {kind}, which is not a name; write it as text"
                    )
            every = wanted if every is None else every
            if wanted != every and not of_file:
                problems.table(
                    f"file {file!r}: has the columns {', '.join(wanted)}, but {files[0]!r} has {', '.join(every)}; "
                    "give all files the same"
                )
            parts.append(
                f"SELECT {', '.join(f'{_quoted(n)}::VARCHAR' for n in wanted)} FROM {_source(file, names)}"
            )
        if problems or not every:
            return {}, np.zeros(0, np.int64)
        columns = [f"c{place}" for place in range(len(every))]
        union = " UNION ALL ".join(parts)
        query = f"SELECT {', '.join(columns)}, count(*) n FROM ({union}) t({', '.join(columns)}) GROUP BY ALL"
        try:
            connection.execute(f"CREATE TEMP TABLE g AS {query}")
            return _coded(connection, every)
        except duckdb.Error as error:
            named = (file for file in files if file in str(error))
            problems.stop(_said(next(named, path), str(error)))


def _coded(connection: Any, names: Sequence[str]) -> tuple[Cells, IntArray]:
    """The distinct rows as codes: as text they would take many times the memory."""
    columns = [f"c{place}" for place in range(len(names))]
    levels = []
    for column in columns:
        distinct = f"SELECT DISTINCT {column} FROM g WHERE {column} IS NOT NULL"
        connection.execute(f"CREATE TYPE e_{column} AS ENUM ({distinct})")
        (found,) = connection.execute(f"SELECT enum_range(NULL::e_{column})").fetchone()
        levels.append([*found, None])
    codes = ", ".join(f"coalesce(enum_code({c}::e_{c})::BIGINT, -1) AS {c}" for c in columns)
    rows = connection.execute(f"SELECT {codes}, n FROM g").fetchnumpy()
    cells: Cells = {
        name: Coded(rows[column], found) for name, column, found in zip(names, columns, levels, strict=True)
    }
    return cells, np.asarray(rows["n"], dtype=np.int64)


@contextmanager
def _connection() -> Iterator[Any]:
    import duckdb

    limit = os.environ.get(MEMORY, MEMORY_DEFAULT)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb.connect() as connection:
        try:
            connection.execute(f"SET memory_limit = {_literal(limit)}")
        except duckdb.Error:
            Problems(MEMORY).stop(f"{limit!r} is not an amount of memory; write for example 2GB")
        connection.execute(f"SET temp_directory = {_literal(folder)}")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        yield connection


def _files(path: str, problems: Problems) -> list[str]:
    if not _is_pattern(path):
        return [path]
    files = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    if not files:
        problems.stop(f"no file matches {path!r}; check the folder and the pattern")
    for file in files:
        if Path(file).suffix.lower() not in _SUFFIXES:
            problems.stop(f"file {file!r} matches, but only {', '.join(_SUFFIXES)} can be read by a pattern")
        if not os.path.getsize(file):
            problems.stop(f"file {file!r} is empty; remove it")
    return files


def _describe(connection: Any, file: str, problems: Problems) -> tuple[list[str], list[str]]:
    """Names and types of a file's columns, from its header alone."""
    import duckdb

    if Path(file).suffix.lower() == ".csv":
        from voirdire.tables.files import csv_header

        names = csv_header(Path(file), problems)
        return names, ["VARCHAR"] * len(names)
    try:
        found = connection.execute(f"DESCRIBE SELECT * FROM {_source(file, [])}").fetchall()
    except duckdb.Error as error:
        problems.stop(_said(file, str(error)))
    return [row[0] for row in found], [row[1] for row in found]


def _source(file: str, names: Sequence[str]) -> str:
    if Path(file).suffix.lower() == ".parquet":
        return f"read_parquet({_literal(file)})"
    columns = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in names)
    # large buffers would take a small share of the memory for themselves
    size = "max_line_size = 2000000, buffer_size = 8000000"
    how = "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', strict_mode = true"
    return f"read_csv({_literal(file)}, {how}, {size}, columns = {{{columns}}})"


def _said(path: str, message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if "Out of Memory" in message or "out of memory" in message.lower():
        limit = os.environ.get(MEMORY, MEMORY_DEFAULT)
        return f"{path!r}: {limit} of memory do not suffice to count its rows; set {MEMORY} to more"
    kind = "CSV" if Path(path).suffix.lower() == ".csv" else "Parquet"
    return f"file {path!r} cannot be read as {kind}: {' '.join(lines[:2])}; is it whole?"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
