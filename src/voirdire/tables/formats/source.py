"""A file as the readers of tools' formats see it: what is in it, told by its bytes, and its records one at a time."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import IO, Any

from voirdire.errors import InputError
from voirdire.tables.parquet_file import connected, parquet, parquet_columns

_PEEK = 2**16  # bytes by which a file is told
_CHUNK = 2**22  # characters of a JSON list that are looked at together
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SEPARATORS = (",", "\t", ";", "|")

Record = dict[str, Any]


@dataclass(frozen=True)
class Head:
    """What tells a file's format.

    Attributes
    ----------
    shape : "object", "records", "table" or "zip"
        One JSON object; a list of JSON objects, or one a line; CSV, Parquet or a spreadsheet; a zip archive.
    keys : frozenset of str
        Of the object, the first record, the header, or the archive's members.
    first : object
        The object, the first record, or None.
    lone : bool
        Whether a single object stands in one line, which may be a list of one.
    """

    shape: str
    keys: frozenset[str] = frozenset()
    first: Any = None
    lone: bool = False
    columns: tuple[str, ...] = ()

    def as_record(self) -> Head:
        """The same, taken for a list of one record."""
        return replace(self, shape="records")


@dataclass
class Source:
    """An open file.

    Attributes
    ----------
    path : str
        Where it is; ``-`` is the standard input.
    head : Head
    separator : str
        Of the columns of a text table.
    packed : bool
        Whether it is compressed.
    siblings : sequence of Source
        The files that are read together.
    """

    path: str
    local: str
    kind: str
    head: Head
    separator: str = ","
    packed: bool = False
    siblings: Sequence[Source] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return "standard input" if self.path == "-" else os.path.basename(self.path)

    def records(self, columns: Sequence[str] = ()) -> Iterator[tuple[str, Record | str]]:
        """The records with their places; what stands for one that cannot be read is the reason.

        Parameters
        ----------
        columns : sequence of str
            Those that are wanted, where only some need be read; empty for all.
        """
        if self.head.shape == "object":
            return iter([(self.name, self.head.first)])
        if self.kind == "json":
            return _listed(self)
        if self.kind == "jsonl":
            return _lines(self)
        if self.kind == "parquet":
            return _parquet(self, columns)
        return _rows(self, _table(self))

    def zipped(self) -> zipfile.ZipFile:
        """The archive."""
        return zipfile.ZipFile(self.local)


@contextmanager
def opened(path: str | os.PathLike[str], separator: str | None = None) -> Iterator[Source]:
    """Open a file and tell what is in it: its bytes decide, never its name.

    ``.gz`` and ``.zst`` are unpacked on the way; ``-`` is the standard input.

    Raises
    ------
    InputError
        It is missing, empty, a folder, or holds nothing that has records.
    """
    text = os.fspath(path)
    with _local(text) as local:
        try:
            yield _source(text, local, separator)
        except OSError as error:
            raise InputError(f"file {text!r} cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise InputError(f"file {text!r} is not UTF-8 ({error.reason}); save it as UTF-8") from error
        except zipfile.BadZipFile as error:
            raise InputError(f"file {text!r} is a damaged archive: {error}; fetch it again") from error
        except EOFError as error:
            raise InputError(f"file {text!r} is cut off; fetch it again") from error
        except RecursionError:
            raise InputError(f"file {text!r} cannot be read: it is nested too deeply") from None


@contextmanager
def _local(path: str) -> Iterator[str]:
    if path != "-":
        if not os.path.exists(path):
            raise InputError(f"file {path!r} does not exist")
        if os.path.isdir(path):
            raise InputError(f"{path!r} is a folder; give a file")
        if not os.path.getsize(path):
            raise InputError(f"file {path!r} is empty")
        yield path
        return
    yield _spooled()


_stdin: tuple[object, tempfile._TemporaryFileWrapper[bytes]] | None = None


def _spooled() -> str:
    """What came from the standard input, as a file: it can be read more than once."""
    global _stdin
    if _stdin is None or _stdin[0] is not sys.stdin:
        copy = tempfile.NamedTemporaryFile(prefix="voirdire-")  # noqa: SIM115
        while chunk := sys.stdin.buffer.read(_CHUNK):
            copy.write(chunk)
        copy.flush()
        _stdin = sys.stdin, copy
    path = _stdin[1].name
    if not os.path.getsize(path):
        raise InputError("nothing comes from the standard input; pipe a file into it")
    return path


def _source(path: str, local: str, separator: str | None) -> Source:
    with open(local, "rb") as plain:
        packed = plain.read(4).startswith((_GZIP, _ZSTD))
    source = _told(path, local, separator)
    source.packed = packed
    return source


def _told(path: str, local: str, separator: str | None) -> Source:
    with _bytes(local) as stream:
        start = stream.read(_PEEK)
    if start.startswith(b"PAR1"):
        columns = _parquet_names(local)
        return Source(path, local, "parquet", Head("table", frozenset(columns), columns=tuple(columns)))
    if start.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(local) as archive:
            members = frozenset(archive.namelist())
        if "xl/workbook.xml" in members:
            return _headed(Source(path, local, "xlsx", Head("table")))
        return Source(path, local, "zip", Head("zip", members))
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if start.startswith(mark):
            raise InputError(f"file {path!r} is in UTF-16; save it as UTF-8")
    begin = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if not begin:
        raise InputError(f"file {path!r} is empty")
    if begin[:1] == b"[":
        source = Source(path, local, "json", Head("records"))
        return _headed(source)
    if begin[:1] == b"{":
        return _braced(path, local)
    source = Source(path, local, "csv", Head("table"))
    source.separator = separator or _separator(local)
    return _headed(source)


def _headed(source: Source) -> Source:
    """Look at the first record."""
    if source.head.shape == "table":
        header = next(iter(_table(source)), None)
        names = [] if header is None else [str(cell) for cell in header[1]]
        source.head = Head("table", frozenset(names), columns=tuple(names))
        return source
    for place, record in source.records():
        if not isinstance(record, dict):
            raise InputError(f"{place}: {record}")
        source.head = Head("records", frozenset(record), record)
        return source
    raise InputError(f"file {source.path!r} has no records")


def _braced(path: str, local: str) -> Source:
    """One object, or one in each line."""
    with _text(local) as lines:
        whole = [line for _, line in zip(range(2), (line for line in lines if line.strip()), strict=False)]
    try:
        first = json.loads(whole[0])
    except ValueError:
        first = None
    if first is not None and len(whole) > 1:
        return Source(path, local, "jsonl", Head("records", frozenset(first), first))
    if first is None:
        with _text(local) as stream:
            try:
                first = json.load(stream)
            except ValueError as error:
                raise InputError(f"file {path!r} is no JSON: {error}; is it whole?") from None
    return Source(path, local, "json", Head("object", frozenset(first), first, lone=True))


def _listed(source: Source) -> Iterator[tuple[str, Record | str]]:
    """The objects of a JSON list, of which only a part is in memory."""
    decode = json.JSONDecoder().raw_decode
    with _text(source.local) as stream:
        buffer = stream.read(_CHUNK).lstrip().removeprefix("[")
        number, at, size = 0, 0, _CHUNK
        while True:
            at = _skip(buffer, at)
            if at < len(buffer) and buffer[at] == "]":
                return
            try:
                value, end = decode(buffer, at)
                complete = end < len(buffer)  # a number may go on in what comes next
            except (ValueError, IndexError) as error:
                value, end, complete, why = None, at, False, error
            else:
                why = ValueError("the list has no end")
            if not complete:
                more = stream.read(size)
                if not more:
                    place = f"{source.name}[{number}]"
                    reason = getattr(why, "msg", None) or str(why)
                    raise InputError(f"{place}: not JSON ({reason}); is the file whole?")
                buffer, at = buffer[at:] + more, 0
                size = max(_CHUNK, len(buffer))  # a long record is not read anew with every part of it
                continue
            yield f"{source.name}[{number}]", value if isinstance(value, dict) else _no_object(value)
            number, at = number + 1, end


def _skip(buffer: str, at: int) -> int:
    while at < len(buffer) and buffer[at] in " \t\r\n,":
        at += 1
    return at


def _lines(source: Source) -> Iterator[tuple[str, Record | str]]:
    with _text(source.local) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError as error:
                yield f"{source.name}:{number}", f"not a JSON object: {getattr(error, 'msg', error)}"
            else:
                yield f"{source.name}:{number}", value if isinstance(value, dict) else _no_object(value)


def _no_object(value: object) -> str:
    return f"a {type(value).__name__} instead of an object"


def _rows(source: Source, rows: Iterator[tuple[int, list[Any]]]) -> Iterator[tuple[str, Record | str]]:
    header = next(rows)[1]
    for number, row in rows:
        place = f"{source.name}:{number}"
        if len(row) == len(header):
            yield place, dict(zip(header, row, strict=True))
        elif row:
            yield place, f"{len(row)} fields, where the header has {len(header)}"


def _table(source: Source) -> Iterator[tuple[int, list[Any]]]:
    """Header and rows with their lines."""
    if source.kind == "xlsx":
        yield from _sheet(source.local)
        return
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with _text(source.local, newline="") as lines:
            reader = csv.reader(lines, delimiter=source.separator, strict=True)
            try:
                for row in reader:
                    if row:
                        yield reader.line_num, row
            except csv.Error as error:
                raise InputError(
                    f"{source.name}: line {reader.line_num} is not CSV: {error}; is a quotation mark left open?"
                ) from None
    finally:
        csv.field_size_limit(limit)


def _sheet(path: str) -> Iterator[tuple[int, list[Any]]]:
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"file {path!r} is a spreadsheet; install voirdire[xlsx] to read it, or save it as CSV"
        ) from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        width = 0
        for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
            cells = ["" if cell is None else cell for cell in row]
            while cells and cells[-1] == "" and len(cells) > width:
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))
    finally:
        book.close()


def _parquet(source: Source, columns: Sequence[str]) -> Iterator[tuple[str, Record | str]]:
    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, connected(folder) as connection:
        connection.execute("SET threads = 1")
        present = parquet_columns(connection, source.local, folder)
        wanted = [column for column in present if not columns or column.name in columns] or present
        names = [column.name for column in wanted]
        selected = ", ".join(column.sql for column in wanted)
        found = connection.execute(f"SELECT {selected} FROM {parquet(source.local, folder)}")
        number = 0
        while rows := found.fetchmany(10_000):
            for row in rows:
                number += 1
                yield f"{source.name} row {number}", dict(zip(names, row, strict=True))


def _parquet_names(path: str) -> list[str]:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="voirdire-") as folder, connected(folder) as connection:
        try:
            return [column.name for column in parquet_columns(connection, path, folder)]
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise InputError(f"file {path!r} cannot be read as Parquet: {said}; is it whole?") from None


def _separator(path: str) -> str:
    """The separator that makes most columns of the header; a comma where none does."""
    with _text(path, newline="") as lines:
        header = "".join(line for _, line in zip(range(1), lines, strict=False))
    return max(_SEPARATORS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


@contextmanager
def _bytes(path: str) -> Iterator[IO[bytes]]:
    with open(path, "rb") as plain:
        magic = plain.read(4)
        plain.seek(0)
        if magic.startswith(_GZIP):
            import gzip

            with gzip.open(plain) as stream:
                yield stream  # type: ignore[misc]
        elif magic == _ZSTD:
            with _zstd(plain, path) as stream:
                yield stream
        else:
            yield plain


@contextmanager
def _zstd(plain: IO[bytes], path: str) -> Iterator[IO[bytes]]:
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"file {path!r} is compressed with zstd; install pyarrow, or unpack it") from None
    with pyarrow.CompressedInputStream(plain, "zstd") as stream:
        yield stream


@contextmanager
def _text(path: str, newline: str | None = None) -> Iterator[IO[str]]:
    with _bytes(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline) as text:
        yield text
