"""Bounds of how much of a file may come into memory: what is packed may hold a thousand times its size.

Without a word from the user, what is read in parts may unpack to 500 times its packed size, what is held as a whole (a
JSON object, a member of an archive) to 50 times, small files always to 8 or 64 MB; a record or a line has 32 MB at
most. The environment variable ``VOIRDIRE_UNPACKED`` (``VOIRDIRE_UNPACKED=20GB``) puts one size in place of all these.
"""

from __future__ import annotations

import os
import re

from voirdire.errors import InputError

UNPACKED = "VOIRDIRE_UNPACKED"
RATIO, SMALL = 500, 2**23  # of what is read in parts
RATIO_HELD, SMALL_HELD, HELD = 50, 2**26, 2**30  # of what is held as a whole
RECORD = 2**25  # letters of a record, bytes of a line
_OBJECTS = 2_000_000  # lists and objects of a record: each takes some 80 bytes
SHORT = 2**23  # letters that cannot hold more than memory does
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)i?B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 3, "M": 6, "G": 9, "T": 12}


def user_bound() -> int | None:
    """The bound that the user set, in bytes; None without one.

    Raises
    ------
    InputError
        It is no size.
    """
    text = os.environ.get(UNPACKED, "").strip()
    if not text:
        return None
    size = _SIZE.fullmatch(text)
    if size is None:
        raise InputError(f"{UNPACKED}: {text!r} is no size; write for example 20GB")
    return int(float(size[1]) * 10 ** _POWERS[size[2].upper()])


def streamed_size_limit(packed: int) -> int:
    """Bytes to which so many may unpack, where they are read in parts."""
    return user_bound() or max(SMALL, RATIO * packed)


def in_memory_size_limit(packed: int) -> int:
    """Bytes to which so many may unpack, where they are held as a whole."""
    return user_bound() or min(HELD, max(SMALL_HELD, RATIO_HELD * packed))


def record_bound() -> int:
    """Letters of a record, bytes of a line."""
    return user_bound() or RECORD


def too_large_error(what: str, bound: int) -> InputError:
    """That something is larger than its bound.

    Examples
    --------
    >>> str(too_large_error("file 'a.gz' unpacks to", 2**23))
    "file 'a.gz' unpacks to more than 8 MB; if it is meant to be so large, set VOIRDIRE_UNPACKED=20GB or what it takes"
    """
    size = f"{bound / 1e6:,.0f} MB" if bound >= 10**6 else f"{bound:,} bytes"
    return InputError(
        f"{what} more than {size}; if it is meant to be so large, set {UNPACKED}=20GB or what it takes"
    )


def check_json_object_count(text: str | bytes, packed: int, place: str) -> None:
    """Refuse JSON of very many lists and objects, which take thirty times the memory of their text.

    Raises
    ------
    InputError
        There are more than two million, and more than its packed bytes.
    """
    if len(text) <= SHORT or user_bound() is not None:
        return
    opening = ("{", "[") if isinstance(text, str) else (b"{", b"[")
    if sum(map(text.count, opening)) > max(_OBJECTS, packed):  # type: ignore[arg-type]
        raise InputError(
            f"{place}: holds more than {_OBJECTS:,} lists and objects; if it is meant to be so large, set "
            f"{UNPACKED}=20GB or what it takes"
        )
