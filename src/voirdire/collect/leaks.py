"""Texts that look like keys in a panel: fields that are named for one, and texts that have the form of one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from voirdire.collect.redact import SHOWN

_NAMED = {
    "auth", "authorization", "bearer", "cookie", "credential", "credentials", "key", "passphrase", "passwd",
    "sessiontoken", "token",
}  # fmt: skip
_ENDS = (
    "apikey", "accesskey", "privatekey", "secretkey", "secret", "password", "authtoken", "accesstoken", "apitoken",
)  # fmt: skip
#: Forms in which known providers write their keys.
_FORM = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|gsk|xai|pplx|nvapi|r8|tgp|csk|fw)[-_][A-Za-z0-9_-]{12,}"
    r"|(?:hf|ghp|gho|ghs|ghu|github_pat|glpat)[-_][A-Za-z0-9_-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abps]-[A-Za-z0-9-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{12,})"
)


def find_leaks(value: Any, place: str = "", *, by_name: bool = True) -> Iterator[tuple[str, str]]:
    """Where a key seems to be written, and the text itself.

    Parameters
    ----------
    value : TOML value
    place : str
        What it is called.
    by_name : bool
        Whether a field's name counts too, not only the form of its text.

    Examples
    --------
    >>> list(find_leaks({"top_k": 5, "extra": {"api-key": "abc"}, "stop": ["sk-0123456789abcdef"]}))
    [('extra.api-key', 'abc'), ('stop', 'sk-0123456789abcdef')]
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            shown = _FORM.sub(SHOWN, str(name))
            inside = f"{place}.{shown}" if place else shown
            if shown != str(name):
                yield inside, str(name)
            plain = re.sub("[^a-z]", "", str(name).lower())
            if by_name and isinstance(inner, str) and (plain in _NAMED or plain.endswith(_ENDS)):
                yield inside, inner
            else:
                yield from find_leaks(inner, inside, by_name=by_name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from find_leaks(inner, place, by_name=by_name)
    elif isinstance(value, str) and _FORM.search(value):
        yield place, value


def without_secrets(text: str, found: list[tuple[str, str]]) -> str:
    """A message without what was found.

    Examples
    --------
    >>> without_secrets("model is 'abc'", [("model", "abc")])
    "model is '[key]'"
    """
    for secret in sorted((one for _, one in found if one), key=len, reverse=True):
        text = text.replace(repr(secret)[1:-1], SHOWN).replace(secret, SHOWN)
    return _FORM.sub(SHOWN, text)
