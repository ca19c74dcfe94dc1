"""Reading of named columns of a CSV, Parquet or JSONL file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.cells import Cells, WantedColumns
from voirdire.tables.csv_file import coded_csv_cells, csv_header, csv_rows, row_lines
from voirdire.tables.encode import UNREAD
from voirdire.tables.formats.failures import describe_failure
from voirdire.tables.formats.records import Unread, json_values, non_object_reason
from voirdire.tables.parquet_file import parquet_cells, parquet_names, sql_name
from voirdire.tables.problems import Problems


def read_file(path: str, wanted: WantedColumns) -> Cells:
    """Read columns of a file; the ending of its name gives the format.

    Blank lines of CSV and JSONL files hold no row; every other line is read or reported. CSV has commas, a
    header and UTF-8 text (a byte order mark is allowed); JSONL has one object per line, and a missing key of an object
    is an empty cell.

    Parameters
    ----------
    path : str
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file; the case of the ending is ignored.
    wanted : WantedColumns

    Returns
    -------
    dict of str to sequence
        The cells of each column that is present, one per row.

    Raises
    ------
    InputError
        Immediately, if the file cannot be read at all.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("judge,note\\na,x\\n")
    ...     read_file(str(path), WantedColumns(["judge"], [], Problems("votes")))
    {'judge': ['a']}
    """
    with readable_file(path, wanted.problems) as file:
        return _READERS[file.suffix.lower()](file, wanted)


@contextmanager
def readable_file(path: str, problems: Problems) -> Iterator[Path]:
    """Check that a file can be read, by its ending and size; report errors that occur while it is read.

    Raises
    ------
    InputError
        Immediately, if the file is missing, empty, a folder or of no known format, or cannot be read.
    """
    file = Path(path)
    try:
        if not file.exists():
            problems.stop(f"file {path!r} does not exist")
        if file.is_dir():
            saved = (file / "arrays.npz").exists() and (file / "run.json").exists()
            saved_fit = (
                " of a saved fit, which voirdire report, predict, update, compare, export, next, escalate and "
                "voirdire.load read"
                if saved
                else ""
            )
            problems.stop(f"{path!r} is a folder{saved_fit}; give a file")
        if file.suffix.lower() not in _READERS:
            problems.stop(f"file {path!r} is of no known format; its name must end in {', '.join(_READERS)}")
        if file.stat().st_size == 0:
            problems.stop(f"file {path!r} is empty")
        yield file
    except OSError as error:
        problems.stop(f"file {path!r} {describe_failure(error)}")
    except InputError as error:
        prefix = f"{problems.name}: "
        raise InputError(
            [message if message.startswith(prefix) else prefix + message for message in error.problems]
        ) from None


def file_header(path: str, problems: Problems) -> list[str]:
    """Read the names of the columns of a file; for CSV and Parquet without reading its rows."""
    with readable_file(path, problems) as file:
        ending = file.suffix.lower()
        if ending == ".csv":
            return csv_header(file, problems)
        if ending == ".parquet":
            return parquet_names(path)
        return list(_read_jsonl(file, WantedColumns([], None, Problems(problems.name))))


def _read_csv(file: Path, wanted: WantedColumns) -> Cells:
    problems = wanted.problems
    names = csv_header(file, problems)
    problems.row_lines = partial(row_lines, str(file), problems.name)
    columns = wanted.among(names)
    coded = coded_csv_cells(file, names, columns) if columns else {}
    if coded is not None:
        return coded
    return _columns_of_rows(columns, list(chain.from_iterable(csv_rows(file, columns, problems))))


def _read_jsonl(file: Path, wanted: WantedColumns) -> Cells:
    names = None if wanted.optional is None else [*wanted.required, *wanted.optional]
    header: dict[str, object] = {}
    rows: list[dict[str, object] | None] = []
    for number, row in json_values(str(file), file.name, "jsonl"):
        if isinstance(row, dict):
            header.update(dict.fromkeys(row))
            rows.append(row if names is None else {name: row.get(name) for name in names})
        else:
            reason = non_object_reason(row)
            if not isinstance(row, Unread):
                reason = f"not a JSON object: {reason}; write one {{...}} per line"
            wanted.problems.line(number, reason)
            rows.append(None)
    if not header:
        wanted.problems.raise_any()
    return {name: [UNREAD if row is None else row.get(name) for row in rows] for name in wanted.among(list(header))}


def _columns_of_rows(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Cells:
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _read_parquet(file: Path, wanted: WantedColumns) -> Cells:
    columns = wanted.among(parquet_names(str(file)))
    return parquet_cells(str(file), columns) if columns else {}


_READERS = {".csv": _read_csv, ".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".parquet": _read_parquet}


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
    return _columns_of_rows(wanted, relation.project(", ".join(map(sql_name, wanted))).fetchall())
