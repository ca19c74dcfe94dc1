"""Claims files: what a paper says in figures, how it is checked, and how near ours must come.

``paper_repro/<system>/claims.toml`` holds ``system``, ``paper``, ``title`` and ``[[claims]]``; ``tables/*.csv``
beside it the figures of the paper's tables, and ``tables/tables.toml`` a caption for each. CONTRIBUTING.md explains
the keys.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.repro.checks import CHECKS, problems_of
from voirdire.repro.tables import Cell, Table, read_table
from voirdire.specs import locate

KINDS = {
    "rerun": "our simulations or models give it again",
    "rederive": "it follows from other published figures",
    "public-data": "it follows from data that anyone can fetch",
    "needs-llm": "a protocol must be run with paid or large models",
    "not-available": "the data are not public",
}
COMPUTED = ("rerun", "rederive", "public-data")
_HEAD = ("system", "paper", "title")
_KEYS = {
    "id": str,
    "where": str,
    "says": str,
    "kind": str,
    "published": (int, float, str),
    "cells": dict,
    "check": dict,
    "tolerance": (int, float, dict),
    "because": str,
    "run": str,
    "finding": str,
}
_NEEDED = ("id", "where", "says", "kind", "because")


@dataclass(frozen=True)
class Claim:
    """One entry of a claims file.

    Attributes
    ----------
    id, where, says, kind, because : str
        Its name in the file, the place in the paper, what is claimed (in our words), one of ``KINDS``, and why the
        tolerance is what it is (or why the claim cannot be checked).
    figures : tuple of Cell
        The published figures: cells of a table, or one that stands in the text.
    tolerance : float or None
        How far ours may be from the published figure; with ``items``, so many of the judged items.
    items : float or None
    check : mapping
        ``kind``, one of ``voirdire.repro.checks.CHECKS``, and its settings.
    run : str
        The run under ``runs/`` whose results fill it, or "".
    finding : str
        What is wrong in the paper, or why ours differs, or "".
    """

    id: str
    where: str
    says: str
    kind: str
    because: str
    figures: tuple[Cell, ...]
    tolerance: float | None = None
    items: float | None = None
    check: Mapping[str, Any] = field(default_factory=dict)
    run: str = ""
    finding: str = ""


@dataclass(frozen=True)
class System:
    """A paper's claims and tables."""

    system: str
    paper: str
    title: str
    folder: Path
    tables: Mapping[str, Table]
    claims: tuple[Claim, ...]

    def uncovered(self) -> list[Cell]:
        """Figures of the tables that no claim speaks of."""
        covered = {cell for claim in self.claims for cell in claim.figures}
        return [cell for table in self.tables.values() for cell in table.cells if cell not in covered]


def system_names() -> list[str]:
    """The systems that have a claims file, sorted.

    Examples
    --------
    >>> "maple" in system_names()
    True
    """
    return sorted(path.parent.name for path in locate("paper_repro").glob("*/claims.toml"))


def load_system(system: str | Path) -> System:
    """Find and check a system's claims and tables.

    Parameters
    ----------
    system : str or path
        A shipped system's name, or a folder with ``claims.toml`` and ``tables/``.

    Raises
    ------
    InputError
        An unknown name, or everything wrong in the files, by file and line.

    Examples
    --------
    >>> load_system("maple").paper
    'MAPLE'
    """
    folder = Path(system)
    if isinstance(system, str) and not (folder / "claims.toml").is_file():
        names = system_names()
        name = system.lower().replace("-", "_")
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(f"unknown paper {system!r}{hint}; known: {', '.join(names)}")
        folder = locate("paper_repro") / name
    problems: list[str] = []
    tables = _tables(folder, problems)
    path = folder / "claims.toml"
    text, content = _toml(path)
    lines = _Lines(path, text)
    for key in _HEAD:
        if not isinstance(content.get(key), str):
            problems.append(f"{path}: {key!r} is missing: text before the first [[claims]]")
    problems += [
        f"{path}: unknown key {key!r}{_nearest(key, [*_HEAD, 'claims'])}"
        for key in content
        if key not in (*_HEAD, "claims")
    ]
    entries = content.get("claims", [])
    claims: list[Claim] = []
    for number, entry in enumerate(entries):
        faults = _faults(entry, number, lines, tables)
        problems += faults
        if not faults:
            claims.append(_claim(entry, tables, claims))
            if not claims[-1].figures:
                problems.append(
                    f"{lines.of(number, 'cells')}: no cell of the table is meant by {entry['cells']}"
                )
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        name = str(entry.get("id"))
        if name in seen:
            problems.append(
                f"{lines.of(number, 'id')}: id {name!r} stands in line {lines.line(seen[name], 'id')} too"
            )
        seen.setdefault(name, number)
    if problems:
        raise InputError(problems)
    return System(content["system"], content["paper"], content["title"], folder, tables, tuple(claims))


