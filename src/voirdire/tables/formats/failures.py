"""Limits of files in memory, and errors of libraries that read a file as voirdire's messages.

Limits of the size of files in memory, because a packed file may unpack to a thousand times its size.

By default a file that is read in parts may unpack to 500 times its packed size, data held as a whole (a JSON object, a
member of an archive) to 50 times, small files always to 8 or 64 MB; a record or a line has at most 32 MB. The
environment variable ``VOIRDIRE_UNPACKED`` (``VOIRDIRE_UNPACKED=20GB``) replaces all these limits by one size.
"""

from __future__ import annotations

import csv
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from voirdire.errors import InputError

LIMIT_VARIABLE = "VOIRDIRE_UNPACKED"
STREAMED_RATIO, STREAMED_MINIMUM = 500, 2**23  # of files that are read in parts
IN_MEMORY_RATIO, IN_MEMORY_MINIMUM, IN_MEMORY_MAXIMUM = 50, 2**26, 2**30  # of data held as a whole
MAX_RECORD_SIZE = 2**25  # characters of a record, bytes of a line
_MAX_OBJECTS = 2_000_000  # lists and objects of a record; each takes about 80 bytes
MAX_UNCHECKED_SIZE = 2**23  # characters; shorter JSON fits into memory in any case
_SIZE_TEXT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)i?B?", re.IGNORECASE)
_POWER_OF_PREFIX = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12}


def user_bound() -> int | None:
    """The user's limit in bytes; None without one.

    Raises
    ------
    InputError
        The environment variable is no size.
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return None
    size = _SIZE_TEXT.fullmatch(text)
    if size is None:
        raise InputError(f"{LIMIT_VARIABLE}: {text!r} is no size; write for example 20GB")
    return int(float(size[1]) * 10 ** _POWER_OF_PREFIX[size[2].upper()])


def streamed_size_limit(packed: int) -> int:
    """Limit, in bytes, for unpacking ``packed`` bytes that are read in parts."""
    return user_bound() or max(STREAMED_MINIMUM, STREAMED_RATIO * packed)


def in_memory_size_limit(packed: int) -> int:
    """Limit, in bytes, for unpacking ``packed`` bytes that are held as a whole."""
    return user_bound() or min(IN_MEMORY_MAXIMUM, max(IN_MEMORY_MINIMUM, IN_MEMORY_RATIO * packed))


def record_bound() -> int:
    """Limit of a record in characters, and of a line in bytes."""
    return user_bound() or MAX_RECORD_SIZE


def too_large_error(subject: str, limit: int) -> InputError:
    """Error about data beyond a limit in bytes.

    Examples
    --------
    >>> str(too_large_error("file 'a.gz' unpacks to", 2**23))
    "file 'a.gz' unpacks to more than 8 MB; if it is meant to be so large, set VOIRDIRE_UNPACKED=20GB or what it takes"
    """
    size = f"{limit / 1e6:,.0f} MB" if limit >= 10**6 else f"{limit:,} bytes"
    return InputError(
        f"{subject} more than {size}; if it is meant to be so large, set {LIMIT_VARIABLE}=20GB or what it takes"
    )


def check_json_object_count(text: str | bytes, packed: int, place: str) -> None:
    """Raise for JSON with very many lists and objects, which take thirty times the memory of their text.

    Raises
    ------
    InputError
        There are more than two million, and more than ``packed`` (bytes).
    """
    if len(text) <= MAX_UNCHECKED_SIZE or user_bound() is not None:
        return
    opening = ("{", "[") if isinstance(text, str) else (b"{", b"[")
    if sum(map(text.count, opening)) > max(_MAX_OBJECTS, packed):  # type: ignore[arg-type]
        raise InputError(
            f"{place}: holds more than {_MAX_OBJECTS:,} lists and objects; if it is meant to be so large, set "
            f"{LIMIT_VARIABLE}=20GB or what it takes"
        )


@contextmanager
def convert_reading_errors(path: str) -> Iterator[None]:
    """Convert errors of Python's standard library while a file is read to one message.

    Raises
    ------
    InputError
        The file cannot be read, is damaged, cut off, nested too deeply, or larger than the memory.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, csv.Error, RecursionError, MemoryError) as error:
        raise InputError(f"file {path!r} {describe_failure(error)}") from error


@contextmanager
def convert_library_errors(path: str, file_kind: str) -> Iterator[None]:
    """Convert any error of a library while it reads a file; damaged bytes may raise anything.

    The block must hold no code of voirdire's.

    Parameters
    ----------
    file_kind : str
        Kind of file with its article, for the message: "an archive".
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"file {path!r} cannot be read as {file_kind}: {_first_sentence(error)}; is it whole?"
        ) from error


def describe_failure(error: BaseException) -> str:
    """Describe what is wrong with a file, as the end of a sentence that begins with the file.

    Examples
    --------
    >>> describe_failure(EOFError()), describe_failure(PermissionError(13, "Permission denied"))
    ('is cut off; fetch it again', 'cannot be read: Permission denied')
    """
    if isinstance(error, EOFError):
        return "is cut off; fetch it again"
    if isinstance(error, RecursionError):
        return "cannot be read: it is nested too deeply"
    if isinstance(error, MemoryError):
        return "does not fit into the memory"
    if isinstance(error, OSError) and error.errno is not None:
        return f"cannot be read: {error.strerror or error}"
    return f"is damaged: {_first_sentence(error)}; fetch it again"


def _first_sentence(error: BaseException) -> str:
    lines = str(error).splitlines()
    sentence = next((line.strip() for line in lines if line.strip()), "")
    plain = sentence and not isinstance(error, KeyError)
    return sentence[:200] if plain else f"{type(error).__name__} {sentence}".strip()
