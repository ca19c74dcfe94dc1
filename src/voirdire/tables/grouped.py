"""Reduce a table to its distinct rows and how often each occurs, where the table is.

Votes are counts (see :mod:`voirdire.tables.votes`), so of a table that is too large to be read row by row only the
distinct rows need to come here. Files are grouped by DuckDB, which writes to disk what its share of the memory does not
hold; lazy frames (Polars, DuckDB, Dask, PySpark, whatever narwhals knows) are grouped by their own engine.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from voirdire.tables.cells import Cells, CodedCells, as_narwhals, choose_columns, column_cells
from voirdire.tables.csv_file import count_row_commas, csv_header, csv_rows, csv_sql_source
from voirdire.tables.encode import MISSING, IntArray
from voirdire.tables.files import readable_file
from voirdire.tables.formats.conversion_report import is_foreign, write_votes
from voirdire.tables.parquet_file import (
    duckdb_connection,
    parquet_columns,
    parquet_source,
    sql_literal,
    sql_name,
)
from voirdire.tables.problems import Problems

MEMORY = "VOIRDIRE_MEMORY"  # the environment variable that sets how much memory grouping may take
MEMORY_DEFAULT = "1GB"
LARGE = 64 * 2**20  # bytes of a file from which it is grouped instead of read
COUNT = "voirdire count"
_SUFFIXES = (".parquet", ".csv")
_Part: TypeAlias = tuple[
    list[CodedCells], IntArray
]  # the columns of distinct rows, and how often each occurs
_NO_NAMES = ("STRUCT", "MAP", "UNION", "LIST", "BLOB", "BIT")


def needs_grouping(table: object) -> bool:
    """True where a table is one to be grouped where it is: a pattern of files, a large file, a lazy frame.

    Examples
    --------
    >>> needs_grouping("votes/*.parquet"), needs_grouping("votes.csv")
    (True, False)
    """
    if isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        if _is_pattern(path):
            return True
        large = os.path.isfile(path) and os.path.getsize(path) >= LARGE
        return large and (Path(path).suffix.lower() in _SUFFIXES or is_foreign(path))
    module = type(table).__module__.partition(".")[0]
    if module in ("pandas", "numpy", "voirdire", "builtins"):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def distinct_rows_with_counts(
    table: object,
    required: Sequence[str],
    optional: Sequence[str],
    checked: Sequence[str],
    problems: Problems,
) -> tuple[Cells, IntArray]:
    """Distinct rows of the named columns, and how often each occurs.

    Parameters
    ----------
    table : path or lazy frame
        ``.parquet`` or ``.csv`` files, also several by a pattern (``votes/*.parquet``); or a lazy frame.
    required, optional : sequence of str
    checked : sequence of str
        Further columns, of which only the cells that are no names are wanted: in files the others stand as
        ``"x"``, of lazy frames none come.
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
        path, wanted = os.fspath(table), _Wanted(required, optional, checked)
        if not is_foreign(path):
            return _group_files(path, wanted, problems)
        with tempfile.TemporaryDirectory(prefix="voirdire-") as folder:
            return _group_files(write_votes(path, folder), wanted, problems)
    return _group_frame(table, required, optional, problems)


def matching_files(path: str, problems: Problems) -> list[str]:
    """The files that a path stands for: itself if it is there, else those that match it as a pattern.

    Patterns have ``*``, ``**`` and ``?``. What is there is no pattern: neither a file, nor the folders at the start of
    the path.
    """
    if not _is_pattern(path):
        return [path]
    start, rest = "", path
    while True:
        part, slash, after = rest.partition(os.sep)
        if not slash or not os.path.isdir(start + part + slash):
            break
        start, rest = start + part + slash, after
    # in a pattern of ours, brackets are letters
    pattern = glob.escape(start) + rest.replace("[", "[[]")
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


def _group_frame(
    table: object, required: Sequence[str], optional: Sequence[str], problems: Problems
) -> tuple[Cells, IntArray]:
    import narwhals as nw

    frame, names = as_narwhals(table, problems)
    wanted = choose_columns(names, required, optional, problems)
    if not wanted:
        return {}, np.zeros(0, np.int64)
    if frame.implementation.is_duckdb():
        # by narwhals, dates would come back as times
        keys = ", ".join(map(sql_name, wanted))
        rows = frame.to_native().aggregate(f"{keys}, count(*)", keys).fetchall()
        cells: Cells = {name: [row[place] for row in rows] for place, name in enumerate(wanted)}
        return cells, np.array([row[-1] for row in rows], np.int64)
    grouped = frame.select(wanted).group_by(wanted).agg(nw.len().alias(COUNT))
    try:
        backend = "polars" if frame.implementation.is_polars() else "pandas"
        found = grouped.collect(backend=backend)
    except Exception as error:
        # every engine has exceptions of its own, and what they say first is what is wrong with the table
        said = (str(error).splitlines() or [""])[0]
        problems.stop(f"the lazy frame cannot be evaluated: {type(error).__name__}: {said}")
    times = np.asarray(found[COUNT].to_list(), dtype=np.int64)
    return {name: column_cells(found[name]) for name in wanted}, times


@dataclass(frozen=True)
class _Wanted:
    required: Sequence[str]
    optional: Sequence[str]
    checked: Sequence[str]

    def select_names(self, names: Sequence[str], problems: Problems) -> list[str]:
        return choose_columns(names, self.required, [*self.optional, *self.checked], problems)


@dataclass(frozen=True)
class _Source:
    """A file to be counted: what is selected from it, of which types, and of CSV how many columns and commas."""

    file: str
    select: str
    types: tuple[str, ...]
    width: int = 0
    commas: int = 0


def _group_files(path: str, columns: _Wanted, problems: Problems) -> tuple[Cells, IntArray]:
    files = matching_files(path, problems)
    with _open_connection() as (connection, folder):
        every: list[str] | None = None
        alike: dict[tuple[object, ...], list[_Source]] = {}
        odd: list[str] = []
        for file in files:
            of_file = Problems(problems.name)
            with readable_file(file, problems):
                wanted, source = _source_of_file(connection, folder, file, columns, of_file, problems)
            for sentence in of_file.table_sentences:
                problems.table(sentence if len(files) == 1 else f"file {file!r}: {sentence}")
            every = wanted if every is None else every
            if wanted != every and not of_file:
                problems.table(
                    f"file {file!r}: has the columns {', '.join(wanted)}, but {files[0]!r} has {', '.join(every)}; "
                    "give all files the same"
                )
            if source is None:
                odd.append(file)
            else:
                alike.setdefault((source.types, source.width), []).append(source)
        if problems or not every:
            return {}, np.zeros(0, np.int64)
        parts = []
        for sources in alike.values():
            parts += _count_distinct_rows(connection, sources, every, odd, problems)
        for file in odd:
            of_file = problems if len(files) == 1 else Problems(f"{problems.name}: file {file!r}")
            parts.append(_group_lines(connection, Path(file), every, columns.checked, of_file))
            of_file.raise_any()
    return _join_parts(every, parts)


def _source_of_file(
    connection: Any,
    folder: str,
    file: str,
    columns: _Wanted,
    of_file: Problems,
    problems: Problems,
) -> tuple[list[str], _Source | None]:
    """The columns that a file has of those to read, and how DuckDB reads them: not at all where it might err."""
    if Path(file).suffix.lower() == ".csv":
        names = csv_header(Path(file), problems)
        wanted = columns.select_names(names, of_file)
        commas = count_row_commas(Path(file), len(names))
        if commas is None:
            return wanted, None
        cells = {name: f"c{names.index(name)}" for name in wanted}
        selected = ", ".join(
            _refused_name_sql(cell) if name in columns.checked else cell for name, cell in cells.items()
        )
        select = f"SELECT {selected} FROM {csv_sql_source(file, folder, len(names))}"
        return wanted, _Source(file, select, ("VARCHAR",) * len(wanted), len(names), commas)
    import duckdb

    try:
        present = parquet_columns(connection, file, folder)
    except duckdb.Error as error:
        problems.stop(_describe_error(file, str(error)))
    wanted = columns.select_names([column.name for column in present], of_file)
    chosen = {column.name: column for column in present if column.name in wanted}
    types, selects = [], []
    for name in wanted:
        kind = chosen[name].type
        if kind.startswith(_NO_NAMES) or kind.endswith("]"):
            of_file.table(f"column {name!r} is of type {kind}, which is not a name; write it as text")
        # DuckDB writes these as Python does; others are turned back
        same = kind in ("VARCHAR", "BIGINT", "INTEGER") or kind.startswith("ENUM") or "WITH TIME ZONE" in kind
        check = name in columns.checked
        types.append("VARCHAR" if same or check else kind)
        cell = chosen[name].sql
        if check and kind in ("FLOAT", "DOUBLE"):
            cell = f"CASE WHEN isfinite({cell}) THEN 'x' END"
        selects.append(_refused_name_sql(f"{cell}::VARCHAR") if check else f"{cell}::VARCHAR")
    select = f"SELECT {', '.join(selects)} FROM {parquet_source(file, folder)}"
    return wanted, _Source(file, select, tuple(types))


def _refused_name_sql(cell: str) -> str:
    """The text of a context if :func:`voirdire.tables.encode.encode_column` takes it for no name, else ``x``."""
    words = ", ".join(sql_literal(word) for word in ("", *sorted(MISSING)))
    space = "".join(f"\\x{{{ord(c):x}}}" for c in map(chr, range(0x3001)) if c.isspace())
    blank = f"regexp_full_match({cell}, '[{space}]*', 's')"
    return f"CASE WHEN {cell} IS NULL OR {cell} IN ({words}) OR {blank} THEN {cell} ELSE 'x' END"


def _count_distinct_rows(
    connection: Any, sources: Sequence[_Source], names: Sequence[str], odd: list[str], problems: Problems
) -> list[_Part]:
    """The distinct rows of files with the same types, counted by DuckDB.

    CSV that DuckDB refuses, or of whose lines it leaves out a comma, is put to the ``odd`` files.
    """
    import duckdb

    columns = ", ".join(f"c{place}" for place in range(len(names)))
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
            named = (source.file for source in sources if os.path.basename(source.file) in str(error))
            problems.stop(_describe_error(next(named, sources[0].file), str(error)))
    if len(sources) == 1:
        odd.append(sources[0].file)
        return []
    return [part for one in sources for part in _count_distinct_rows(connection, [one], names, odd, problems)]


def _group_lines(
    connection: Any, file: Path, names: Sequence[str], checked: Sequence[str], problems: Problems
) -> _Part:
    """The distinct rows of a CSV file as Python reads it, which is slower and right about every quotation mark."""
    import pandas as pd

    indices: list[defaultdict[object, int]] = [defaultdict(count().__next__) for _ in names]
    columns = [f"c{place}" for place in range(len(names))]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE g ({', '.join(f'{c} INTEGER' for c in columns)})")
    for rows in csv_rows(file, names, problems):
        cells = zip(columns, indices, zip(*rows, strict=True), strict=False)  # nothing where there is no row
        chunk = pd.DataFrame(
            {
                column: np.fromiter(map(index.__getitem__, of), np.int32, len(rows))
                for column, index, of in cells
            }
        )
        if len(chunk):
            connection.register("chunk", chunk)
            connection.execute("INSERT INTO g SELECT * FROM chunk")
            connection.unregister("chunk")
    found = connection.execute(f"SELECT {', '.join(columns)}, count(*) n FROM g GROUP BY ALL").fetchnumpy()
    coded = [
        CodedCells(np.asarray(found[column], np.int64), [*index, None])
        for column, index in zip(columns, indices, strict=True)
    ]
    return coded, np.asarray(found["n"], np.int64)


def _join_parts(names: Sequence[str], parts: Sequence[_Part]) -> tuple[Cells, IntArray]:
    """Parts as one, in which a row may occur more than once."""
    cells: Cells = {}
    for place, name in enumerate(names):
        codes: list[IntArray] = []
        levels: list[object] = []
        for coded, _ in parts:
            column = coded[place]
            # a missing cell's code, -1, is that of the last level
            codes.append(np.where(column.codes < 0, len(column.levels) - 1, column.codes) + len(levels))
            levels += column.levels
        cells[name] = CodedCells(np.concatenate(codes), levels)
    return cells, np.concatenate([times for _, times in parts])


def _code_distinct_rows(connection: Any, types: Sequence[str]) -> _Part:
    """The distinct rows as codes: as text they would take many times the memory."""
    columns = [f"c{place}" for place in range(len(types))]
    levels = []
    for column, kind in zip(columns, types, strict=True):
        distinct = f"SELECT DISTINCT {column} FROM g WHERE {column} IS NOT NULL"
        connection.execute(f"DROP TYPE IF EXISTS e_{column}")
        connection.execute(f"CREATE TYPE e_{column} AS ENUM ({distinct})")
        (found,) = connection.execute(f"SELECT enum_range(NULL::e_{column})").fetchone()
        if kind != "VARCHAR":
            again = connection.execute(f"SELECT {column}, {column}::{kind} FROM ({distinct})").fetchall()
            found = list(map(dict(again).__getitem__, found))
        levels.append([*found, None])
    codes = ", ".join(f"coalesce(enum_code({c}::e_{c})::BIGINT, -1) AS {c}" for c in columns)
    rows = connection.execute(f"SELECT {codes}, n FROM g").fetchnumpy()
    coded = [CodedCells(rows[column], found) for column, found in zip(columns, levels, strict=True)]
    return coded, np.asarray(rows["n"], dtype=np.int64)


@contextmanager
def _open_connection() -> Iterator[tuple[Any, str]]:
    import duckdb

    limit = os.environ.get(MEMORY, MEMORY_DEFAULT)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        try:
            connection.execute(f"SET memory_limit = {sql_literal(limit)}")
        except duckdb.Error:
            Problems(MEMORY).stop(f"{limit!r} is not an amount of memory; write for example 2GB")
        connection.execute("SET preserve_insertion_order = false")
        yield connection, folder


def _describe_error(path: str, message: str) -> str:
    if _is_memory_error(message):
        limit = os.environ.get(MEMORY, MEMORY_DEFAULT)
        return f"{path!r}: {limit} of memory do not suffice to count its rows; set {MEMORY} to more"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"file {path!r} cannot be read as Parquet: {' '.join(lines[:2])}; is it whole?"


def _is_memory_error(message: str) -> bool:
    return "out of memory" in message.lower()
