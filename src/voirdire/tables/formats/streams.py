"""The bytes and texts of files: packed ones are unpacked on the way, the standard input is kept as a file."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from voirdire.errors import InputError

_CHUNK = 2**22  # bytes of the standard input that are copied together
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


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


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by its first bytes."""
    with open(path, "rb") as plain:
        return plain.read(4).startswith((_GZIP, _ZSTD))


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file."""
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
def open_text(path: str, newline: str | None = None) -> Iterator[IO[str]]:
    """The unpacked text of a file, which is UTF-8."""
    with open_bytes(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline) as text:
        yield text
