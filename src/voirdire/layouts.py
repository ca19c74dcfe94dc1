"""Kinds of folders, recognised by their files; seals, which detect later changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError

Recognise = Callable[[Path], bool]

FORMAT_VERSION = 2  # format of saved fits and rows
MAX_JSON_BYTES = 256 * 2**20  # maximum size of a JSON file


@dataclass(frozen=True)
class Layout:
    """Content of a folder of one kind.

    Attributes
    ----------
    title : str
        Name of the kind, for messages: "a saved fit".
    parts : mapping of str to callable
        By file name, function that returns True if a path has the content of that part; see `recognise_json` and
        `recognise_text`.

    Examples
    --------
    >>> note = Layout("a note", {"run.json": recognise_json("note")})
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "run.json").write_text('{"study": "rq1"}')
    ...     note.find_foreign(Path(folder))
    'run.json'
    """

    title: str
    parts: Mapping[str, Recognise]

    def find_foreign(self, folder: Path, *, known: bool = False) -> str | None:
        """Return the first name in a folder that is no part of this kind; with ``known``, among names of parts only."""
        for path in sorted(folder.iterdir()):
            part = self.parts.get(path.name)
            if part is None and known:
                continue
            if part is None or path.is_symlink() or not part(path):
                return path.name
        return None

    def __call__(self, folder: Path) -> bool:
        """Return True if a folder is of this kind, so that layouts can be parts of layouts."""
        return folder.is_dir() and self.find_foreign(folder) is None


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises
    ------
    ValueError
        It holds something else, is too large or nested too deeply, or has text that is not Unicode.
    OSError
        It cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.json")
    ...     _ = path.write_text("[" * 100_000)
    ...     read_json(path)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    if path.stat().st_size > MAX_JSON_BYTES:
        raise ValueError(f"it has more than {MAX_JSON_BYTES // 2**20} MB")
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(content, ensure_ascii=False).encode()  # raises an error for half of a surrogate pair
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it holds no object")
    return content


def recognise_json(*keys: str, **values: Collection[object]) -> Recognise:
    """Make a function that recognises JSON objects with these keys, and with one of the given values under others.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.json")
    ...     _ = path.write_text('{"kind": "agree", "format": 1}')
    ...     recognise_json("format", kind=("agree",))(path), recognise_json("study")(path)
    (True, False)
    """

    def is_ours(path: Path) -> bool:
        try:
            content = read_json(path)
        except (ValueError, OSError):
            return False
        return content.keys() >= set(keys) and all(content.get(key) in allowed for key, allowed in values.items())

    return is_ours


def recognise_text(start: str, mark: str = "") -> Recognise:
    """Make a function that recognises files by their start, and by a mark in their first 2,000 bytes."""

    def is_ours(path: Path) -> bool:
        try:
            with path.open("rb") as file:
                head = file.read(max(2000, len(start)))
        except OSError:
            return False
        return head.startswith(start.encode()) and mark.encode() in head

    return is_ours


def with_seal(content: Mapping[str, Any], *files: Path) -> dict[str, Any]:
    """Add a seal of the content and of further files to the content of a JSON file, to detect later changes.

    Examples
    --------
    >>> content = with_seal({"format": 1})
    >>> check_seal(content)
    >>> check_seal(content | {"format": 2})
    Traceback (most recent call last):
    ...
    ValueError: it is not as it was saved
    """
    unsealed: dict[str, Any] = json.loads(json.dumps(dict(content)))
    return unsealed | {"sha256": _content_digest(unsealed, files)}


def check_format(place: Path, content: Mapping[str, Any]) -> None:
    """Raise InputError if content has a format that this version does not know."""
    version = content.get("format")
    if version != FORMAT_VERSION:
        is_older = isinstance(version, int) and version < FORMAT_VERSION
        remedy = "an older version wrote it: make it anew" if is_older else "upgrade voirdire"
        raise InputError(f"{place}: written in format {version!r}, this version reads {FORMAT_VERSION}; {remedy}")


def check_seal(content: Mapping[str, Any], *files: Path) -> None:
    """Raise ValueError if content or files differ from the sealed ones."""
    unsealed = {key: value for key, value in content.items() if key != "sha256"}
    if content.get("sha256") != _content_digest(unsealed, files):
        raise ValueError("it is not as it was saved")


def _content_digest(content: Mapping[str, Any], files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
