"""Seals of what is saved, by which it is noticed where it was changed later; and the format it was saved in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from voirdire.errors import InputError

FORMAT = 2  # of saved fits and rows


def sealed(content: Mapping[str, Any], *files: Path) -> dict[str, Any]:
    """Content for a JSON file, with a seal of it and of the files beside it: what is changed later is noticed.

    Examples
    --------
    >>> content = sealed({"format": 1})
    >>> check_seal(content)
    >>> check_seal(content | {"format": 2})
    Traceback (most recent call last):
    ...
    ValueError: it is not as it was saved
    """
    plain: dict[str, Any] = json.loads(json.dumps(dict(content)))
    return plain | {"sha256": _digest(plain, files)}


def check_format(place: Path, content: Mapping[str, Any]) -> None:
    """Raise InputError where content is of a format that this version does not know."""
    found = content.get("format")
    if found != FORMAT:
        older = isinstance(found, int) and found < FORMAT
        remedy = "an older version wrote it: make it anew" if older else "upgrade voirdire"
        raise InputError(f"{place}: written in format {found!r}, this version reads {FORMAT}; {remedy}")


def check_seal(content: Mapping[str, Any], *files: Path) -> None:
    """Raise ValueError where content or files are not those that were `sealed`."""
    plain = {key: value for key, value in content.items() if key != "sha256"}
    if content.get("sha256") != _digest(plain, files):
        raise ValueError("it is not as it was saved")


def _digest(content: Mapping[str, Any], files: Iterable[Path]) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
