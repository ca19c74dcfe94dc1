"""Decode a whole text at once, whatever in it is encoded: what is not yields bytes of no meaning.

Of base64, hexadecimal and octal all that is none of their characters is dropped, so that separators and line breaks do
not matter, and decoding begins at each place of a group, so that one of the results has any part of the text right.
All of it is done by compiled code, as texts may be long; nothing becomes longer.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5

_ROUNDS = 5
_ESCAPED = re.compile(
    rb"[\\%&](?:"
    rb"(?<=\\)\\*+(?:(?:u|U0{4})00([0-9a-fA-F]{2})|u\{0{0,6}([0-9a-fA-F]{1,2})\}|x([0-9a-fA-F]{2})"
    rb"|([0-3]?[0-7]{1,2})|([^uUx]?))"
    rb"|(?<=%)([0-9a-fA-F]{2})"
    rb"|(?<=&)(?:#[xX]0{0,9}([0-9a-fA-F]{1,2});|#0{0,9}(\d{1,3});|([a-zA-Z]{2,8});))"
)
_OCTAL, _SAME, _DECIMAL, _NAME = 4, 5, 8, 9  # groups of the pattern; the others are hexadecimal
_BASES = {_OCTAL: 8, _DECIMAL: 10}
_BREAKS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _bytes_except(kept: bytes) -> bytes:
    return bytes(byte for byte in range(256) if byte not in kept)


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_NO_BASE64, _NO_HEX, _NO_OCTAL = (
    _bytes_except(_BASE64 + b"-_"),
    _bytes_except(b"0123456789abcdefABCDEF"),
    _bytes_except(b"01234567"),
)
_PRINTABLE = bytes(1 if 32 <= byte < 127 or byte in b"\t\n\r\f\v" else 0 for byte in range(256))


def unescape_rounds(raw: bytes) -> list[bytes]:
    """A text, and what it becomes as escapes are undone again and again.

    Examples
    --------
    >>> unescape_rounds(rb"%2573\\u0073\\163 & so on")
    [b'%2573\\\\u0073\\\\163 & so on', b'%73ss & so on', b'sss & so on']
    """
    views = [raw]
    for _ in range(_ROUNDS):
        if not any(sign in views[-1] for sign in (b"\\", b"%", b"&")):
            break
        further = _ESCAPED.sub(_decode_match, views[-1])
        if further == views[-1]:
            break
        views.append(further)
    return views


def decode_all(raw: bytes, least: int) -> Iterator[bytes]:
    """Decode a text as base64 (of either alphabet), hexadecimal and octal, from each place of a group.

    Parameters
    ----------
    raw : bytes
    least : int
        Results shorter than this are of no interest.

    Examples
    --------
    >>> for written in (b"it is c2Vjc mV0", b"73:65:63:72:65:74", b"163 145 143 162 145 164"):
    ...     print(any(b"secret" in decoded for decoded in decode_all(written, 6)))
    True
    True
    True
    """
    letters = raw.translate(_URL_SAFE, _NO_BASE64)
    for start in range(4 if 3 * len(letters) >= 4 * least else 0):
        part = letters[start:]
        yield binascii.a2b_base64(part + b"A" * (-len(part) % 4))
    digits = _remove_signs(raw, b"0x", b"0X").translate(None, _NO_HEX)
    for start in range(2 if len(digits) >= 2 * least else 0):
        yield binascii.unhexlify(digits[start : len(digits) - (len(digits) - start) % 2])
    octal = _remove_signs(raw, b"0o").translate(None, _NO_OCTAL)
    for start in range(3 if len(octal) >= 3 * least else 0):
        yield _from_octal(octal[start : len(octal) - (len(octal) - start) % 3])


def printable_stretches(raw: bytes, least: int) -> bytes:
    """The stretches of so many printable characters or more, with a zero byte between them; empty without any.

    Examples
    --------
    >>> printable_stretches(b"\\x00abc\\xff\\xfeabcdef\\x01", 4)
    b'abcdef'
    """
    # most of what was no code has none, which is seen by compiled code
    if b"\x01" * least not in raw.translate(_PRINTABLE):
        return b""
    return b"\0".join(re.findall(rb"[\t-\r -~]{%d,}" % least, raw))


def _remove_signs(raw: bytes, *signs: bytes) -> bytes:
    for sign in signs:
        if sign in raw:  # much faster than finding nothing to replace
            raw = raw.replace(sign, b"")
    return raw


def _from_octal(digits: bytes) -> bytes:
    import numpy as np

    values = np.frombuffer(digits, np.uint8) - np.uint8(ord("0"))
    return ((values[::3] << 6) | (values[1::3] << 3) | values[2::3]).tobytes()


def _decode_match(match: re.Match[bytes]) -> bytes:
    return _decode_escape(match[0])


@lru_cache(4096)
def _decode_escape(escape: bytes) -> bytes:
    """Character that an escape stands for, or the escape itself where that is nothing."""
    match = _ESCAPED.fullmatch(escape)
    assert match is not None
    kind = match.lastindex or _SAME
    text = match[kind]
    if kind == _SAME:
        return _BREAKS.get(text, text) or escape
    if kind == _NAME:
        known = html5.get(f"{text.decode()};")
        return escape if known is None else known.encode()
    return bytes([int(text, _BASES.get(kind, 16)) % 256])
