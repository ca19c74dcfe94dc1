"""Read the named columns of a CSV, Parquet or JSONL file."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from voirdire.tables.encode import UNREAD
from voirdire.tables.problems import Problems
from voirdire.tables.read import Cells, choose

_MAGIC = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; export it as CSV",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"\xff\xfe": "in UTF-16; save it as UTF-8",
    b"\xfe\xff": "in UTF-16; save it as UTF-8",
}


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
    readers = {".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet}
    file = Path(path)
    reader = readers.get(file.suffix.lower())
    try:
        if not file.exists():
            problems.stop(f"file {path!r} does not exist")
        if file.is_dir():
            problems.stop(f"{path!r} is a folder; give a file")
        if reader is None:
            problems.stop(f"file {path!r} is of no known format; its name must end in {', '.join(readers)}")
        if file.stat().st_size == 0:
            problems.stop(f"file {path!r} is empty")
        return reader(file, required, optional, problems)
    except OSError as error:
        problems.stop(f"file {path!r} cannot be read: {error.strerror or error}")


def _text(file: Path, problems: Problems) -> str:
    content = file.read_bytes()
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            problems.stop(f"file {str(file)!r} is {kind}")
    if b"\0" in content:
        problems.stop(f"file {str(file)!r} is not text: it has zero bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        problems.stop(
            f"file {str(file)!r} is not UTF-8: line {line} has the byte 0x{byte:02x}; save it as UTF-8"
        )


def _csv(file: Path, required: Sequence[str], optional: Sequence[str] | None, problems: Problems) -> Cells:
    import csv
    import io

    text = _text(file, problems)
    # A column that is not read may hold whole answers, longer than the module's default limit of a field.
    limit = csv.field_size_limit(max(len(text), csv.field_size_limit()))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next((row for row in reader if row), None)
        if header is None:
            problems.stop(f"file {str(file)!r} is empty")
        if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
            problems.stop(f"the header {header[0]!r} has no commas; separate the columns by commas")
        wanted = choose(header, required, optional, problems)
        if not wanted:
            return {}
        # The first column twice, because of a single one itemgetter would not make a tuple.
        pick = itemgetter(*(header.index(name) for name in [*wanted, wanted[0]]))
        rows: list[tuple[object, ...]] = []
        for row in reader:
            if len(row) == len(header):
                rows.append(pick(row))
            elif row:
                rows.append((UNREAD,) * len(wanted))
                problems.line(reader.line_num, f"{len(row)} fields, where the header has {len(header)}")
    except csv.Error as error:
        problems.stop(f"line {reader.line_num} is not CSV: {error}; is a quotation mark left open?")
    finally:
        csv.field_size_limit(limit)
    return _columns(wanted, rows)


def csv_header(file: Path, problems: Problems) -> list[str]:
    """Names of the columns of a CSV file, reading its first lines alone."""
    import csv

    with file.open("rb") as stream:
        start = stream.read(4)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            problems.stop(f"file {str(file)!r} is {kind}")
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            header = next((row for row in csv.reader(lines, strict=True) if row), None)
    except (UnicodeDecodeError, csv.Error) as error:
        problems.stop(f"file {str(file)!r}: its header cannot be read as UTF-8 CSV: {error}")
    if header is None:
        problems.stop(f"file {str(file)!r} is empty")
    return header


def _jsonl(file: Path, required: Sequence[str], optional: Sequence[str] | None, problems: Problems) -> Cells:
    import json

    decode = json.JSONDecoder(object_pairs_hook=_once).decode
    names = None if optional is None else [*required, *optional]
    header: dict[str, object] = {}
    rows: list[dict[str, object] | None] = []
    for number, line in enumerate(_text(file, problems).split("\n"), start=1):
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
    import duckdb

    with duckdb.connect() as connection:
        try:
            relation = connection.read_parquet(str(file))
            return relation_columns(relation, choose(relation.columns, required, optional, problems))
        except duckdb.Error as error:
            problems.stop(f"file {str(file)!r} cannot be read as Parquet: {str(error).splitlines()[0]}")


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
    quoted = ['"' + name.replace('"', '""') + '"' for name in wanted]
    return _columns(wanted, relation.project(", ".join(quoted)).fetchall())
