"""Claims files: published figures, their checks, and tolerances.

``paper_repro/<system>/claims.toml`` holds ``system``, ``paper``, ``title`` and ``[[claims]]``. In the same folder,
``tables/*.csv`` have the figures of the paper's tables, and ``tables/tables.toml`` a caption for each.
CONTRIBUTING.md explains the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.model.specs import specification_folder
from voirdire.settings import TABLES, TEXT, find_faults, read_toml, unknown_name_message
from voirdire_repro.faults import HEAD, NEEDED, Lines, faults_of
from voirdire_repro.tables import Cell, Table, read_table


@dataclass(frozen=True)
class Claim:
    """Entry of a claims file.

    Attributes
    ----------
    id, where, says, kind, because : str
        Name in the file, place in the paper, the claim (in our words), one of ``KINDS``, and the reason for the
        tolerance (or why the claim cannot be checked).
    figures : tuple of Cell
        Published figures: cells of a table, or one figure in the text.
    tolerance : float, mapping or None
        Largest accepted difference between our figure and the published one: a number, or a rule by which it
        follows from the figure (see :mod:`voirdire_repro.tolerance`).
    check : mapping
        ``kind``, one of ``voirdire_repro.checks.CHECKS``, and its settings.
    runs : tuple of str
        Runs under ``runs/`` with results for the claim; a figure of the text is the sum of their results.
    method : str
        Estimation of the figures of the runs: "map" (ours), or "adam" (the paper's procedure).
    finding : str
        Fault in the paper, or reason why our figure differs, or "".
    """

    id: str
    where: str
    says: str
    kind: str
    because: str
    figures: tuple[Cell, ...]
    tolerance: float | Mapping[str, float] | None = None
    check: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    method: str = "map"
    finding: str = ""


@dataclass(frozen=True)
class System:
    """Claims and tables of a paper."""

    system: str
    paper: str
    title: str
    folder: Path
    tables: Mapping[str, Table]
    claims: tuple[Claim, ...]

    def uncovered_cells(self) -> list[Cell]:
        """Return the figures of the tables that are in no claim."""
        covered = {cell for claim in self.claims for cell in claim.figures}
        return [cell for table in self.tables.values() for cell in table.cells if cell not in covered]


def system_names() -> list[str]:
    """Return the sorted names of the systems with a claims file.

    Examples
    --------
    >>> "maple" in system_names()
    True
    """
    return sorted(path.parent.name for path in specification_folder("paper_repro").glob("*/claims.toml"))


def load_system(system: str | Path) -> System:
    """Read and check the claims and tables of a system.

    Parameters
    ----------
    system : str or path
        Name of a shipped system, or folder with ``claims.toml`` and ``tables/``.

    Raises
    ------
    InputError
        The name is unknown; or all faults of the files, by file and line.

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
            raise InputError(unknown_name_message("paper", system, names))
        folder = specification_folder("paper_repro") / name
    problems: list[str] = []
    tables = _read_tables(folder, problems)
    path = folder / "claims.toml"
    content = read_toml(path)
    lines = Lines(path)
    rules = {**dict.fromkeys(HEAD, TEXT), "claims": TABLES}
    head = find_faults(content, rules, HEAD, missing="{key!r} is missing: {words} before the first [[claims]]")
    problems += [f"{path}: {fault}" for _, fault in head]
    entries = content.get("claims", [])
    if not TABLES.holds(entries):
        raise InputError(problems)
    claims: list[Claim] = []
    for number, entry in enumerate(entries):
        wrong = faults_of(entry, number, lines, tables)
        problems += wrong
        if not wrong:
            claims.append(_read_claim(entry, tables, claims))
            if not claims[-1].figures:
                problems.append(
                    f"{lines.file_line(number, 'cells')}: no cell of the table is meant by {entry['cells']}"
                )
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        name = str(entry.get("id"))
        if name in seen:
            problems.append(
                f"{lines.file_line(number, 'id')}: id {name!r} stands in line {lines.line_of(seen[name], 'id')} too"
            )
        seen.setdefault(name, number)
    if problems:
        raise InputError(problems)
    return System(content["system"], content["paper"], content["title"], folder, tables, tuple(claims))


def _read_tables(folder: Path, problems: list[str]) -> dict[str, Table]:
    path = folder / "tables" / "tables.toml"
    captions = read_toml(path)
    tables = {}
    files = {file.stem: file for file in sorted((folder / "tables").glob("*.csv"))}
    for name in captions.keys() - files.keys():
        problems.append(f"{path}: [{name}] has no file {name}.csv beside it")
    for name, file in files.items():
        entry = captions.get(name)
        if not isinstance(entry, dict) or not isinstance(entry.get("caption"), str):
            problems.append(f"{path}: {name}.csv needs a section [{name}] with a caption")
            continue
        try:
            tables[name] = read_table(file, entry["caption"])
        except InputError as error:
            problems += error.problems
    return tables


def _read_claim(entry: Mapping[str, Any], tables: Mapping[str, Table], before: list[Claim]) -> Claim:
    if "cells" in entry:
        keys = dict(entry["cells"])
        table, rest = tables[keys.pop("table")], keys.pop("rest", False)
        figures = table.select_cells(keys)
        if rest:
            spoken_of = {cell for claim in before for cell in claim.figures}
            figures = [cell for cell in figures if cell not in spoken_of]
    else:
        figures = [Cell("text", (), str(entry["published"]))]
    given = entry.get("tolerance")
    texts = {key: entry.get(key, "").strip() for key in (*NEEDED, "finding")}
    runs = entry.get("run", [])
    return Claim(
        **texts,
        figures=tuple(figures),
        tolerance=float(given) if isinstance(given, int | float) else given,
        check=entry.get("check", {}),
        runs=(runs,) if isinstance(runs, str) else tuple(runs),
        method=entry.get("method", "map"),
    )
