"""Files that are no tables of ours, taken for one: those of tools, with other names of columns, in other wrappings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.notices import notice
from voirdire.tables.cells import Cells, choose
from voirdire.tables.formats import tables
from voirdire.tables.formats.format import Asked
from voirdire.tables.formats.imported import Imported, gather
from voirdire.tables.formats.registry import tool_of
from voirdire.tables.formats.source import Source, opened
from voirdire.tables.problems import Problems

_OURS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_ANSWERS = {"winner": "votes", "score": "scores", "label": "labels"}


def is_foreign(path: str) -> bool:
    """Whether a file is one of a tool, or a table with other names of columns or in another wrapping."""
    return path == "-" or (os.path.isfile(path) and _look(*_key(path)) is not None)


def foreign_names(path: str) -> list[str] | None:
    """The columns that such a file has as a table of ours; None for one that is ours, and for what is no file."""
    if not is_foreign(path):
        return None
    tool, names = _look(*_key(path)) or ("", ())
    if tool:
        return [column for column, name in _ANSWERS.items() if name in _imported(*_key(path)).counts]
    used = {name: column for column, name in tables.aliases(names).items()}
    return [used.get(name, name) for name in names]


def foreign_cells(
    path: str, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells | None:
    """Columns of such a file; None for one that is ours.

    Raises
    ------
    InputError
        It holds nothing that is wanted.
    """
    if not is_foreign(path):
        return None
    tool, names = _look(*_key(path)) or ("", ())
    if not tool:
        return _renamed(path, names, required, optional, problems)
    wanted = next((kind for column, kind in _ANSWERS.items() if column in required), None)
    found = _imported(*_key(path))
    _say(found)
    frame = None if wanted is None else getattr(found, wanted)
    if frame is None:
        held = " and ".join(name for name in found.counts if name != "refused")
        problems.stop(f"file {path!r} is one of {tool} and holds {held}, not {wanted or 'such a table'}")
    return {name: frame[name].tolist() for name in choose(list(frame), required, optional, problems)}


def as_asked(path: str | os.PathLike[str], asked: Asked, kind: str | None = None) -> Any:
    """A file as a table, where something is asked of its columns, or which of its tables is meant; else the path.

    Raises
    ------
    InputError
        It holds several tables, or not the one that is meant.
    """
    plain = asked == Asked()
    if plain and kind is None:
        return path
    if kind not in (None, *_ANSWERS.values()):
        raise InputError(f"table {kind!r} is none of {', '.join(_ANSWERS.values())}")
    found = gather(path, asked=asked if plain else replace(asked, table=kind))
    _say(found)
    if kind is None:
        return found.table
    frame = getattr(found, kind)
    if frame is None:
        held = " and ".join(name for name in found.counts if name != "refused")
        raise InputError(f"file {os.fspath(path)!r} holds {held}, not {kind}")
    return frame


def written(path: str, folder: str) -> str:
    """The votes of a large file of a tool or of other columns, written into a folder as a table of ours."""
    _say(gather(path, folder=Path(folder)))
    return str(Path(folder, "votes.csv"))


def _key(path: str) -> tuple[str, int, int]:
    if path == "-":
        return path, 0, 0
    state = os.stat(path)
    return path, state.st_mtime_ns, state.st_size


@lru_cache(maxsize=8)
def _look(path: str, changed: int, size: int) -> tuple[str, tuple[str, ...]] | None:
    """The tool that wrote a file (empty where none did) and its columns; None for a table of ours."""
    try:
        with opened(path) as source:
            head = source.head
            names = source.columns() if head.shape in ("records", "table") else ()
            ours = _is_ours(source, path)
            if ours and tables.kind_of({name: name for name in names if name in tables.ALIASES}):
                return None
            found = tool_of(head)
            if found is not None:
                return found.name, names
            elsewhere = Path(path).suffix.lower() not in _OURS or (source.kind != "csv" and not ours)
            if names and (elsewhere or tables.kind_of(tables.aliases(names))):
                return "", names
    except InputError:
        if Path(path).suffix.lower() not in _OURS:
            raise
    return None


def _is_ours(source: Source, path: str) -> bool:
    """Whether a file is in a wrapping that tables of ours are read from as they are."""
    plain = _OURS.get(Path(path).suffix.lower()) == source.kind
    return plain and source.separator == "," and not source.packed


@lru_cache(maxsize=1)
def _imported(path: str, changed: int, size: int) -> Imported:
    return gather(path)


def _say(found: Imported) -> None:
    for path, tool in found.formats.items():
        notice(f"{path} is read as {'a table' if tool == 'table' else f'a file of {tool}'}.")
    for note in found.notes:
        notice(note)
    refused = found.counts.get("refused", 0)
    if refused:
        are = "answer is" if refused == 1 else "answers are"
        notice(f"{refused:,} {are} in no table; `voirdire import` lists each with its reason.")


def _renamed(
    path: str,
    names: Sequence[str],
    required: Sequence[str],
    optional: Sequence[str] | None,
    problems: Problems,
) -> Cells:
    """Columns under our names, as far as they are wanted and not there under them; all others keep theirs."""
    others = {column: name for column, name in tables.aliases(tuple(names)).items() if column != name}
    asked = [*required, *(optional or ())]
    taken = {column: name for column, name in others.items() if column in asked}
    kept = [name for name in names if name not in taken.values()]
    wanted = choose([*taken, *kept], required, optional, problems)
    places = [(column, taken.get(column, column)) for column in wanted]
    cells: dict[str, list[object]] = {column: [] for column in wanted}
    known: dict[object, str] = {}  # each text once
    with opened(path) as source:
        for note in source.notes:
            notice(note)
        for place, record in source.records([name for _, name in places]):
            if isinstance(record, str):
                problems.stop(f"{place}: {record}")
            for column, name in places:
                cell = record.get(name)
                cells[column].append(known.setdefault(cell, cell) if isinstance(cell, str) else cell)
    if taken:
        shown = ", ".join(f"{name!r} as {column}" for column, name in taken.items())
        notice(f"{path}: columns are taken for others: {shown}.")
    if "winner" in cells and "winner" in required:
        cells["winner"] = _winners(cells)
    return dict(cells)


def _winners(cells: dict[str, list[object]]) -> list[object]:
    """Winners in our words, where they are in those of others and name no item."""
    items = {*cells.get("first", ()), *cells.get("second", ())}
    meant: dict[object, object] = {}
    for said in set(map(str, cells["winner"])):
        outcome = tables.WINNERS.get(said.strip().lower())
        if outcome is not None and outcome != said and said not in items:
            meant[said] = outcome
    if meant:
        words = (f"{said!r} is {outcome}" for said, outcome in sorted(meant.items(), key=str))
        notice(f"Winners are taken so: {', '.join(words)}.")
    return [meant.get(said, said) if isinstance(said, str) else said for said in cells["winner"]]
