"""Verdicts: each published figure beside ours."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire_repro.checks import CHECKS, Context, NotFetched
from voirdire_repro.claims import Claim, System
from voirdire_repro.fill.filled import BY_PAPER, estimator_table
from voirdire_repro.tables import Cell, read_table
from voirdire_repro.tolerance import is_vacuous, own_error
from voirdire_repro.transcribed import Changes, find_changes

VERDICTS = {
    "reproduced": "ours comes within the tolerance",
    "failed": "ours differs from the published figure",
    "inconsistent-in-paper": "two places of the paper differ",
    "undecided": "ours comes within the tolerance, but so would a judge that knows nothing",
    "changed-here": "a figure, a claim or kept results are not what was transcribed or made: the difference is ours",
    "not-fetched": "public data that are not here",
    "needs-llm": "no run has filled it yet",
    "not-available": "it cannot be computed",
}
#: What is to be explained by the claim's finding.
DIFFER = ("failed", "inconsistent-in-paper")
#: How many Monte Carlo errors of results that were made just now are allowed beside the tolerance.
_ERRORS = 2
#: What a run found of claims that stand in the text: columns claim and value.
TEXTS = "texts.csv"
#: What a run found of figures that are curves.
CURVES = "curves.csv"
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
    margin : str
        Of simulated differences: how large, with a Monte Carlo error.
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
    margin: str = ""

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
    fresh: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
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
    fresh : mapping of str to rows, optional
        Results of studies, by name, that were made just now (see :mod:`voirdire_repro.rerun`) and count
        instead of the kept ones; beside the tolerance two of their Monte Carlo errors are allowed.

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
    >>> from voirdire_repro.claims import load_system
    >>> rows = judge_claims(load_system("mareval"), fetch=False)
    >>> {row.verdict for row in rows if row.claim == "table2-average"}
    {'reproduced'}
    """
    context = Context(system.tables, fetch, fresh or {})
    changed = find_changes(system)
    runs = {run for claim in system.claims for run in claim.runs}
    own = (
        {}
        if results is None
        else {run: _own_results(system, Path(results), (called or {}).get(run, run)) for run in runs}
    )
    return [row for claim in system.claims for row in _claim_rows(system, claim, context, own, changed)]


def _claim_rows(
    system: System, claim: Claim, context: Context, own: Mapping[str, _Own], changed: Changes
) -> Iterator[Row]:
    for cell in claim.figures:
        note, ours, error, margin = "", None, 0.0, ""
        tolerance = _cell_tolerance(system, claim, cell)
        verdict = _WITHOUT_OURS.get(claim.kind, "not-fetched")
        if claim.check:
            try:
                found = CHECKS[claim.check["kind"]].compute(context, cell, claim.check)
                ours, note, margin = found.value, found.note, found.margin
                if (
                    isinstance(claim.tolerance, Mapping)
                    and "items" in claim.tolerance
                    and found.item is not None
                ):
                    # an end of an interval lies on a whole number of items; the last printed digit is rounded
                    tolerance = claim.tolerance["items"] * found.item + 0.05
                if claim.check.get("study") in context.fresh:
                    error = _ERRORS * found.error
            except NotFetched as reason:
                note, ours = str(reason), _from_runs(claim, cell, own)
        else:
            ours = _from_runs(claim, cell, own)
        published = _cell_figure(cell)
        if ours is not None:
            verdict = _compare_figures(claim, published, ours, tolerance, error)
        what = changed.of_figure(claim, cell) or (
            changed.changes_behind(claim, cell) if verdict in DIFFER else ""
        )
        if what:
            verdict = "changed-here"
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
            note="; ".join(filter(None, [what, note, claim.finding if verdict in DIFFER else ""])),
            margin=margin,
        )


def _cell_tolerance(system: System, claim: Claim, cell: Cell) -> float | None:
    """The claim's number, or two standard errors of the figure; in items it is known when ours is."""
    how = claim.tolerance
    if not isinstance(how, Mapping):
        return how
    return None if "items" in how else own_error(how, system.tables[cell.table], cell)


def _compare_figures(
    claim: Claim, published: float | str, ours: float | str, tolerance: float | None, error: float
) -> str:
    if isinstance(published, str) or isinstance(ours, str):
        near = published == ours
    else:
        near = tolerance is not None and abs(published - ours) <= tolerance + error + 1e-9
    if (
        near
        and isinstance(claim.tolerance, Mapping)
        and isinstance(published, float)
        and tolerance is not None
    ):
        return "undecided" if is_vacuous(claim.tolerance, published, tolerance) else "reproduced"
    if near:
        return "reproduced"
    return "inconsistent-in-paper" if claim.kind == "rederive" else "failed"


def unexplained_lines(system: System, rows: Sequence[Row], rerun: bool = False) -> list[str]:
    """List what a strict check does not let pass, a sentence each.

    Changes here; figures that differ without a finding; findings where none differs, though all was computed (not of a
    ``rerun``, whose Monte Carlo errors are allowed for: a small difference may lie within them).

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> unexplained_lines(load_system("mareval"), judge_claims(load_system("mareval"), fetch=False))
    []
    """
    found = [f"{row.id}: {row.note}" for row in rows if row.verdict == "changed-here"]
    for claim in system.claims:
        verdicts = [row.verdict for row in rows if row.claim == claim.id]
        differ = sum(verdict in DIFFER for verdict in verdicts)
        if differ and not claim.finding:
            found.append(f"{claim.id}: {differ} figures differ, and no finding says why")
        noisy = rerun and claim.kind == "rerun"
        if claim.finding and not noisy and not differ and set(verdicts) == {"reproduced"}:
            found.append(f"{claim.id}: its finding speaks of a difference, and there is none")
    return found


def _cell_figure(cell: Cell) -> float | str:
    try:
        return cell.value
    except ValueError:
        return cell.text


@dataclass(frozen=True)
class _Own:
    """Results of one run: figures by table and cell, and of claims in the text."""

    cells: Mapping[tuple[str, tuple[tuple[str, str], ...]], float]
    texts: Mapping[str, str]


def _own_results(system: System, results: Path, run: str) -> _Own:
    folder = results / system.system / run
    cells: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.csv")):
        if path.name == TEXTS:
            with path.open(encoding="utf-8", newline="") as file:
                texts = {row["claim"]: row["value"] for row in csv.DictReader(file)}
            continue
        if path.name == CURVES:
            continue
        if path.stem.removesuffix(BY_PAPER) not in system.tables:
            raise InputError(
                f"{path}: {system.paper} has no table {path.stem!r}; known: {', '.join(system.tables)}"
            )
        cells |= {(path.stem, cell.keys): cell.value for cell in read_table(path, "").cells}
    return _Own(cells, texts)


def _from_runs(claim: Claim, cell: Cell, own: Mapping[str, _Own]) -> float | str | None:
    """A cell from the first run that has it; a figure of the text summed over the claim's runs, if all have it."""
    found = [own[run] for run in claim.runs if run in own]
    if cell.keys:
        place = (estimator_table(cell.table, claim.method), cell.keys)
        return next((one.cells[place] for one in found if place in one.cells), None)
    texts = [one.texts[claim.id] for one in found if claim.id in one.texts]
    if not texts or len(texts) < len(claim.runs):
        return None
    try:
        return float(sum(float(text) for text in texts))
    except ValueError:
        return texts[0]
