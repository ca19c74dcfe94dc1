"""Text tables: their header and rows one at a time, with a comma or another separator between columns.

Fields with the separator, quotation marks or line breaks are quoted. Lines end in LF, CR LF or CR; blank lines hold no
row. The text is UTF-8 (a byte order mark is allowed).

DuckDB reads CSV as Python does if the file has no quotation marks and all lines end alike: a row is then a line, and a
field is the text between commas. The number of commas in the whole file shows whether all rows have as many fields as
the header. Where DuckDB refuses or leaves out a line, Python reads the file and reports the problem.
"""

from __future__ import annotations

import codecs
import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.cells import Cells, CodedCells
from voirdire.tables.encode import UNREAD
from voirdire.tables.formats import failures
from voirdire.tables.formats.json_text import check_unmerged
from voirdire.tables.formats.streams import check_utf8, open_bytes, open_text
from voirdire.tables.parquet_file import coded_texts, duckdb_connection, path_sql_literal
from voirdire.tables.problems import Problems

_SEPARATORS = (",", "\t", ";", "|")
#: Message about a row that repeats the header.
REPEATED_HEADER = "it repeats the header; delete it"
_CHUNK_BYTES = 2**22
_BATCH_ROWS = 50_000

Rows = list[tuple[object, ...]]


def repeats_header(row: Sequence[object], names: Sequence[object]) -> bool:
    """True for a row that repeats the header, as in concatenated files."""
    return len(row) == len(names) > 1 and row[0] == names[0] and list(row) == list(names)


def parse_separator(mark: str) -> str:
    """Read the separator of columns; ``\\t`` in two letters is a tab.

    Raises
    ------
    InputError
        The separator is not one character, or the character has another meaning in CSV.

    Examples
    --------
    >>> parse_separator(";;")
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: separator ';;' is not one character; write for example ';' or '|'
    """
    if mark == "\\t":
        return "\t"
    if len(mark) != 1:
        raise InputError(f"separator {mark!r} is not one character; write for example ';' or '|'")
    if mark in '"\r\n\0 ' or "\ud800" <= mark <= "\udfff":
        raise InputError(f"separator {mark!r} cannot stand between columns; write for example ';' or '|'")
    return mark


def detect_separator(path: str) -> str:
    """Choose the separator that occurs most often in the header outside quotation marks; by default a comma."""
    counts = dict.fromkeys(_SEPARATORS, 0)
    quoted = False
    with open_text(path, newline="", lines=True) as lines:
        for line in lines:
            for letter in line:
                if letter == '"':
                    quoted = not quoted
                elif letter in counts and not quoted:
                    counts[letter] += 1
            if line.strip() and not quoted:
                break
    return max(counts, key=counts.__getitem__)


