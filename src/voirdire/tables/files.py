"""Read the named columns of a CSV, Parquet or JSONL file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from voirdire.tables.cells import Cells, choose
from voirdire.tables.csv_file import check_text, csv_header, csv_rows
from voirdire.tables.encode import UNREAD
from voirdire.tables.parquet_file import connected, parquet, parquet_columns, quoted
from voirdire.tables.problems import Problems


def read_file(
    path: str, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    """Read columns of a file by its ending.

    Blank lines of CSV and JSONL files hold no row; every other line is read or reported. CSV has commas, a
    header and UTF-8 text (a byte order mark is fine); JSONL has one object per line, and a key that an object
    lacks is an empty cell.

    Parameters
    ----------
    path : str
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; the case of the ending does not matter.
    required, optional : sequence of str
        Columns to read; ``optional=None`` for all.
    problems : Problems
        Where problems are reported.

    Returns
    -------
    dict of str to sequence
        The cells of each column that is present, one per row.

    Raises
    ------
    InputError
        At once, if the file cannot be read at all.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("judge,note\\na,x\\n")
    ...     read_file(str(path), ["judge"], [], Problems("votes"))
    {'judge': ['a']}
    """
    with readable(path, problems) as file:
        return _READERS[file.suffix.lower()](file, required, optional, problems)


@contextmanager
def readable(path: str, problems: Problems) -> Iterator[Path]:
    """A file that can be read, by its ending and size; what goes wrong while it is read is said.

    Raises
    ------
    InputError
        At once, if the file is missing, empty, a folder or of no known format, or cannot be read.
    """
    file = Path(path)
    try:
        if not file.exists():
            problems.stop(f"file {path!r} does not exist")
        if file.is_dir():
            problems.stop(f"{path!r} is a folder; give a file")
        if file.suffix.lower() not in _READERS:
            problems.stop(f"file {path!r} is of no known format; its name must end in {', '.join(_READERS)}")
        if file.stat().st_size == 0:
            problems.stop(f"file {path!r} is empty")
        yield file
    except OSError as error:
        problems.stop(f"file {path!r} cannot be read: {error.strerror or error}")
    except RecursionError:
        problems.stop(f"file {path!r} cannot be read: it is nested too deeply")


def header(path: str, problems: Problems) -> list[str]:
    """Names of the columns of a file; of CSV and Parquet without reading its rows."""
    with readable(path, problems) as file:
        ending = file.suffix.lower()
        if ending == ".csv":
            return csv_header(file, problems)
        if ending == ".parquet":
            with _duckdb(path, problems) as (connection, folder):
                return [column.name for column in parquet_columns(connection, path, folder)]
        return list(_jsonl(file, [], None, Problems(problems.name)))


def _csv(file: Path, required: Sequence[str], optional: Sequence[str] | None, problems: Problems) -> Cells:
    check_text(file, problems)
    wanted = choose(csv_header(file, problems), required, optional, problems)
    return _columns(wanted, list(chain.from_iterable(csv_rows(file, wanted, problems)))) if wanted else {}


def _jsonl(file: Path, required: Sequence[str], optional: Sequence[str] | None, problems: Problems) -> Cells:
    import json

    check_text(file, problems)
    decode = json.JSONDecoder(object_pairs_hook=_once).decode
    names = None if optional is None else [*required, *optional]
    header: dict[str, object] = {}
    rows: list[dict[str, object] | None] = []
    for number, line in enumerate(file.read_bytes().decode("utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = decode(line)
            if not isinstance(row, dict):
                raise ValueError(f"a {type(row).__name__} instead of an object; write one {{...}} per line")
        except ValueError as error:
            problems.line(number, f"not a JSON object: {getattr(error, 'msg', error)}")
            rows.append(None)
        else:
            header.update(dict.fromkeys(row))
            rows.append(row if names is None else {name: row.get(name) for name in names})
    if not header:
        problems.raise_any()
    wanted = choose(list(header), required, optional, problems)
    return {name: [UNREAD if row is None else row.get(name) for row in rows] for name in wanted}


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Cells:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return found


def _parquet(
    file: Path, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    path = str(file)
    with _duckdb(path, problems) as (connection, folder):
        columns = parquet_columns(connection, path, folder)
        wanted = choose([column.name for column in columns], required, optional, problems)
        by_name = {column.name: column for column in columns}
        if not wanted:
            return {}
        selected = ", ".join(by_name[name].sql for name in wanted)
        return _columns(
            wanted, connection.execute(f"SELECT {selected} FROM {parquet(path, folder)}").fetchall()
        )


@contextmanager
def _duckdb(path: str, problems: Problems) -> Iterator[tuple[Any, str]]:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, connected(folder) as connection:
        try:
            yield connection, folder
        except duckdb.Error as error:
            problems.stop(f"file {path!r} cannot be read as Parquet: {str(error).splitlines()[0]}")


_READERS = {".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}


def relation_columns(relation: Any, wanted: Sequence[str]) -> Cells:
    """Fetch columns of a DuckDB relation as lists of cells.

    Examples
    --------
    >>> import duckdb
    >>> relation_columns(duckdb.sql("select 'a' as judge, date '2026-01-31' as context"), ["context"])
    {'context': [datetime.date(2026, 1, 31)]}
    """
    if not wanted:
        return {}
    return _columns(wanted, relation.project(", ".join(map(quoted, wanted))).fetchall())
