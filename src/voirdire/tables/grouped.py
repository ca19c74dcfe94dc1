"""Reduction of large tables to distinct rows and their counts, by the engine that holds the table.

Votes are counts (see :mod:`voirdire.tables.votes`), so only the distinct rows of a large table need to be read. DuckDB
groups files and uses the disk beyond its memory limit; lazy frames (Polars, DuckDB, Dask, PySpark, any that narwhals
supports) are grouped by their own engine.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from voirdire.tables.cells import Cells, CodedCells, WantedColumns, as_narwhals, column_cells
from voirdire.tables.csv_file import count_row_commas, csv_header, csv_rows, csv_sql_source
from voirdire.tables.encode import MISSING, IntArray
from voirdire.tables.files import readable_file
from voirdire.tables.formats.conversion_report import is_foreign, write_votes
from voirdire.tables.parquet_file import duckdb_connection, parquet_columns, parquet_source, sql_literal, sql_name
from voirdire.tables.problems import Problems

MEMORY_VARIABLE = "VOIRDIRE_MEMORY"  # the environment variable of the memory limit of grouping
DEFAULT_MEMORY = "1GB"
MIN_GROUPED_BYTES = 64 * 2**20  # bytes; smaller files are read row by row
COUNT_COLUMN = "voirdire count"
_SUFFIXES = (".parquet", ".csv")
#: Columns of distinct rows, and the count of each row.
_CountedRows: TypeAlias = tuple[list[CodedCells], IntArray]
_REFUSED_TYPES = ("STRUCT", "MAP", "UNION", "LIST", "BLOB", "BIT")


def needs_grouping(table: object) -> bool:
    """True where a table is to be grouped by its engine: a pattern of files, a large file or a lazy frame.

    Examples
    --------
    >>> needs_grouping("votes/*.parquet"), needs_grouping("votes.csv")
    (True, False)
    """
    if isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        if _is_pattern(path):
            return True
        large = os.path.isfile(path) and os.path.getsize(path) >= MIN_GROUPED_BYTES
        return large and (Path(path).suffix.lower() in _SUFFIXES or is_foreign(path))
    module = type(table).__module__.partition(".")[0]
    if module in ("pandas", "numpy", "voirdire", "builtins"):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def distinct_rows_with_counts(
    table: object, required: Sequence[str], optional: Sequence[str], checked: Sequence[str], problems: Problems
) -> tuple[Cells, IntArray]:
    """Find the distinct rows of the named columns, and count them.

    Parameters
    ----------
    table : path or lazy frame
        ``.parquet`` or ``.csv`` files, also several by a pattern (``votes/*.parquet``); or a lazy frame.
    required, optional : sequence of str
    checked : sequence of str
        Further columns of files, to be checked for cells that are not names: valid names are replaced by ``"x"``.
        These columns of lazy frames are not read.
    problems : Problems
        Receives the problems.

    Returns
    -------
    cells : dict of str to sequence
        The columns that are present, one entry per distinct row, in no particular order.
    times : int64 array, shape (distinct rows,)
        Number of rows of the table that each distinct row stands for.

    Raises
    ------
    InputError
        Immediately, if a file is missing, damaged or of another kind, or if no file matches.
    """
    if isinstance(table, str | os.PathLike):
        path, wanted = os.fspath(table), WantedColumns(required, [*optional, *checked], problems)
        if not is_foreign(path):
            return _group_files(path, wanted, checked)
        with tempfile.TemporaryDirectory(prefix="voirdire-") as folder:
            return _group_files(write_votes(path, folder), wanted, checked)
    return _group_frame(table, WantedColumns(required, optional, problems))


def matching_files(path: str, problems: Problems) -> list[str]:
    """List the files of a path: the path itself if it exists, else the files that match it as a pattern.

    Patterns have ``*``, ``**`` and ``?``. Names of existing files, and of existing folders at the start of the path,
    are not patterns.
    """
    if not _is_pattern(path):
        return [path]
    start, remainder = "", path
    while True:
        folder, slash, following = remainder.partition(os.sep)
        if not slash or not os.path.isdir(start + folder + slash):
            break
        start, remainder = start + folder + slash, following
    # brackets are no special characters in these patterns
    pattern = glob.escape(start) + remainder.replace("[", "[[]")
    files = sorted(file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file))
    if not files:
        problems.stop(f"no file matches {path!r}; check the folder and the pattern")
    for file in files:
        if Path(file).suffix.lower() not in _SUFFIXES:
            problems.stop(f"file {file!r} matches, but only {', '.join(_SUFFIXES)} can be read by a pattern")
        if not os.path.getsize(file):
            problems.stop(f"file {file!r} is empty; remove it")
    return files


def _is_pattern(path: str) -> bool:
    return ("*" in path or "?" in path) and not os.path.lexists(path)


def _group_frame(table: object, columns: WantedColumns) -> tuple[Cells, IntArray]:
    import narwhals as nw

    frame, names = as_narwhals(table, columns.problems)
    wanted = columns.among(names)
    if not wanted:
        return {}, np.zeros(0, np.int64)
    if frame.implementation.is_duckdb():
        # narwhals would return dates as times
        keys = ", ".join(map(sql_name, wanted))
        rows = frame.to_native().aggregate(f"{keys}, count(*)", keys).fetchall()
        cells: Cells = {name: [row[index] for row in rows] for index, name in enumerate(wanted)}
        return cells, np.array([row[-1] for row in rows], np.int64)
    grouped = frame.select(wanted).group_by(wanted).agg(nw.len().alias(COUNT_COLUMN))
    try:
        backend = "polars" if frame.implementation.is_polars() else "pandas"
        distinct = grouped.collect(backend=backend)
    except Exception as error:
        # every engine has exceptions of its own; the first line of the message names the problem of the table
        message = (str(error).splitlines() or [""])[0]
        columns.problems.stop(f"the lazy frame cannot be evaluated: {type(error).__name__}: {message}")
    times = np.asarray(distinct[COUNT_COLUMN].to_list(), dtype=np.int64)
    return {name: column_cells(distinct[name]) for name in wanted}, times


@dataclass(frozen=True)
class _FileQuery:
    """Query of one file: its SQL, the types of its columns, and for CSV the numbers of columns and of commas."""

    file: str
    select: str
    types: tuple[str, ...]
    width: int = 0
    commas: int = 0


def _group_files(path: str, columns: WantedColumns, checked: Sequence[str]) -> tuple[Cells, IntArray]:
    problems = columns.problems
    files = matching_files(path, problems)
    with _open_connection() as (connection, folder):
        common_columns: list[str] | None = None
        by_schema: dict[tuple[object, ...], list[_FileQuery]] = {}
        python_files: list[str] = []
        for file in files:
            file_problems = Problems(problems.name)
            with readable_file(file, problems):
                file_columns = replace(columns, problems=file_problems)
                wanted, source = _source_of_file(connection, folder, file, file_columns, checked, problems)
            for sentence in file_problems.table_sentences:
                problems.table(sentence if len(files) == 1 else f"file {file!r}: {sentence}")
            common_columns = wanted if common_columns is None else common_columns
            if wanted != common_columns and not file_problems:
                problems.table(
                    f"file {file!r}: has the columns {', '.join(wanted)}, but {files[0]!r} has "
                    f"{', '.join(common_columns)}; give all files the same"
                )
            if source is None:
                python_files.append(file)
            else:
                by_schema.setdefault((source.types, source.width), []).append(source)
        if problems or not common_columns:
            return {}, np.zeros(0, np.int64)
        parts = []
        for sources in by_schema.values():
            parts += _count_distinct_rows(connection, sources, common_columns, python_files, problems)
        for file in python_files:
            file_problems = problems if len(files) == 1 else Problems(f"{problems.name}: file {file!r}")
            parts.append(_group_lines(connection, Path(file), common_columns, checked, file_problems))
            file_problems.raise_any()
    return _join_parts(common_columns, parts)


def _source_of_file(
    connection: Any, folder: str, file: str, columns: WantedColumns, checked: Sequence[str], problems: Problems
) -> tuple[list[str], _FileQuery | None]:
    """Choose the columns to read from a file, and write DuckDB's query; None where DuckDB might misread the file."""
    if Path(file).suffix.lower() == ".csv":
        names = csv_header(Path(file), problems)
        wanted = columns.among(names)
        commas = count_row_commas(Path(file), len(names))
        if commas is None:
            return wanted, None
        cells = {name: f"c{names.index(name)}" for name in wanted}
        selected = ", ".join(_refused_name_sql(cell) if name in checked else cell for name, cell in cells.items())
        select = f"SELECT {selected} FROM {csv_sql_source(file, folder, len(names))}"
        return wanted, _FileQuery(file, select, ("VARCHAR",) * len(wanted), len(names), commas)
    import duckdb

    try:
        present = parquet_columns(connection, file, folder)
    except duckdb.Error as error:
        problems.stop(_describe_error(file, str(error)))
    wanted = columns.among([column.name for column in present])
    chosen = {column.name: column for column in present if column.name in wanted}
    types, selects = [], []
    for name in wanted:
        kind = chosen[name].type
        if kind.startswith(_REFUSED_TYPES) or kind.endswith("]"):
            columns.problems.table(f"column {name!r} is of type {kind}, which is not a name; write it as text")
        # DuckDB writes these types as Python does; others are converted back later
        same_text = kind in ("VARCHAR", "BIGINT", "INTEGER") or kind.startswith("ENUM") or "WITH TIME ZONE" in kind
        check = name in checked
        types.append("VARCHAR" if same_text or check else kind)
        cell = chosen[name].sql
        if check and kind in ("FLOAT", "DOUBLE"):
            cell = f"CASE WHEN isfinite({cell}) THEN 'x' END"
        selects.append(_refused_name_sql(f"{cell}::VARCHAR") if check else f"{cell}::VARCHAR")
    select = f"SELECT {', '.join(selects)} FROM {parquet_source(file, folder)}"
    return wanted, _FileQuery(file, select, tuple(types))


def _refused_name_sql(cell: str) -> str:
    """Write SQL for the text of a context if :func:`voirdire.tables.encode.encode_column` refuses it, else ``x``."""
    words = ", ".join(sql_literal(word) for word in ("", *sorted(MISSING)))
    space = "".join(f"\\x{{{ord(c):x}}}" for c in map(chr, range(0x3001)) if c.isspace())
    blank = f"regexp_full_match({cell}, '[{space}]*', 's')"
    return f"CASE WHEN {cell} IS NULL OR {cell} IN ({words}) OR {blank} THEN {cell} ELSE 'x' END"


def _count_distinct_rows(
    connection: Any, sources: Sequence[_FileQuery], names: Sequence[str], python_files: list[str], problems: Problems
) -> list[_CountedRows]:
    """Count the distinct rows of files with the same types by DuckDB.

    CSV files that DuckDB refuses, or where the number of commas differs, are added to ``python_files``.
    """
    import duckdb

    columns = ", ".join(f"c{index}" for index in range(len(names)))
    union = " UNION ALL ".join(source.select for source in sources)
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE g AS SELECT {columns}, count(*) n FROM ({union}) t({columns}) GROUP BY ALL"
        )
        (rows,) = connection.execute("SELECT coalesce(sum(n), 0)::BIGINT FROM g").fetchone()
        width = sources[0].width
        if not width or rows * (width - 1) == sum(source.commas for source in sources):
            return [_code_distinct_rows(connection, sources[0].types)]
    except duckdb.Error as error:
        if not sources[0].width or _is_memory_error(str(error)):
            matches = (source.file for source in sources if os.path.basename(source.file) in str(error))
            problems.stop(_describe_error(next(matches, sources[0].file), str(error)))
    if len(sources) == 1:
        python_files.append(sources[0].file)
        return []
    return [
        part for single in sources for part in _count_distinct_rows(connection, [single], names, python_files, problems)
    ]


def _group_lines(
    connection: Any, file: Path, names: Sequence[str], checked: Sequence[str], problems: Problems
) -> _CountedRows:
    """Count the distinct rows of a CSV file that Python reads: slower, but correct with quotation marks."""
    import pandas as pd

    indices: list[defaultdict[object, int]] = [defaultdict(count().__next__) for _ in names]
    columns = [f"c{number}" for number in range(len(names))]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE g ({', '.join(f'{c} INTEGER' for c in columns)})")
    for rows in csv_rows(file, names, problems):
        cells = zip(columns, indices, zip(*rows, strict=True), strict=False)  # empty without rows
        chunk = pd.DataFrame(
            {
                column: np.fromiter(map(index.__getitem__, values), np.int32, len(rows))
                for column, index, values in cells
            }
        )
        if len(chunk):
            connection.register("chunk", chunk)
            connection.execute("INSERT INTO g SELECT * FROM chunk")
            connection.unregister("chunk")
    distinct = connection.execute(f"SELECT {', '.join(columns)}, count(*) n FROM g GROUP BY ALL").fetchnumpy()
    coded = [
        CodedCells(np.asarray(distinct[column], np.int64), [*index, None])
        for column, index in zip(columns, indices, strict=True)
    ]
    return coded, np.asarray(distinct["n"], np.int64)


def _join_parts(names: Sequence[str], parts: Sequence[_CountedRows]) -> tuple[Cells, IntArray]:
    """Join parts; a row may then occur more than once."""
    cells: Cells = {}
    for index, name in enumerate(names):
        codes: list[IntArray] = []
        levels: list[object] = []
        for coded, _ in parts:
            column = coded[index]
            # a missing cell's code, -1, is that of the last level
            codes.append(np.where(column.codes < 0, len(column.levels) - 1, column.codes) + len(levels))
            levels += column.levels
        cells[name] = CodedCells(np.concatenate(codes), levels)
    return cells, np.concatenate([times for _, times in parts])


def _code_distinct_rows(connection: Any, types: Sequence[str]) -> _CountedRows:
    """Fetch the distinct rows as codes, because text would take far more memory."""
    columns = [f"c{index}" for index in range(len(types))]
    levels = []
    for column, kind in zip(columns, types, strict=True):
        distinct = f"SELECT DISTINCT {column} FROM g WHERE {column} IS NOT NULL"
        connection.execute(f"DROP TYPE IF EXISTS e_{column}")
        connection.execute(f"CREATE TYPE e_{column} AS ENUM ({distinct})")
        (names,) = connection.execute(f"SELECT enum_range(NULL::e_{column})").fetchone()
        if kind != "VARCHAR":
            typed = connection.execute(f"SELECT {column}, {column}::{kind} FROM ({distinct})").fetchall()
            names = list(map(dict(typed).__getitem__, names))
        levels.append([*names, None])
    codes = ", ".join(f"coalesce(enum_code({c}::e_{c})::BIGINT, -1) AS {c}" for c in columns)
    rows = connection.execute(f"SELECT {codes}, n FROM g").fetchnumpy()
    coded = [CodedCells(rows[column], names) for column, names in zip(columns, levels, strict=True)]
    return coded, np.asarray(rows["n"], dtype=np.int64)


@contextmanager
def _open_connection() -> Iterator[tuple[Any, str]]:
    import duckdb

    limit = os.environ.get(MEMORY_VARIABLE, DEFAULT_MEMORY)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        try:
            connection.execute(f"SET memory_limit = {sql_literal(limit)}")
        except duckdb.Error:
            Problems(MEMORY_VARIABLE).stop(f"{limit!r} is not an amount of memory; write for example 2GB")
        connection.execute("SET preserve_insertion_order = false")
        yield connection, folder


def _describe_error(path: str, message: str) -> str:
    if _is_memory_error(message):
        limit = os.environ.get(MEMORY_VARIABLE, DEFAULT_MEMORY)
        return f"{path!r}: {limit} of memory do not suffice to count its rows; set {MEMORY_VARIABLE} to more"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"file {path!r} cannot be read as Parquet: {' '.join(lines[:2])}; is it whole?"


def _is_memory_error(message: str) -> bool:
    return "out of memory" in message.lower()
