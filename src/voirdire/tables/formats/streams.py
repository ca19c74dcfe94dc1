"""Bytes and texts of files: packed files are unpacked, the standard input is copied to a file."""

from __future__ import annotations

import codecs
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from voirdire.errors import InputError
from voirdire.tables.formats import failures
from voirdire.tables.formats.failures import convert_reading_errors

_CHUNK_BYTES = 2**20
_GZIP_SIGNATURE, _ZSTD_SIGNATURE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PARQUET_SIGNATURE, ZIP_SIGNATURE = b"PAR1", b"PK\x03\x04"
#: First bytes of unsupported files, with the end of the error message.
_UNSUPPORTED_SIGNATURES: dict[bytes, str] = {
    codecs.BOM_UTF16_LE: "is in UTF-16; save it as UTF-8",
    codecs.BOM_UTF16_BE: "is in UTF-16; save it as UTF-8",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet of before 2007 (.xls) or one with a password; save it as .xlsx without one",
    b"PK\x05\x06": "is an archive that holds nothing",
    b"BZh": "is compressed with bzip2; unpack it, or compress it with gzip or zstd",
    b"\xfd7zXZ": "is compressed with xz; unpack it, or compress it with gzip or zstd",
    b"7z\xbc\xaf": "is an archive of 7-Zip; unpack it",
    b"Rar!": "is an archive of RAR; unpack it",
    b"%PDF": "is a PDF; give the table itself",
    b"SQLite format 3": "is a database of SQLite; export the table as CSV",
    _GZIP_SIGNATURE: "is compressed twice; unpack it once",
    _ZSTD_SIGNATURE: "is compressed twice; unpack it once",
    b"ARROW1": "is an Arrow file; save it as Parquet or CSV",
}
#: First bytes of HTML pages that some programs write under the suffix .xls.
_HTML_SIGNATURES, _HTML_HEAD_BYTES = (b"<html", b"<!doctype", b"<table"), 64
_NON_TEXT_SIGNATURES = _UNSUPPORTED_SIGNATURES | {
    PARQUET_SIGNATURE: "is a Parquet file; name it .parquet",
    ZIP_SIGNATURE: "is a zip archive or a spreadsheet; export it as CSV",
}


@contextmanager
def local_copy(path: str) -> Iterator[str]:
    """Path of a file, or of a copy of the standard input, that can be opened repeatedly."""
    if path != "-":
        if not os.path.exists(path):
            raise InputError(f"file {path!r} does not exist")
        if os.path.isdir(path):
            raise InputError(f"{path!r} is a folder; give a file")
        if not os.path.getsize(path):
            raise InputError(f"file {path!r} is empty")
        yield path
        return
    yield _keep_standard_input()


_stdin: tuple[object, tempfile._TemporaryFileWrapper[bytes]] | None = None


def _keep_standard_input() -> str:
    """Copy the standard input to a file that can be read repeatedly; return its path."""
    global _stdin
    if _stdin is None or _stdin[0] is not sys.stdin:
        copy = tempfile.NamedTemporaryFile(prefix="voirdire-")  # noqa: SIM115
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        _stdin = sys.stdin, copy
    path = _stdin[1].name
    if not os.path.getsize(path):
        raise InputError("nothing comes from the standard input; pipe a file into it")
    return path


def is_packed(start: bytes) -> bool:
    """True if the first bytes are those of a compressed file."""
    return start.startswith((_GZIP_SIGNATURE, _ZSTD_SIGNATURE))


def check_file_signature(start: bytes, path: str, *, text: bool = False) -> None:
    """Raise if the first unpacked bytes are those of an unsupported file or, for ``text``, of a file that is no text.

    Raises
    ------
    InputError
        The message names the kind of file and the remedy.
    """
    for mark, reason in (_NON_TEXT_SIGNATURES if text else _UNSUPPORTED_SIGNATURES).items():
        if start.startswith(mark):
            raise InputError(f"file {path!r} {reason}")
    if start[:_HTML_HEAD_BYTES].removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(_HTML_SIGNATURES):
        raise InputError(f"file {path!r} is a page of HTML; save it as .xlsx or CSV")


