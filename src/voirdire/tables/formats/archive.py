"""Members of zip archives, also of those packed with zstandard, which Python reads from 3.14 on."""

from __future__ import annotations

import struct
import zipfile
import zlib

from voirdire.errors import InputError

_ZSTD = 93  # APPNOTE.TXT 4.4.5
_HEADER = struct.Struct("<26x2H")  # of a member: lengths of its name and of what is added
_MOST = 2**31  # bytes of a member


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member.

    Raises
    ------
    InputError
        It is packed in a way that cannot be read here.
    zipfile.BadZipFile
        It is damaged.
    """
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD:
        try:
            return archive.read(name)
        except NotImplementedError:
            raise InputError(
                f"{name}: packed by method {info.compress_type}, which cannot be read; pack the archive anew"
            ) from None
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"{name}: packed with zstandard; install pyarrow to read it") from None
    if info.file_size > _MOST:
        raise zipfile.BadZipFile(f"{name}: too large")
    stream = archive.fp
    assert stream is not None
    stream.seek(info.header_offset)
    lengths = _HEADER.unpack(stream.read(_HEADER.size))
    stream.seek(sum(lengths), 1)
    packed = stream.read(info.compress_size)
    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as unpacked:
            found: bytes = unpacked.read(info.file_size + 1)
    except OSError as error:
        raise zipfile.BadZipFile(f"{name}: {error}") from None
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"{name}: it is not what the archive says it is")
    return found
