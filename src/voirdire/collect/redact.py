"""Redaction of keys from all written texts, in any form in which a server may repeat a key.

A key is found unchanged, reversed, with escaped characters (JSON, Python, octal, URL, HTML), broken by white space, as
codes of its bytes (hexadecimal in any case, octal, decimal, with or without separators), in base64 of either alphabet,
and in nested encodings. Other ways to hide a key (encryption, compression, letters spread over the text) are not
detected: they need somebody who has the key already.

Usual forms are replaced directly. To detect other forms, the whole text is decoded; the position of a key is then found
by bisection, so that the rest of the text stays unchanged.

Decoding covers the whole text, whether encoded or not; plain text decodes to meaningless bytes. For base64, hexadecimal
and octal all other characters are removed first, so that separators and line breaks do not matter. Decoding starts at
each offset within a group, so that each encoded part is decoded correctly at one offset. Compiled code does this, as
texts may be long; no result is longer than its input.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from html.entities import html5
from typing import Any

_MAX_ROUNDS = 5
_ESCAPE_PATTERN = re.compile(
    rb"[\\%&](?:"
    rb"(?<=\\)\\*+(?:(?:u|U0{4})00([0-9a-fA-F]{2})|u\{0{0,6}([0-9a-fA-F]{1,2})\}|x([0-9a-fA-F]{2})"
    rb"|([0-3]?[0-7]{1,2})|([^uUx]?))"
    rb"|(?<=%)([0-9a-fA-F]{2})"
    rb"|(?<=&)(?:#[xX]0{0,9}([0-9a-fA-F]{1,2});|#0{0,9}(\d{1,3});|([a-zA-Z]{2,8});))"
)
# groups of the pattern; the others are hexadecimal
_OCTAL_GROUP, _LITERAL_GROUP, _DECIMAL_GROUP, _ENTITY_GROUP = 4, 5, 8, 9
_NUMBER_BASES = {_OCTAL_GROUP: 8, _DECIMAL_GROUP: 10}
_CONTROL_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _bytes_except(excluded: bytes) -> bytes:
    return bytes(byte for byte in range(256) if byte not in excluded)


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_NON_BASE64, _NON_HEX = _bytes_except(_BASE64 + b"-_"), _bytes_except(b"0123456789abcdefABCDEF")
_NON_OCTAL = _bytes_except(b"01234567")
_PRINTABLE = bytes(1 if 32 <= byte < 127 or byte in b"\t\n\r\f\v" else 0 for byte in range(256))


def unescape_rounds(raw: bytes) -> list[bytes]:
    """Return a text, and the text after each round of unescaping.

    Examples
    --------
    >>> unescape_rounds(rb"%2573\\u0073\\163 & so on")
    [b'%2573\\\\u0073\\\\163 & so on', b'%73ss & so on', b'sss & so on']
    """
    views = [raw]
    for _ in range(_MAX_ROUNDS):
        if not any(sign in views[-1] for sign in (b"\\", b"%", b"&")):
            break
        unescaped = _ESCAPE_PATTERN.sub(lambda match: _decode_escape(match[0]), views[-1])
        if unescaped == views[-1]:
            break
        views.append(unescaped)
    return views


def decode_all(raw: bytes, min_length: int) -> Iterator[bytes]:
    """Decode a text as base64 (of either alphabet), hexadecimal and octal, from each offset within a group.

    Parameters
    ----------
    raw : bytes
    min_length : int
        Shorter results are skipped.

    Examples
    --------
    >>> for written in (b"it is c2Vjc mV0", b"73:65:63:72:65:74", b"163 145 143 162 145 164"):
    ...     print(any(b"secret" in decoded for decoded in decode_all(written, 6)))
    True
    True
    True
    """
    letters = raw.translate(_URL_SAFE, _NON_BASE64)
    for start in range(4 if 3 * len(letters) >= 4 * min_length else 0):
        part = letters[start:]
        yield binascii.a2b_base64(part + b"A" * (-len(part) % 4))
    digits = _delete_bytes(raw, b"0x", b"0X").translate(None, _NON_HEX)
    for start in range(2 if len(digits) >= 2 * min_length else 0):
        yield binascii.unhexlify(digits[start : len(digits) - (len(digits) - start) % 2])
    octal = _delete_bytes(raw, b"0o").translate(None, _NON_OCTAL)
    for start in range(3 if len(octal) >= 3 * min_length else 0):
        yield _from_octal(octal[start : len(octal) - (len(octal) - start) % 3])


def printable_stretches(raw: bytes, min_length: int) -> bytes:
    """Join all runs of at least ``min_length`` printable characters with zero bytes; empty without any.

    Examples
    --------
    >>> printable_stretches(b"\\x00abc\\xff\\xfeabcdef\\x01", 4)
    b'abcdef'
    """
    # fast check: most wrongly decoded texts have no such run
    if b"\x01" * min_length not in raw.translate(_PRINTABLE):
        return b""
    return b"\0".join(re.findall(rb"[\t-\r -~]{%d,}" % min_length, raw))


def _delete_bytes(raw: bytes, *signs: bytes) -> bytes:
    for sign in signs:
        if sign in raw:  # faster than a replace without a match
            raw = raw.replace(sign, b"")
    return raw


def _from_octal(digits: bytes) -> bytes:
    import numpy as np

    values = np.frombuffer(digits, np.uint8) - np.uint8(ord("0"))
    return ((values[::3] << 6) | (values[1::3] << 3) | values[2::3]).tobytes()


@lru_cache(4096)
def _decode_escape(escape: bytes) -> bytes:
    """Return the character of an escape, or the escape itself if it is invalid."""
    match = _ESCAPE_PATTERN.fullmatch(escape)
    assert match is not None
    kind = match.lastindex or _LITERAL_GROUP
    text = match[kind]
    if kind == _LITERAL_GROUP:
        return _CONTROL_ESCAPES.get(text, text) or escape
    if kind == _ENTITY_GROUP:
        entity = html5.get(f"{text.decode()};")
        return escape if entity is None else entity.encode()
    return bytes([int(text, _NUMBER_BASES.get(kind, 16)) % 256])


KEY_MASK = "[key]"
#: Shorter keys are not redacted, as they could be parts of ordinary words.
MIN_KEY_LENGTH = 8
_MAX_ENCODINGS = 2  # nested encodings; escapes do not count
_CHARS_PER_CHAR = 40  # most characters that encode one character of a key (escaped twice)
_REACHES_PER_WINDOW = 16  # reaches searched together
_MAX_HIDDEN_KEYS = 100  # hidden keys that are redacted one by one; a text with more is redacted as a whole
_SPACE_PATTERN = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff]+")  # including invisible characters
# start of an escape, before its code
_ESCAPE_PREFIX = re.compile(r"(?:\\+(?:u\{?0*|U0+|x)?|%(?:25)*|&#[xX]?0*|0[xXo])\Z")
_BLANK_BYTES = b" \t\n\r\f\v"
_NON_DIGITS = _bytes_except(b"0123456789")


class Redactor:
    """Redaction of keys in texts and JSON values.

    Parameters
    ----------
    keys : iterable of str
        Keys; those shorter than 8 characters are ignored.

    Examples
    --------
    >>> hide = Redactor(["sk-0123456789"])
    >>> hide.redact_text("bad key sk-0123456789"), hide.redact_text(r"bad key \u0073k%2D0123456789, sent")
    ('bad key [key]', 'bad key [key], sent')
    >>> hide.redact_value({"a": ["c2stMDEyMzQ1Njc4OQ==", "73:6B:2d:30:31:32:33:34:35:36:37:38:39"]})
    {'a': ['[key]Q==', '[key]']}
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        secrets = [key for key in dict.fromkeys(keys) if len(key) >= MIN_KEY_LENGTH]
        raw = [key.encode("utf-8", "surrogatepass") for key in secrets]
        forms = dict.fromkeys(
            form for key, key_bytes in zip(secrets, raw, strict=True) for form in _key_forms(key, key_bytes)
        )
        self._forms = sorted(forms, key=len, reverse=True)
        self._sought = tuple(dict.fromkeys([*raw, *(key_bytes[::-1] for key_bytes in raw)]))
        self._codes = tuple(
            b"".join(form % byte for byte in key_bytes) for key_bytes in raw for form in (b"%d", b"%o", b"0%o")
        )
        self._least = min(map(len, raw), default=0)
        self._reach = _CHARS_PER_CHAR * max(map(len, raw), default=0)

    def redact_text(self, text: str) -> str:
        """Redact keys in a text; the rest of the text stays unchanged."""
        if not self._forms or len(text) < MIN_KEY_LENGTH:
            return text
        for form in self._forms:
            text = text.replace(form, KEY_MASK)
        count = 0
        while self.contains_key(text):
            parts, end = [], 0
            for first, last in self._key_positions(text):
                if first >= end:
                    parts += [text[end:first], KEY_MASK]
                    count += 1
                end = max(end, last)
                if count > _MAX_HIDDEN_KEYS:
                    return KEY_MASK
            text = "".join([*parts, text[end:]])
        return text

    def contains_key(self, text: str) -> bool:
        """Return True if a text contains a key."""
        if not self._forms or len(text) < MIN_KEY_LENGTH:
            return False
        if any(form in text for form in self._forms):
            return True
        if not text.isascii():
            text = _SPACE_PATTERN.sub(" ", text)
        return self._hides_key(text.encode("utf-8", "surrogatepass"), _MAX_ENCODINGS)

    def redact_value(self, value: Any) -> Any:
        """Redact keys in a JSON value: in its texts, names and numbers."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, Mapping):
            return {self.redact_value(name): self.redact_value(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(inner) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and self.contains_key(str(value)):
            return KEY_MASK
        return value

    def _hides_key(self, raw: bytes, levels: int) -> bool:
        """Return True if bytes contain a key within at most ``levels`` nested encodings."""
        joined = raw.translate(None, _BLANK_BYTES)
        views = unescape_rounds(raw)
        without_space = views if joined == raw else unescape_rounds(joined)
        if any(map(self._contains_plain_key, dict.fromkeys([*views, *without_space[1:]]))):
            return True
        if not levels:
            return False
        for view in dict.fromkeys((joined, without_space[-1], views[-1].translate(None, _BLANK_BYTES))):
            for decoded in decode_all(view, self._least):
                shown = printable_stretches(decoded, self._least)
                if shown and self._hides_key(shown, levels - 1):
                    return True
        return False

    def _contains_plain_key(self, view: bytes) -> bool:
        """Return True if bytes contain a key: plain, reversed, broken by white space, or as decimal or octal codes."""
        joined = view.translate(None, _BLANK_BYTES)
        if any(key_bytes in view or key_bytes in joined for key_bytes in self._sought):
            return True
        digits = view.translate(None, _NON_DIGITS)
        return any(key_bytes in digits for key_bytes in self._codes)

    def _key_positions(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the positions (start, end) of the keys in a text, from left to right."""
        step, any_found = _REACHES_PER_WINDOW * self._reach, False
        for start in range(0, len(text), step):
            for position in self._key_positions_within(text, start, min(start + step + self._reach, len(text))):
                any_found = True
                yield position
        if not any_found:  # the key is longer than any window
            yield from self._key_positions_within(text, 0, len(text))

    def _key_positions_within(self, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the positions of the keys in a part of the text, found by bisection."""
        while self.contains_key(text[first:last]):
            before, end = first, last
            while end - before > 1:
                middle = (before + end) // 2
                before, end = (before, middle) if self.contains_key(text[first:middle]) else (middle, end)
            start, after = first, end
            while after - start > 1:
                middle = (start + after) // 2
                start, after = (middle, after) if self.contains_key(text[middle:end]) else (start, middle)
            sign = _ESCAPE_PREFIX.search(text, max(start - _CHARS_PER_CHAR, first), start)
            yield sign.start() if sign else start, end
            first = end


def _key_forms(key: str, raw: bytes) -> Iterator[str]:
    """Yield a key, its hexadecimal form, and the part of its base64 form that does not depend on adjacent bytes."""
    yield from (key, raw.hex(), raw.hex().upper())
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        part = encoded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        yield from (part, part.replace("+", "-").replace("/", "_"))
