"""Text tables: their header and rows one at a time, with a comma or another mark between columns.

Fields that hold the mark, quotation marks or line breaks stand in quotation marks; lines end in LF, CR LF or CR, and
blank ones hold no row; the text is UTF-8 (a byte order mark is fine).

CSV that DuckDB reads as Python does: without quotation marks, and all of whose lines end alike.

A row is then a line, and a field what stands between commas. Whether all rows have as many fields as the header is told
by the commas of the whole file; where DuckDB refuses a line, or leaves one out, Python reads it and says what is wrong.
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
from voirdire.tables.cells import Cells, Coded
from voirdire.tables.encode import UNREAD
from voirdire.tables.formats import size_limits
from voirdire.tables.formats.json_text import UNMERGED, is_merge_conflict_marker
from voirdire.tables.formats.streams import check_utf8, open_bytes, open_text
from voirdire.tables.parquet_file import coded_texts, duckdb_connection, path_sql_literal
from voirdire.tables.problems import Problems

_SEPARATORS = (",", "\t", ";", "|")
#: What is wrong with a row that is the header once more.
REPEATED_HEADER = "it repeats the header; delete it"
_CHUNK = 2**22  # bytes
_ROWS = 50_000  # rows that are handed on together

Rows = list[tuple[object, ...]]


def repeats_header(row: Sequence[object], names: Sequence[object]) -> bool:
    """True for a row that is the header once more, as where files were written behind each other."""
    return len(row) == len(names) > 1 and row[0] == names[0] and list(row) == list(names)


def parse_separator(mark: str) -> str:
    """The character between columns that is meant; ``\\t`` in two letters is a tab.

    Raises
    ------
    InputError
        It is not one character, or one that means something else.

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
    """The separator that occurs most in the header outside of quotation marks; a comma where none does."""
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
    """Header and rows of a text table with the numbers of the lines that they begin in.

    Raises
    ------
    InputError
        A quotation mark is left open, a field or a line is longer than a record may be, or two versions of the file
        were not merged.

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
                _check_merge_conflict(row, name, reader.line_num)
                width = width or len(row)
            yield _first_line(reader, row), row


def _first_line(reader: Any, row: Sequence[str]) -> int:
    """Line that a row begins in which has just been read: cells may hold line breaks."""
    return int(reader.line_num) - sum(cell.count("\n") for cell in row)


def row_lines(path: str, name: str) -> list[int]:
    """Line that each row below the header begins in."""
    return [line for line, _ in separated_rows(path, name)][1:]


@contextmanager
def _open_reader(path: str, name: str, separator: str = ",") -> Iterator[Any]:
    """The rows of a text table as the module csv gives them, empty ones too."""
    # A column that is not read may hold whole answers, longer than the module's default limit of a field.
    limit = csv.field_size_limit(min(size_limits.record_bound(), 2**31 - 1))
    try:
        with open_text(path, newline="", lines=True) as lines:
            reader = csv.reader(lines, delimiter=separator, strict=True)
            try:
                yield reader
            except csv.Error as error:
                why = (
                    "is a quotation mark left open?"
                    if "limit" not in str(error)
                    else size_limits.LIMIT_VARIABLE
                )
                raise InputError(f"{name}: line {reader.line_num} is not CSV: {error}; {why}") from None
    finally:
        csv.field_size_limit(limit)


def _check_merge_conflict(row: Sequence[str], name: str, number: int) -> None:
    if is_merge_conflict_marker(row[0]):
        raise InputError(f"{name}: line {number}: {UNMERGED}")


def csv_header(file: Path, problems: Problems) -> list[str]:
    """Names of the columns, reading the first lines alone.

    Raises
    ------
    InputError
        There is no header, or it cannot be read.
    """
    _, header = next(separated_rows(str(file), problems.name), (0, None))
    if header is None:
        problems.stop(f"file {str(file)!r} is empty")
    if len(header) == 1 and any(mark in header[0] for mark in _SEPARATORS):
        problems.stop(f"the header {header[0]!r} has no commas; separate the columns by commas")
    return header


def csv_rows(file: Path, wanted: Sequence[str], problems: Problems) -> Iterator[Rows]:
    """The cells of some columns, many rows at a time; cells are `UNREAD` in a row that is reported.

    The header has the columns.

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
        # The first column twice, because of a single one itemgetter would not make a tuple.
        pick: Any = itemgetter(*(header.index(name) for name in [*wanted, wanted[0]]))
        width = len(header)
        rows: Rows = []
        for row in reader:
            again = repeats_header(row, header)
            if len(row) == width and not again:
                rows.append(pick(row)[:-1])
            elif row:
                _check_merge_conflict(row, problems.name, reader.line_num)
                rows.append((UNREAD,) * len(wanted))
                wrong = REPEATED_HEADER if again else f"{len(row)} fields, where the header has {width}"
                problems.line(_first_line(reader, row), wrong)
            if len(rows) == _ROWS:
                yield rows
                rows = []
        yield rows


