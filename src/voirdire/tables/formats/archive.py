"""Members of zip archives, within the size limits; members may be packed with zstandard.

Python reads zstandard only from 3.14 on.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Generator
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.formats import failures
from voirdire.tables.formats.failures import convert_library_errors

_ZSTD_METHOD = 93  # APPNOTE.TXT 4.4.5
_ENCRYPTED_FLAG = 1  # the flag, APPNOTE.TXT 4.4.4
_MEMBER_HEADER = struct.Struct("<26x2H")  # lengths of the member's name and of its extra field
_CHUNK_BYTES = 2**20


def open_archive(path: str) -> zipfile.ZipFile:
    """Open an archive.

    Raises
    ------
    InputError
        The archive is damaged, holds a name twice, or exceeds :mod:`voirdire.tables.formats.failures`.
    """
    with convert_library_errors(path, "an archive"):
        archive = zipfile.ZipFile(path)
    names = archive.namelist()
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(f"file {path!r} holds {repeated!r} twice; which counts, nobody knows: write it anew")
    limit = failures.streamed_size_limit(os.path.getsize(path))
    if sum(info.file_size for info in archive.infolist()) > limit:
        raise failures.too_large_error(f"file {path!r} unpacks to", limit)
    return archive


def member_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member.

    Raises
    ------
    InputError
        The member is encrypted, packed by an unsupported method, or larger than the limit in memory.
    zipfile.BadZipFile
        The member is damaged.
    """
    info = archive.getinfo(name)
    return b"".join(member_pieces(archive, name, failures.in_memory_size_limit(info.compress_size)))


def member_pieces(archive: zipfile.ZipFile, name: str, bound: int) -> Generator[bytes, None, None]:
    """The bytes of a member in chunks, never more than the size that the archive states.

    Raises
    ------
    InputError, zipfile.BadZipFile
        As :func:`member_bytes`, with ``bound`` (bytes) as the limit.
    """
    info = archive.getinfo(name)
    if info.flag_bits & _ENCRYPTED_FLAG:
        raise InputError(f"{name}: it is encrypted; give the file without a password")
    if info.file_size > bound:
        raise failures.too_large_error(f"{name}: unpacks to", bound)
    if info.compress_type == _ZSTD_METHOD:
        yield from _unpack_zstandard(archive, info)
        return
    try:
        with archive.open(info) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                yield chunk
    except NotImplementedError:
        raise InputError(
            f"{name}: packed by method {info.compress_type}, which cannot be read; pack the archive anew"
        ) from None
    except (OSError, EOFError, RuntimeError, ValueError, zlib.error, struct.error) as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from None


def _unpack_zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Generator[bytes, None, None]:
    name = info.filename
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"{name}: packed with zstandard; install pyarrow to read it") from None
    stream: Any = archive.fp
    size = crc = 0
    try:
        stream.seek(info.header_offset)
        lengths = _MEMBER_HEADER.unpack(stream.read(_MEMBER_HEADER.size))
        stream.seek(sum(lengths), 1)
        packed = stream.read(info.compress_size)
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as unpacked:
            while size <= info.file_size and (chunk := unpacked.read(_CHUNK_BYTES)):
                size, crc = size + len(chunk), zlib.crc32(chunk, crc)
                yield chunk
    except (OSError, ValueError, struct.error) as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from None
    if size != info.file_size or crc != info.CRC:
        raise zipfile.BadZipFile(f"{name}: it is not what the archive says it is")
