"""Keep keys out of everything that is written, in whichever form a server repeats them.

A key is found as it is, with any of its characters escaped (JSON, Python, URL, HTML), in base64 or hexadecimal, and
broken over lines. What hides it some other way (turned round, one letter at a time) is the doing of who has it already.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from html.entities import html5
from typing import Any

SHOWN = "[key]"
#: Shorter keys are no secrets: taking them out would tear other words apart.
SHORTEST = 8
_ROUNDS = 5
_ESCAPED = re.compile(
    r"\\+u\{?0*([0-9a-f]{2})(?![0-9a-f])\}?|\\+u00([0-9a-f]{2})|\\+x([0-9a-f]{2})|%([0-9a-f]{2})"
    r"|&#x0{0,9}([0-9a-f]{2});|&#0{0,9}(\d{2,3});|&([a-z]{2,8});|\\+([^ux])",
    re.IGNORECASE,
)
_BLANK = re.compile(r"\s+")


class Redactor:
    """Takes keys out of texts and JSON values.

    Parameters
    ----------
    keys : iterable of str
        Those shorter than 8 characters are left alone.

    Examples
    --------
    >>> hide = Redactor(["sk-0123456789"])
    >>> hide.text("bad key sk-0123456789"), hide.text(r"bad key \\u0073k%2D0123456789")
    ('bad key [key]', 'bad key [key]')
    >>> hide.value({"a": ["c2stMDEyMzQ1Njc4OQ=="]})
    {'a': ['[key]Q==']}
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        found = dict.fromkeys(form for key in keys if len(key) >= SHORTEST for form in _forms(key))
        self._forms = sorted(found, key=len, reverse=True)

    def text(self, text: str) -> str:
        """A text without keys; where one was escaped or broken over lines, the rest comes unescaped or joined too."""
        if not self._forms:
            return text
        found = plain = self._without(text)
        for _ in range(_ROUNDS):
            further = _ESCAPED.sub(_character, plain)
            if further == plain:
                break
            plain = further
            if self._held(plain):
                found = plain = self._without(plain)
        for joined in dict.fromkeys(_BLANK.sub("", each) for each in (found, plain)):
            if self._held(joined):
                return self._without(joined)
        return found

    def holds(self, text: str) -> bool:
        """Whether a text holds a key."""
        return self.text(text) != text

    def value(self, value: Any) -> Any:
        """A JSON value without keys, in its texts, names and digits."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(name): self.value(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and self._held(str(value)):
            return SHOWN
        return value

    def _held(self, text: str) -> bool:
        return any(form in text for form in self._forms)

    def _without(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, SHOWN)
        return text


def _forms(key: str) -> list[str]:
    """A key as it is, in hexadecimal, and the part of its base64 that does not depend on what stands around it."""
    raw = key.encode()
    forms = [key, raw.hex(), raw.hex().upper()]
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        part = whole[first:last]
        forms += [part, part.replace("+", "-").replace("/", "_")]
    return forms


def _character(match: re.Match[str]) -> str:
    *codes, decimal, name, same = match.groups()
    code = next((int(code, 16) for code in codes if code), int(decimal or 0))
    if code:
        return chr(code)
    if name:
        return html5.get(f"{name};", match[0])
    return "\n" if same in ("n", "r") else same or match[0]