def separated_rows(path: str, name: str, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the header and rows of a text table, each with the number of the line where it begins.

    Raises
    ------
    InputError
        A quotation mark is left open, a field or a line exceeds the size limit of a record, or the file has markers
        of an unresolved merge conflict.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "votes.csv")
    ...     _ = path.write_text("judge;note\\na;x\\n\\nb;y\\n")
    ...     list(separated_rows(str(path), "votes", ";"))
    [(1, ['judge', 'note']), (2, ['a', 'x']), (4, ['b', 'y'])]
    """
    with _open_reader(path, name, separator) as reader:
        width = 0
        for row in reader:
            if not row:
                continue
            if len(row) != width or width == 1:
                check_unmerged(row[0], f"{name}: line {reader.line_num}")
                width = width or len(row)
            yield _first_line(reader, row), row


def _first_line(reader: Any, row: Sequence[str]) -> int:
    """Number the first line of the row that was read last: cells may hold line breaks."""
    return int(reader.line_num) - sum(cell.count("\n") for cell in row)


def row_lines(path: str, name: str) -> list[int]:
    """List the line numbers where the rows below the header begin."""
    return [line for line, _ in separated_rows(path, name)][1:]


@contextmanager
def _open_reader(path: str, name: str, separator: str = ",") -> Iterator[Any]:
    """Open the rows of a text table as the module csv returns them, including empty rows."""
    # A column that is not read may hold long texts, beyond the module's default limit of a field.
    limit = csv.field_size_limit(min(failures.record_bound(), 2**31 - 1))
    try:
        with open_text(path, newline="", lines=True) as lines:
            reader = csv.reader(lines, delimiter=separator, strict=True)
            try:
                yield reader
            except csv.Error as error:
                hint = "is a quotation mark left open?" if "limit" not in str(error) else failures.LIMIT_VARIABLE
                raise InputError(f"{name}: line {reader.line_num} is not CSV: {error}; {hint}") from None
    finally:
        csv.field_size_limit(limit)


def csv_header(file: Path, problems: Problems) -> list[str]:
    """Read the names of the columns from the first lines only.

    Raises
    ------
    InputError
        The header is missing, or cannot be read.
    """
    _, header = next(separated_rows(str(file), problems.name), (0, None))
    if header is None:
        problems.stop(f"file {str(file)!r} is empty")
    if len(header) == 1 and any(mark in header[0] for mark in _SEPARATORS):
        problems.stop(f"the header {header[0]!r} has no commas; separate the columns by commas")
    return header


def csv_rows(file: Path, wanted: Sequence[str], problems: Problems) -> Iterator[Rows]:
    """Yield the cells of some columns in batches of rows; cells are `UNREAD` in a row that is reported.

    All wanted columns must be in the header.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "votes.csv")
    ...     _ = path.write_text("judge,note\\na,x\\n\\nb,y\\n")
    ...     list(csv_rows(path, ["judge"], Problems("votes")))
    [[('a',), ('b',)]]
    """
    with _open_reader(str(file), problems.name) as reader:
        header = next(row for row in reader if row)
        # The first column twice: itemgetter returns no tuple for a single column.
        select_cells: Any = itemgetter(*(header.index(name) for name in [*wanted, wanted[0]]))
        width = len(header)
        rows: Rows = []
        for row in reader:
            repeated = repeats_header(row, header)
            if len(row) == width and not repeated:
                rows.append(select_cells(row)[:-1])
            elif row:
                check_unmerged(row[0], f"{problems.name}: line {reader.line_num}")
                rows.append((UNREAD,) * len(wanted))
                reason = REPEATED_HEADER if repeated else f"{len(row)} fields, where the header has {width}"
                problems.line(_first_line(reader, row), reason)
            if len(rows) == _BATCH_ROWS:
                yield rows
                rows = []
        yield rows


MIN_DUCKDB_BYTES = 1 << 23  # DuckDB is not used for smaller files


def count_row_commas(file: Path, width: int) -> int | None:
    """Count the commas below a header of ``width`` columns; None where Python must read the file.

    Python must read files with quotation marks, with a repeated header, or with lines that do not all end in LF or all
    in CR LF. In other files a row is a line and a field is the text between commas for every reader of CSV. The file
    need not fit into memory.

    Raises
    ------
    InputError
        The file is not UTF-8 text.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    commas = returns = newlines = crlf = 0
    quoted, last, first_byte = False, b"", b""
    repeated, header = False, b""
    with open_bytes(str(file), text=True) as stream:
        while True:
            chunk = stream.read(_CHUNK_BYTES)
            try:
                decode(chunk, not chunk)
            except UnicodeDecodeError:
                check_utf8(str(file))  # its error names the place
                raise
            if not chunk:
                break
            first_byte = first_byte or chunk.removeprefix(codecs.BOM_UTF8)[:1]
            header = header or b"\n" + chunk.removeprefix(codecs.BOM_UTF8).split(b"\n", 1)[0].rstrip(b"\r")
            repeated = repeated or header in last + chunk
            commas += chunk.count(b",")
            returns += chunk.count(b"\r")
            newlines += chunk.count(b"\n")
            crlf += chunk.count(b"\r\n") + (last[-1:] == b"\r" and chunk[:1] == b"\n")
            quoted = quoted or b'"' in chunk
            last = chunk[-len(header) :]
    plain = not (quoted or repeated) and returns == crlf and returns in (0, newlines)
    return commas - width + 1 if plain and width > 1 and first_byte not in (b"\r", b"\n", b"") else None


def csv_sql_source(path: str, folder: str | Path, width: int) -> str:
    """Write DuckDB's table function for a plain CSV file; its columns are c0, c1, ..."""
    columns = ", ".join(f"c{index}: 'VARCHAR'" for index in range(width))
    # small buffers, because the memory may be limited
    size = "max_line_size = 2000000, buffer_size = 8000000, compression = 'none', hive_partitioning = false"
    options = "header = true, auto_detect = false, delim = ',', quote = '', escape = '', strict_mode = true"
    return f"read_csv({path_sql_literal(path, folder)}, {options}, {size}, columns = {{{columns}}})"


def coded_csv_cells(file: Path, names: Sequence[str], wanted: Sequence[str]) -> Cells | None:
    """Read some columns of a large file as codes; None where Python must read the file."""
    if os.path.getsize(file) < MIN_DUCKDB_BYTES or (commas := count_row_commas(file, len(names))) is None:
        return None
    import duckdb

    cells = [f"c{names.index(name)}" for name in wanted]
    chosen = ", ".join(f"coalesce({cell}, '') {cell}" for cell in cells)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        try:
            connection.execute(
                f"CREATE TEMP TABLE t AS SELECT {chosen} FROM {csv_sql_source(str(file), folder, len(names))}"
            )
        except duckdb.Error:  # Python's message is clearer
            return None
        (rows,) = connection.execute("SELECT count(*) FROM t").fetchone()
        if rows * (len(names) - 1) != commas:
            return None
        columns: dict[str, CodedCells | None] = {
            name: coded_texts(connection, "t", cell) for name, cell in zip(wanted, cells, strict=True)
        }
    coded: Cells = {name: column for name, column in columns.items() if column is not None}
    return coded if len(coded) == len(wanted) else None