def _toml(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML ({error})") from error


def _tables(folder: Path, problems: list[str]) -> dict[str, Table]:
    path = folder / "tables" / "tables.toml"
    _, captions = _toml(path)
    found = {}
    files = {file.stem: file for file in sorted((folder / "tables").glob("*.csv"))}
    for name in captions.keys() - files.keys():
        problems.append(f"{path}: [{name}] has no file {name}.csv beside it")
    for name, file in files.items():
        entry = captions.get(name)
        if not isinstance(entry, dict) or not isinstance(entry.get("caption"), str):
            problems.append(f"{path}: {name}.csv needs a section [{name}] with a caption")
            continue
        try:
            found[name] = read_table(file, entry["caption"])
        except InputError as error:
            problems += error.problems
    return found


def _claim(entry: Mapping[str, Any], tables: Mapping[str, Table], before: list[Claim]) -> Claim:
    if "cells" in entry:
        keys = dict(entry["cells"])
        table, rest = tables[keys.pop("table")], keys.pop("rest", False)
        figures = table.select(keys)
        if rest:
            spoken_of = {cell for claim in before for cell in claim.figures}
            figures = [cell for cell in figures if cell not in spoken_of]
    else:
        figures = [Cell("text", (), str(entry["published"]))]
    given = entry.get("tolerance")
    texts = {key: entry.get(key, "").strip() for key in (*_NEEDED, "run", "finding")}
    return Claim(
        **texts,
        figures=tuple(figures),
        tolerance=float(given) if isinstance(given, int | float) else None,
        items=float(given["items"]) if isinstance(given, dict) else None,
        check=entry.get("check", {}),
    )


class _Lines:
    """Where entries of a claims file stand; TOML readers do not say."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text.split("\n")
        self.starts = [n for n, line in enumerate(self.text, 1) if line.strip() == "[[claims]]"]

    def line(self, number: int, key: str) -> int:
        """Line of a key of the claim of that number, else of the claim's beginning."""
        if number >= len(self.starts):  # claims written as an inline array
            return 1
        start = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text) + 1
        for n in range(start, end):
            if re.match(rf"\s*\"?{re.escape(key)}\"?\s*=", self.text[n - 1]):
                return n
        return start

    def of(self, number: int, key: str) -> str:
        """File and line in words."""
        return f"{self.path} line {self.line(number, key)}"


def _faults(entry: Any, number: int, lines: _Lines, tables: Mapping[str, Table]) -> list[str]:
    if not isinstance(entry, dict):
        return [f"{lines.path}: claims are written as [[claims]] sections"]
    found = []

    def fault(key: str, text: str) -> None:
        found.append(f"{lines.of(number, key)}: {text}")

    for key, value in entry.items():
        if key not in _KEYS:
            fault(key, f"unknown key {key!r}{_nearest(key, list(_KEYS))}")
        elif not isinstance(value, _KEYS[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            fault(key, f"{key} = {value!r} is not what it must be; see CONTRIBUTING.md")
    for key in _NEEDED:
        if key not in entry:
            fault(key, f"{key!r} is missing")
    kind = entry.get("kind")
    if isinstance(kind, str) and kind not in KINDS:
        fault("kind", f"kind {kind!r} is unknown{_nearest(kind, list(KINDS))}; known: {', '.join(KINDS)}")
    if ("cells" in entry) == ("published" in entry):
        fault("cells", "give the published figure as 'cells' of a table or as 'published', one of the two")
    tolerance = entry.get("tolerance")
    exact = isinstance(entry.get("published"), str)
    if tolerance is None and kind != "not-available" and not exact:
        fault("kind", "tolerance is missing: how far may ours be from the published figure?")
    if isinstance(tolerance, int | float) and not 0 <= tolerance < 1e6:
        fault("tolerance", f"tolerance {tolerance!r} must be a number from 0 up")
    if isinstance(tolerance, dict) and list(tolerance) != ["items"]:
        fault("tolerance", "a tolerance that is no number must be { items = NUMBER }")
    if kind in COMPUTED and "check" not in entry and "run" not in entry:
        fault("kind", f"a claim of kind {kind!r} needs a check; known: {', '.join(sorted(CHECKS))}")
    if kind not in COMPUTED and "check" in entry:
        fault("check", f"a claim of kind {kind!r} has no check")
    if isinstance(entry.get("cells"), dict):
        found += [f"{lines.of(number, 'cells')}: {text}" for text in _cell_faults(entry["cells"], tables)]
    if isinstance(entry.get("check"), dict):
        found += [f"{lines.of(number, 'check')}: {text}" for text in problems_of(entry["check"], tables)]
    return found


def _cell_faults(cells: Mapping[str, Any], tables: Mapping[str, Table]) -> list[str]:
    name = str(cells.get("table"))
    if name not in tables:
        return [f"table {name!r} is unknown or has faults of its own; known: {', '.join(sorted(tables))}"]
    table = tables[name]
    faults = []
    for column, entry in cells.items():
        if column in ("table", "rest"):
            continue
        if column not in table.columns:
            faults.append(f"{name}.csv has no column {column!r}{_nearest(column, list(table.columns))}")
            continue
        known = {cell.by[column] for cell in table.cells}
        wanted = entry if isinstance(entry, list) else [entry]
        faults += [
            f"{name}.csv has no {column} {one!r}{_nearest(str(one), sorted(known))}"
            for one in wanted
            if str(one) not in known
        ]
    return faults


def _nearest(word: str, known: list[str]) -> str:
    match = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {match[0]!r}?)" if match else ""