class _CheckedStream(io.RawIOBase):
    """Unpacked bytes with a size limit; text must have no zero bytes and no endless lines.

    Parameters
    ----------
    path : str
        Path for messages.
    plain : stream
        The bytes of the file.
    stream : stream
        The unpacked bytes; ``plain`` if the file is not packed.
    text, lines : bool
        True for text; true for text that is read by lines.
    """

    def __init__(self, path: str, plain: IO[bytes], stream: Any, text: bool, lines: bool) -> None:
        self._path, self._plain, self._stream = path, plain, stream
        self._text, self._begun = text, False
        self._line = 0  # bytes of the line so far
        self._longest = failures.record_bound() if lines else None
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with convert_reading_errors(self._path):
            chunk: bytes = self._stream.read(len(buffer))
        if self._stream is not self._plain:
            self._unpacked += len(chunk)
            limit = failures.streamed_size_limit(self._plain.tell())
            if self._unpacked > limit:
                raise failures.too_large_error(f"file {self._path!r} unpacks to", limit)
        if self._text and not self._begun:
            check_file_signature(chunk, self._path, text=True)
            self._begun = True
        if self._text and b"\0" in chunk:
            raise InputError(f"file {self._path!r} is not text: it has zero bytes")
        if self._longest is not None:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            self._line = self._line + len(chunk) if end < 0 else len(chunk) - end
            if self._line > self._longest:
                raise failures.too_large_error(f"file {self._path!r} has a line of", self._longest)
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def open_bytes(path: str, *, text: bool = False, lines: bool = False) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file.

    Parameters
    ----------
    text, lines : bool
        True for text; true for text that is read by lines, which must not be endless.

    Raises
    ------
    InputError
        While the file is read: it is damaged, unpacks to more than :mod:`voirdire.tables.formats.failures` allows,
        or is no text.
    """
    with convert_reading_errors(path):
        plain = open(path, "rb")  # noqa: SIM115
        magic = plain.read(4)
        plain.seek(0)
    with plain:
        if magic.startswith(_GZIP_SIGNATURE):
            import gzip

            with gzip.open(plain) as stream:
                yield io.BufferedReader(_CheckedStream(path, plain, stream, text, lines), _CHUNK_BYTES)
        elif magic == _ZSTD_SIGNATURE:
            with _unpack_zstd(plain, path) as stream:
                yield io.BufferedReader(_CheckedStream(path, plain, stream, text, lines), _CHUNK_BYTES)
        else:
            yield io.BufferedReader(_CheckedStream(path, plain, plain, text, lines), _CHUNK_BYTES)


@contextmanager
def _unpack_zstd(plain: IO[bytes], path: str) -> Iterator[Any]:
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"file {path!r} is compressed with zstd; install pyarrow, or unpack it") from None
    stream = pyarrow.CompressedInputStream(plain, "zstd")
    try:
        yield stream
    finally:
        stream.close()


@contextmanager
def open_text(path: str, newline: str | None = None, *, lines: bool = False) -> Iterator[IO[str]]:
    """The unpacked UTF-8 text of a file.

    Raises
    ------
    InputError
        As :func:`open_bytes`, or the text is not UTF-8; the message gives the line.
    """
    with (
        open_bytes(path, text=True, lines=lines) as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline) as text,
    ):
        try:
            yield text
        except UnicodeDecodeError:
            check_utf8(path)
            raise


def check_utf8(path: str) -> None:
    """Raise if a file is not UTF-8.

    Raises
    ------
    InputError
        The message gives the first invalid byte and its line.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    lines_before = 0
    with open_bytes(path) as stream:
        while True:
            chunk = stream.read(_CHUNK_BYTES)
            try:
                decode(chunk, not chunk)
            except UnicodeDecodeError as error:
                # error.object: the start of a character that was cut in two, and the chunk
                line = lines_before + error.object.count(b"\n", 0, error.start) + 1
                byte = error.object[error.start]
                raise InputError(
                    f"file {path!r} is not UTF-8: line {line} has the byte 0x{byte:02x}; save it as UTF-8"
                ) from None
            if not chunk:
                return
            lines_before += chunk.count(b"\n")


@contextmanager
def unpacked_copy(path: str) -> Iterator[str]:
    """Path of a temporary file with the unpacked bytes of a packed file."""
    with tempfile.NamedTemporaryFile(prefix="voirdire-") as copy, open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            copy.write(chunk)
        copy.flush()
        yield copy.name
