"""Conversion of errors that libraries raise while they read a file to voirdire's messages."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from voirdire.errors import InputError


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
