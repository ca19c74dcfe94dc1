"""Verdicts: each published figure beside ours."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.research.repro.checks import CHECKS, Context, NotFetched
from voirdire.research.repro.claims import Claim, System
from voirdire.research.repro.tables import Cell, read_table

VERDICTS = ("reproduced", "failed", "inconsistent-in-paper", "not-fetched", "needs-llm", "not-available")
#: What a run found of claims that stand in the text: columns claim and value.
TEXTS = "texts.csv"
_WITHOUT_OURS = {
    "needs-llm": "needs-llm",
    "needs-metric": "not-available",
    "not-available": "not-available",
}


@dataclass(frozen=True)
class Row:
    """One published figure and the verdict on it.

    Attributes
    ----------
    id, paper, where, kind : str
        ``id`` is the claim's, with the cell's keys where it speaks of several figures.
    published, ours : float, str or None
        ``ours`` is None where nothing was computed.
    tolerance : float or None
    verdict : str
        One of ``VERDICTS``.
    claim, note : str
        The claim's own id; what is to be said about the figure.
    """

    id: str
    paper: str
    where: str
    kind: str
    published: float | str
    ours: float | str | None
    tolerance: float | None
    verdict: str
    claim: str
    note: str

    def as_dict(self) -> dict[str, Any]:
        """The row in the shape of ``voirdire repro --json``."""
        names = ("id", "paper", "where", "kind", "published", "ours", "tolerance", "verdict", "claim", "note")
        return {name: getattr(self, name) for name in names}


def judge_claims(
    system: System,
    *,
    fetch: bool = True,
    results: str | Path | None = None,
    called: Mapping[str, str] | None = None,
) -> list[Row]:
    """Compute what can be computed and compare it with what was published.

    Parameters
    ----------
    system : System
    fetch : bool
        Whether public data may be read from the cache or fetched; if not, their claims are "not-fetched".
    results : path, optional
        Folder with the tables of our own runs, ``<system>/<run>/<table>.csv`` in the shape of the published ones, and
        ``<system>/<run>/texts.csv`` for claims in the text.
    called : mapping of str to str, optional
        Folders of runs that are called otherwise.

    Returns
    -------
    list of Row
        In the claims' order, one per figure.

    Raises
    ------
    InputError
        A table under ``results`` that is none, or a study whose results are not there.

    Examples
    --------
    >>> from voirdire.research.repro.claims import load_system
    >>> rows = judge_claims(load_system("mareval"), fetch=False)
    >>> {row.verdict for row in rows if row.claim == "table2-average"}
    {'reproduced'}
    """
    context = Context(system.tables, fetch)
    runs = {run for claim in system.claims for run in claim.runs}
    own = (
        {}
        if results is None
        else {run: _own(system, Path(results), (called or {}).get(run, run)) for run in runs}
    )
    return [row for claim in system.claims for row in _rows(system, claim, context, own)]


def _rows(system: System, claim: Claim, context: Context, own: Mapping[str, _Own]) -> Iterator[Row]:
    for cell in claim.figures:
        note, ours, tolerance = "", None, claim.tolerance
        verdict = _WITHOUT_OURS.get(claim.kind, "not-fetched")
        if claim.check:
            try:
                found = CHECKS[claim.check["kind"]].compute(context, cell, claim.check)
                ours = found.value
                note = found.note
                if claim.items is not None and found.item is not None:
                    # an end of an interval lies on a whole number of items; the last printed digit is rounded
                    tolerance = claim.items * found.item + 0.05
            except NotFetched as reason:
                note = str(reason)
        else:
            ours = _from_runs(claim, cell, own)
        published = _figure(cell)
        if ours is not None:
            verdict = _compared(claim, published, ours, tolerance)
        yield Row(
            id=f"{claim.id}/{cell.name}" if cell.keys else claim.id,
            paper=system.paper,
            where=claim.where,
            kind=claim.kind,
            published=published,
            ours=ours,
            tolerance=tolerance,
            verdict=verdict,
            claim=claim.id,
            note="; ".join(filter(None, [note, claim.finding if verdict in VERDICTS[1:3] else ""])),
        )


def _compared(claim: Claim, published: float | str, ours: float | str, tolerance: float | None) -> str:
    if isinstance(published, str) or isinstance(ours, str):
        near = published == ours
    else:
        near = tolerance is not None and abs(published - ours) <= tolerance + 1e-9
    if near:
        return "reproduced"
    return "inconsistent-in-paper" if claim.kind == "rederive" else "failed"


def _figure(cell: Cell) -> float | str:
    try:
        return cell.value
    except ValueError:
        return cell.text


@dataclass(frozen=True)
class _Own:
    """What one run has found: figures by table and cell, and of claims in the text."""

    cells: Mapping[tuple[str, tuple[tuple[str, str], ...]], float]
    texts: Mapping[str, str]


def _own(system: System, results: Path, run: str) -> _Own:
    folder = results / system.system / run
    cells: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.csv")):
        if path.name == TEXTS:
            with path.open(encoding="utf-8", newline="") as file:
                texts = {row["claim"]: row["value"] for row in csv.DictReader(file)}
            continue
        if path.stem not in system.tables:
            raise InputError(
                f"{path}: {system.paper} has no table {path.stem!r}; known: {', '.join(system.tables)}"
            )
        cells |= {(path.stem, cell.keys): cell.value for cell in read_table(path, "").cells}
    return _Own(cells, texts)


def _from_runs(claim: Claim, cell: Cell, own: Mapping[str, _Own]) -> float | str | None:
    """A cell from the first run that has it; a figure of the text summed over the claim's runs, if all have it."""
    found = [own[run] for run in claim.runs if run in own]
    if cell.keys:
        return next(
            (one.cells[cell.table, cell.keys] for one in found if (cell.table, cell.keys) in one.cells), None
        )
    texts = [one.texts[claim.id] for one in found if claim.id in one.texts]
    if not texts or len(texts) < len(claim.runs):
        return None
    try:
        return float(sum(float(text) for text in texts))
    except ValueError:
        return texts[0]
