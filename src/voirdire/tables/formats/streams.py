"""The bytes and texts of files: packed ones are unpacked on the way, the standard input is kept as a file."""

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
from voirdire.tables.formats import size_limits
from voirdire.tables.formats.failures import convert_reading_errors

_CHUNK = 2**20  # bytes that are read together
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
#: How files begin that are neither text nor anything that is read, and what to do about them.
_OTHERS: dict[bytes, str] = {
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
    _GZIP: "is compressed twice; unpack it once",
    _ZSTD: "is compressed twice; unpack it once",
    b"ARROW1": "is an Arrow file; save it as Parquet or CSV",
}
#: How pages begin that some programs write under the ending .xls.
_PAGES, _BEGIN = (b"<html", b"<!doctype", b"<table"), 64
_NO_TEXT = _OTHERS | {
    PARQUET: "is a Parquet file; name it .parquet",
    ZIP: "is a zip archive or a spreadsheet; export it as CSV",
}


@contextmanager
def local_copy(path: str) -> Iterator[str]:
    """A path at which a file can be opened as often as needed; what cannot be one is said."""
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
    """Standard input as a file, which can be read more than once."""
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


def is_packed(start: bytes) -> bool:
    """True where a file that begins so is compressed."""
    return start.startswith((_GZIP, _ZSTD))


def check_file_signature(start: bytes, path: str, *, text: bool = False) -> None:
    """Refuse unpacked bytes that nothing here reads, by how they begin; as text also what is none.

    Raises
    ------
    InputError
        With what they are and what to do about it.
    """
    for mark, why in (_NO_TEXT if text else _OTHERS).items():
        if start.startswith(mark):
            raise InputError(f"file {path!r} {why}")
    if start[:_BEGIN].removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(_PAGES):
        raise InputError(f"file {path!r} is a page of HTML; save it as .xlsx or CSV")


class _Checked(io.RawIOBase):
    """Unpacked bytes, of which there may be only so many, and of text neither zero bytes nor endless lines.

    Parameters
    ----------
    path : str
        For messages.
    plain : stream
        The bytes as they are in the file.
    stream : stream
        The unpacked bytes; ``plain`` where they are not packed.
    text, lines : bool
        Whether they are text, and text that is read by lines.
    """

    def __init__(self, path: str, plain: IO[bytes], stream: Any, text: bool, lines: bool) -> None:
        self._path, self._plain, self._stream = path, plain, stream
        self._text, self._begun = text, False
        self._line = 0  # bytes of the line so far
        self._longest = size_limits.record_bound() if lines else None
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with convert_reading_errors(self._path):
            chunk: bytes = self._stream.read(len(buffer))
        if self._stream is not self._plain:
            self._unpacked += len(chunk)
            bound = size_limits.streamed_size_limit(self._plain.tell())
            if self._unpacked > bound:
                raise size_limits.too_large_error(f"file {self._path!r} unpacks to", bound)
        if self._text and not self._begun:
            check_file_signature(chunk, self._path, text=True)
            self._begun = True
        if self._text and b"\0" in chunk:
            raise InputError(f"file {self._path!r} is not text: it has zero bytes")
        if self._longest is not None:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            self._line = self._line + len(chunk) if end < 0 else len(chunk) - end
            if self._line > self._longest:
                raise size_limits.too_large_error(f"file {self._path!r} has a line of", self._longest)
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def open_bytes(path: str, *, text: bool = False, lines: bool = False) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file.

    Parameters
    ----------
    text, lines : bool
        Whether they are text, and text that is read by lines, which must not be endless.

    Raises
    ------
    InputError
        While it is read: it is damaged, unpacks to more than :mod:`voirdire.tables.formats.size_limits` allows, or is
        no text.
    """
    with convert_reading_errors(path):
        plain = open(path, "rb")  # noqa: SIM115
        magic = plain.read(4)
        plain.seek(0)
    with plain:
        if magic.startswith(_GZIP):
            import gzip

            with gzip.open(plain) as stream:
                yield io.BufferedReader(_Checked(path, plain, stream, text, lines), _CHUNK)
        elif magic == _ZSTD:
            with _unpack_zstd(plain, path) as stream:
                yield io.BufferedReader(_Checked(path, plain, stream, text, lines), _CHUNK)
        else:
            yield io.BufferedReader(_Checked(path, plain, plain, text, lines), _CHUNK)


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
    """The unpacked text of a file, which is UTF-8.

    Raises
    ------
    InputError
        As :func:`open_bytes`, or the text is not UTF-8, with the line.
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
    """Find the first byte of a file that is not UTF-8.

    Raises
    ------
    InputError
        There is one; with its line.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    before = 0
    with open_bytes(path) as stream:
        while True:
            chunk = stream.read(_CHUNK)
            try:
                decode(chunk, not chunk)
            except UnicodeDecodeError as error:
                # what the decoder was given: the start of a character that was cut in two, and the chunk
                line = before + error.object.count(b"\n", 0, error.start) + 1
                byte = error.object[error.start]
                raise InputError(
                    f"file {path!r} is not UTF-8: line {line} has the byte 0x{byte:02x}; save it as UTF-8"
                ) from None
            if not chunk:
                return
            before += chunk.count(b"\n")


@contextmanager
def unpacked_copy(path: str) -> Iterator[str]:
    """A path at which the unpacked bytes of a packed file lie."""
    with tempfile.NamedTemporaryFile(prefix="voirdire-") as copy, open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK):
            copy.write(chunk)
        copy.flush()
        yield copy.name