LARGE = 1 << 23  # bytes from which it is worth it to begin with DuckDB


def count_row_commas(file: Path, width: int) -> int | None:
    """How many commas stand below a header of so many columns; None where Python must read the file.

    So it must where there are quotation marks, the header occurs again, or lines do not all end alike, in LF or in
    CR LF: else a row is a line and a field what stands between commas, to every reader of CSV. The file need not fit
    into memory.

    Raises
    ------
    InputError
        It is no text that is UTF-8.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    commas = returns = ends = both = 0
    quoted, last, begin = False, b"", b""
    again, header = False, b""
    with open_bytes(str(file), text=True) as stream:
        while True:
            chunk = stream.read(_CHUNK)
            try:
                decode(chunk, not chunk)
            except UnicodeDecodeError:
                check_utf8(str(file))  # says where
                raise
            if not chunk:
                break
            begin = begin or chunk.removeprefix(codecs.BOM_UTF8)[:1]
            header = header or b"\n" + chunk.removeprefix(codecs.BOM_UTF8).split(b"\n", 1)[0].rstrip(b"\r")
            again = again or header in last + chunk
            commas += chunk.count(b",")
            returns += chunk.count(b"\r")
            ends += chunk.count(b"\n")
            both += chunk.count(b"\r\n") + (last[-1:] == b"\r" and chunk[:1] == b"\n")
            quoted = quoted or b'"' in chunk
            last = chunk[-len(header) :]
    plain = not (quoted or again) and returns == both and returns in (0, ends)
    return commas - width + 1 if plain and width > 1 and begin not in (b"\r", b"\n", b"") else None


def csv_sql_source(path: str, folder: str | Path, width: int) -> str:
    """The table function of such a file; its columns are c0, c1, ..."""
    columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(width))
    # large buffers would take a small share of the memory for themselves
    size = "max_line_size = 2000000, buffer_size = 8000000, compression = 'none', hive_partitioning = false"
    how = "header = true, auto_detect = false, delim = ',', quote = '', escape = '', strict_mode = true"
    return f"read_csv({path_sql_literal(path, folder)}, {how}, {size}, columns = {{{columns}}})"


def coded_csv_cells(file: Path, names: Sequence[str], wanted: Sequence[str]) -> Cells | None:
    """Cells of some columns of a large file, as codes; None where Python must read it."""
    if os.path.getsize(file) < LARGE or (commas := count_row_commas(file, len(names))) is None:
        return None
    import duckdb

    cells = [f"c{names.index(name)}" for name in wanted]
    chosen = ", ".join(f"coalesce({cell}, '') {cell}" for cell in cells)
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, duckdb_connection(folder) as connection:
        try:
            connection.execute(
                f"CREATE TEMP TABLE t AS SELECT {chosen} FROM {csv_sql_source(str(file), folder, len(names))}"
            )
        except duckdb.Error:  # which Python says better
            return None
        (rows,) = connection.execute("SELECT count(*) FROM t").fetchone()
        if rows * (len(names) - 1) != commas:
            return None
        found: dict[str, Coded | None] = {
            name: coded_texts(connection, "t", cell) for name, cell in zip(wanted, cells, strict=True)
        }
    known: Cells = {name: column for name, column in found.items() if column is not None}
    return known if len(known) == len(wanted) else None
