"""Verdicts: comparison of each published figure with ours."""

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
#: Verdicts that the finding of the claim must explain.
DIFFER = ("failed", "inconsistent-in-paper")
#: Number of Monte Carlo errors of new results that are added to the tolerance.
_ERRORS = 2
#: File of a run's values of claims in the text: columns claim and value.
TEXTS = "texts.csv"
#: File of a run's values of curves.
CURVES = "curves.csv"
_WITHOUT_OURS = {"needs-llm": "needs-llm", "needs-metric": "not-available", "not-available": "not-available"}


@dataclass(frozen=True)
class Row:
    """Published figure and the verdict on it.

    Attributes
    ----------
    id, paper, where, kind : str
        ``id`` is that of the claim, with the keys of the cell if the claim has several figures.
    published, ours : float, str or None
        Both figures; ``ours`` is None if it was not computed.
    tolerance : float or None
    verdict : str
        One of ``VERDICTS``.
    claim, note : str
        Id of the claim; remark on the figure.
    margin : str
        For simulated differences: size with Monte Carlo error.
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
        """Return the row in the shape of ``voirdire repro --json``."""
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
    """Compute figures where possible and compare them with the published ones.

    Parameters
    ----------
    system : System
    fetch : bool
        True to read public data from the cache or download them; else their claims are "not-fetched".
    results : path, optional
        Folder with the tables of our own runs, ``<system>/<run>/<table>.csv`` in the shape of the published ones, and
        ``<system>/<run>/texts.csv`` for claims in the text.
    called : mapping of str to str, optional
        Folders of runs with other names.
    fresh : mapping of str to rows, optional
        New results of studies, by name (see :mod:`voirdire_repro.rerun`), used instead of the stored ones; two of
        their Monte Carlo errors are added to the tolerance.

    Returns
    -------
    list of Row
        Rows in the order of the claims, one per figure.

    Raises
    ------
    InputError
        A table under ``results`` is not one of the paper's, or results of a study are missing.

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
                result = CHECKS[claim.check["kind"]].compute(context, cell, claim.check)
                ours, note, margin = result.value, result.note, result.margin
                if isinstance(claim.tolerance, Mapping) and "items" in claim.tolerance and result.item is not None:
                    # an end of an interval lies on a whole number of items; the last printed digit is rounded
                    tolerance = claim.tolerance["items"] * result.item + 0.05
                if claim.check.get("study") in context.fresh:
                    error = _ERRORS * result.error
            except NotFetched as reason:
                note, ours = str(reason), _from_runs(claim, cell, own)
        else:
            ours = _from_runs(claim, cell, own)
        published = _cell_figure(cell)
        if ours is not None:
            verdict = _compare_figures(claim, published, ours, tolerance, error)
        what = changed.of_figure(claim, cell) or (changed.changes_behind(claim, cell) if verdict in DIFFER else "")
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
    """Return the claim's number, or two standard errors of the figure; None for tolerances in items."""
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
    if near and isinstance(claim.tolerance, Mapping) and isinstance(published, float) and tolerance is not None:
        return "undecided" if is_vacuous(claim.tolerance, published, tolerance) else "reproduced"
    if near:
        return "reproduced"
    return "inconsistent-in-paper" if claim.kind == "rederive" else "failed"


def unexplained_lines(system: System, rows: Sequence[Row], rerun: bool = False) -> list[str]:
    """List the problems of a strict check, one sentence each.

    Problems are changes here, figures that differ without a finding, and findings although all figures agree (except
    in a ``rerun``, where a small difference may be within the Monte Carlo errors).

    Examples
    --------
    >>> from voirdire_repro.claims import load_system
    >>> unexplained_lines(load_system("mareval"), judge_claims(load_system("mareval"), fetch=False))
    []
    """
    lines = [f"{row.id}: {row.note}" for row in rows if row.verdict == "changed-here"]
    for claim in system.claims:
        verdicts = [row.verdict for row in rows if row.claim == claim.id]
        differ = sum(verdict in DIFFER for verdict in verdicts)
        if differ and not claim.finding:
            lines.append(f"{claim.id}: {differ} figures differ, and no finding says why")
        noisy = rerun and claim.kind == "rerun"
        if claim.finding and not noisy and not differ and set(verdicts) == {"reproduced"}:
            lines.append(f"{claim.id}: its finding speaks of a difference, and there is none")
    return lines


def _cell_figure(cell: Cell) -> float | str:
    try:
        return cell.value
    except ValueError:
        return cell.text


@dataclass(frozen=True)
class _Own:
    """Results of one run: figures by table and cell, and values of claims in the text."""

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
            raise InputError(f"{path}: {system.paper} has no table {path.stem!r}; known: {', '.join(system.tables)}")
        cells |= {(path.stem, cell.keys): cell.value for cell in read_table(path, "").cells}
    return _Own(cells, texts)


def _from_runs(claim: Claim, cell: Cell, own: Mapping[str, _Own]) -> float | str | None:
    """Return a cell from the first run that has it; a figure of the text as the sum over the claim's runs."""
    run_results = [own[run] for run in claim.runs if run in own]
    if cell.keys:
        place = (estimator_table(cell.table, claim.method), cell.keys)
        return next((result.cells[place] for result in run_results if place in result.cells), None)
    texts = [result.texts[claim.id] for result in run_results if claim.id in result.texts]
    if not texts or len(texts) < len(claim.runs):
        return None
    try:
        return float(sum(float(text) for text in texts))
    except ValueError:
        return texts[0]
