"""State of a watch between two looks: digests of all answers, to detect missing and changed ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voirdire.errors import InputError, raise_problems
from voirdire.folders import write_file

SCHEMA = "watch-state/1"
DIGEST_DIGITS = 8  # number of hexadecimal digits of a digest
MAX_SHOWN = 5  # largest number of missing rows in a message
REMEDY = "a watch is right only of tables that grow: bring it back, or begin anew with another --state file"


def check_state(path: Path, tables: Mapping[str, Sequence[str]], *, ordered: bool) -> None:
    """Check tables against the state of the last look; accepts all tables where there is no state.

    Parameters
    ----------
    path : Path
        File of the state.
    tables : mapping of str to sequence of str
        Rows of each table as texts, by table ("answers", "people").
    ordered : bool
        True where the order of rows matters, because answers have no times.

    Raises
    ------
    InputError
        The file is not a state, a table is missing, or rows are missing, changed or moved.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "state.json")
    ...     write_state(path, {"answers": ["a x pass", "b x fail"]})
    ...     check_state(path, {"answers": ["a x pass", "b x fail", "a y pass"]}, ordered=True)
    ...     check_state(path, {"answers": ["a x pass", "b x pass"]}, ordered=True)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: answers: row 2 of the last look, after 'a x pass', is gone or was changed; a watch is \
right only of tables that grow: bring it back, or begin anew with another --state file
    """
    if not path.exists():
        return
    problems = []
    for name, kept in _read_state(path).items():
        if name not in tables:
            raise InputError(f"{name}: at the last look there were some, and now there are none; give them again")
        problems += _describe_changes(name, kept, tables[name], ordered)
    raise_problems(problems)


def write_state(path: Path, tables: Mapping[str, Sequence[str]]) -> None:
    """Write the digests of the rows of tables."""
    kept = {name: "".join(map(_digest_row, rows)) for name, rows in tables.items()}
    write_file(path, json.dumps({"schema": SCHEMA, **kept}) + "\n")


def _read_state(path: Path) -> dict[str, list[str]]:
    try:
        state: Any = json.loads(path.read_text())
        if state.pop("schema") != SCHEMA:
            raise ValueError
        return {
            name: [text[start : start + DIGEST_DIGITS] for start in range(0, len(text), DIGEST_DIGITS)]
            for name, text in state.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"state {path}: it is no state of a watch ({SCHEMA}); name another file, which is made where there is none"
        ) from None


def _describe_changes(name: str, old_digests: Sequence[str], rows: Sequence[str], ordered: bool) -> list[str]:
    """Describe the faults of a table."""
    digests = [_digest_row(row) for row in rows]
    counts = Counter(digests)
    counts.subtract(old_digests)
    missing: list[int] = []
    for index in range(len(old_digests) - 1, -1, -1):
        if counts[old_digests[index]] < 0:
            counts[old_digests[index]] += 1
            missing.append(index)
    if missing:
        return _describe_missing_rows(name, sorted(missing), old_digests, dict(zip(digests, rows, strict=True)))
    if (
        ordered
        and (first_moved := next((index for index, digest in enumerate(old_digests) if digests[index] != digest), None))
        is not None
    ):
        return [
            f"{name}: row {first_moved + 1:,} is another than at the last look, and nothing is gone: rows were put "
            "before it; add new rows at the end (files of a folder are read by name), or give a column time"
        ]
    return []


def _describe_missing_rows(
    name: str, missing: Sequence[int], old_digests: Sequence[str], rows_by_digest: Mapping[str, str]
) -> list[str]:
    """Describe missing rows by their positions, and by the rows before them that still exist."""
    messages = []
    for index in missing[:MAX_SHOWN]:
        before = rows_by_digest.get(old_digests[index - 1], "").replace("\t", " ") if index else ""
        after = f", after {before!r}," if before else ""
        messages.append(f"{name}: row {index + 1:,} of the last look{after} is gone or was changed")
    others_note = f", and so are {len(missing) - MAX_SHOWN:,} more" if len(missing) > MAX_SHOWN else ""
    messages[-1] += f"{others_note}; {REMEDY}"
    return messages


def _digest_row(row: str) -> str:
    return hashlib.blake2s(row.encode("utf-8", "surrogatepass"), digest_size=DIGEST_DIGITS // 2).hexdigest()
