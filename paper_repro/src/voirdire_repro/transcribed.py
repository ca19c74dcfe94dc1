"""Changes of figures, claims and stored results since they were last verified.

``paper_repro/<system>/transcribed.json`` holds short digests of all figures of all tables, of the comparisons of all
claims, and of the results files that claims use. A contradiction between two figures is in the paper only if neither
has been changed here. ``make transcribed`` accepts the files as they are; use it after comparing changed rows with the
paper.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.folders import write_file
from voirdire_repro.checks.studies import path_of
from voirdire_repro.claims import Claim, System, load_system, system_names
from voirdire_repro.tables import Cell, Table

FILE = "transcribed.json"
_LONG = 10


def digest_of(*parts: Any) -> str:
    """Compute a short digest of plain values.

    Examples
    --------
    >>> digest_of("a") == digest_of("a"), digest_of("a") == digest_of("b"), len(digest_of())
    (True, False, 10)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:_LONG]


def system_digests(system: System) -> dict[str, Any]:
    """Compute the digests of a system: figures by table, claims by id, results by study."""
    return {
        "tables": {name: " ".join(_of_cell(cell) for cell in table.cells) for name, table in system.tables.items()},
        "claims": {claim.id: _of_claim(claim) for claim in system.claims},
        "results": {study: _of_file(path_of(study)) for study in studies_of(system.claims)},
    }


@dataclass(frozen=True)
class Changes:
    """Differences from the verified files.

    Attributes
    ----------
    cells : frozenset of Cell
        Changed or new figures.
    gone : mapping of str to int
        By table, number of removed or changed figures.
    claims : frozenset of str
        Claims with a changed comparison or tolerance.
    results : mapping of str to str
        By study, path of the changed results file.
    """

    cells: frozenset[Cell] = frozenset()
    gone: Mapping[str, int] | None = None
    claims: frozenset[str] = frozenset()
    results: Mapping[str, str] | None = None

    def changed_tables(self) -> set[str]:
        """Return the tables with changed figures."""
        return {cell.table for cell in self.cells} | {name for name, count in (self.gone or {}).items() if count}

    def of_figure(self, claim: Claim, cell: Cell) -> str:
        """Describe changes in a figure, its claim or the results of its study, or return ""."""
        if cell in self.cells:
            return f"{cell.table}.csv, {cell.name}: {cell.text} is not what was transcribed"
        if claim.id in self.claims:
            return f"claims.toml, {claim.id}: what is compared, or how, is not what was written down"
        for study in _studies_in(claim.check):
            if study in (self.results or {}):
                return f"{(self.results or {})[study]}: not what the study left"
        return ""

    def changes_behind(self, claim: Claim, cell: Cell) -> str:
        """Describe changes in the tables with which a figure is compared, or return ""."""
        read = {cell.table, *(str(name) for name in _entries_named(claim.check, "table"))} & self.changed_tables()
        return "; ".join(self._table_change(name) for name in sorted(read))

    def _table_change(self, table: str) -> str:
        here = [f"{cell.name} ({cell.text})" for cell in self.cells if cell.table == table]
        shown = ", ".join(sorted(here)[:3]) or f"{(self.gone or {})[table]} figures gone"
        return f"{table}.csv is not what was transcribed: {shown}"

    def __bool__(self) -> bool:
        return bool(self.changed_tables() or self.claims or self.results)


def find_changes(system: System) -> Changes:
    """Compare a system with its ``transcribed.json``; without one nothing counts as changed.

    Examples
    --------
    >>> bool(find_changes(load_system("maple")))
    False
    """
    path = system.folder / FILE
    if not path.is_file():
        return Changes()
    kept = json.loads(path.read_text(encoding="utf-8"))
    cells: set[Cell] = set()
    gone: dict[str, int] = {}
    for name in kept["tables"].keys() | system.tables.keys():
        table = system.tables.get(name, Table(name, "", (), ()))
        known, now = set(kept["tables"].get(name, "").split()), {_of_cell(cell): cell for cell in table.cells}
        cells |= {cell for digest, cell in now.items() if digest not in known}
        gone[name] = len(known - now.keys())
    claims = {claim.id for claim in system.claims if kept["claims"].get(claim.id) != _of_claim(claim)}
    results = {
        study: str(path_of(study))
        for study in studies_of(system.claims)
        if kept["results"].get(study) != _of_file(path_of(study))
    }
    return Changes(frozenset(cells), gone, frozenset(claims), results)


def studies_of(claims: tuple[Claim, ...]) -> list[str]:
    """Return the sorted names of the studies that claims use."""
    return sorted({study for claim in claims for study in _studies_in(claim.check)})


def _studies_in(check: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in _entries_named(check, "study")]


def _entries_named(settings: Any, key: str) -> Iterator[Any]:
    """Yield all entries ``key`` in nested settings."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if name == key:
                yield value
            else:
                yield from _entries_named(value, key)
    elif isinstance(settings, list):
        for value in settings:
            yield from _entries_named(value, key)


def _of_cell(cell: Cell) -> str:
    return digest_of(cell.table, cell.keys, cell.text)


def _of_claim(claim: Claim) -> str:
    figures = [(cell.table, cell.keys or cell.text) for cell in claim.figures]
    how = [claim.runs] if claim.method == "map" else [claim.runs, claim.method]
    return digest_of(claim.id, claim.kind, figures, claim.tolerance, claim.check, *how)


def _of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_LONG] if path.is_file() else "none"


def main(names: list[str]) -> None:
    """Write new digests for these systems, or for all."""
    for name in names or system_names():
        system = load_system(name)
        write_file(system.folder / FILE, json.dumps(system_digests(system), indent=1) + "\n")
