"""A CSV file: what its bytes are, its header and its rows, one way for small and large files.

CSV here has commas, a header and UTF-8 text (a byte order mark is fine); fields that hold commas, quotation marks or
line breaks stand in quotation marks; lines end in LF, CR LF or CR, and blank ones hold no row.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from voirdire.tables.encode import UNREAD
from voirdire.tables.problems import Problems

_MAGIC = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; export it as CSV",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"\xff\xfe": "in UTF-16; save it as UTF-8",
    b"\xfe\xff": "in UTF-16; save it as UTF-8",
}
_CHUNK = 2**22  # bytes
_ROWS = 50_000  # rows that are handed on together

Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Bytes:
    """What the bytes of a text file are.

    Attributes
    ----------
    commas : int
    plain : bool
        Whether there are no quotation marks and all lines end alike, in LF or in CR LF: a row is then a line and a
        field what stands between commas, to every reader of CSV.
    """

    commas: int
    plain: bool


def check_text(file: Path, problems: Problems) -> Bytes:
    """Go through the bytes of a text file, which need not fit into memory.

    Raises
    ------
    InputError
        At once, if it is empty, of another kind, or not UTF-8.
    OSError
        If it cannot be read.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    commas = returns = ends = both = 0
    quoted, last = False, b""
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            for magic, kind in _MAGIC.items() if not last else ():
                if chunk.startswith(magic):
                    problems.stop(f"file {str(file)!r} is {kind}")
            if b"\0" in chunk:
                problems.stop(f"file {str(file)!r} is not text: it has zero bytes")
            _check_utf8(decode, chunk, ends, file, problems)
            commas += chunk.count(b",")
            returns += chunk.count(b"\r")
            ends += chunk.count(b"\n")
            both += chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n")
            quoted = quoted or b'"' in chunk
            last = chunk[-1:]
    if not last:
        problems.stop(f"file {str(file)!r} is empty")
    _check_utf8(lambda nothing: decode(nothing, True), b"", ends, file, problems)
    return Bytes(commas, not quoted and returns == both and returns in (0, ends))


def _check_utf8(
    decode: Callable[[bytes], str], chunk: bytes, lines: int, file: Path, problems: Problems
) -> None:
    try:
        decode(chunk)
    except UnicodeDecodeError as error:
        # what the decoder was given: the start of a character that was cut in two, and the chunk
        line = lines + error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        problems.stop(
            f"file {str(file)!r} is not UTF-8: line {line} has the byte 0x{byte:02x}; save it as UTF-8"
        )


@contextmanager
def _reader(file: Path, problems: Problems) -> Iterator[Any]:
    # A column that is not read may hold whole answers, longer than the module's default limit of a field.
    limit = csv.field_size_limit(max(file.stat().st_size, csv.field_size_limit()))
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, strict=True)
            try:
                yield reader
            except csv.Error as error:
                problems.stop(f"line {reader.line_num} is not CSV: {error}; is a quotation mark left open?")
    finally:
        csv.field_size_limit(limit)


def csv_header(file: Path, problems: Problems) -> list[str]:
    """Names of the columns, reading the first lines alone.

    Raises
    ------
    InputError
        At once, if there is no header, or it cannot be read.
    """
    try:
        with _reader(file, problems) as reader:
            return _header(reader, file, problems)
    except UnicodeDecodeError:
        check_text(file, problems)  # says what is wrong, and where
        raise


def _header(reader: Any, file: Path, problems: Problems) -> list[str]:
    header: list[str] | None = next((row for row in reader if row), None)
    if header is None:
        problems.stop(f"file {str(file)!r} is empty")
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        problems.stop(f"the header {header[0]!r} has no commas; separate the columns by commas")
    return header


def csv_rows(file: Path, wanted: Sequence[str], problems: Problems) -> Iterator[Rows]:
    """The cells of some columns, many rows at a time; cells are `UNREAD` in a row that is reported.

    The file's bytes are those of text (`check_text`), and its header has the columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "votes.csv")
    ...     _ = path.write_text("judge,note\\na,x\\n\\nb,y\\n")
    ...     list(csv_rows(path, ["judge"], Problems("votes")))
    [[('a',), ('b',)]]
    """
    with _reader(file, problems) as reader:
        header = _header(reader, file, problems)
        # The first column twice, because of a single one itemgetter would not make a tuple.
        pick = itemgetter(*(header.index(name) for name in [*wanted, wanted[0]]))
        rows: Rows = []
        for row in reader:
            if len(row) == len(header):
                rows.append(pick(row)[:-1])
            elif row:
                rows.append((UNREAD,) * len(wanted))
                problems.line(reader.line_num, f"{len(row)} fields, where the header has {len(header)}")
            if len(rows) == _ROWS:
                yield rows
                rows = []
        yield rows
