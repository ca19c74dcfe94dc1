"""Parts of the verb ``repro``: judged claims, reruns, pictures, tables and runs, and their printing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from voirdire.cli import console
from voirdire.errors import InputError
from voirdire_repro import judge_claims, load_system, system_names, unexplained_lines
from voirdire_repro.claims import System
from voirdire_repro.draw import figures as draw
from voirdire_repro.page import repro_page
from voirdire_repro.print_tables import print_tables
from voirdire_repro.rerun import rerun
from voirdire_repro.runfile import differences
from voirdire_repro.runs import run as collect
from voirdire_repro.summary import count_verdicts, summarise_claims
from voirdire_repro.verdicts import DIFFER, VERDICTS, Row

# a claim has the colour of its worst figure
_STYLES = {
    "changed-here": "bold magenta",
    "failed": "bold red",
    "inconsistent-in-paper": "yellow",
    "undecided": "yellow",
    "reproduced": "green",
    "not-fetched": "dim",
    "needs-llm": "dim",
    "not-available": "dim",
}
_ORDER = list(_STYLES)


def print_page() -> None:
    """Print the page of all papers."""
    print(repro_page(), end="")


def chosen_systems(paper: str | None) -> list[System]:
    """Load the system of one paper, or all."""
    return [load_system(name) for name in ([paper] if paper else system_names())]


def judge_system(
    system: System, offline: bool, results: Path | None, fresh: dict[str, list[Mapping[str, str]]] | None
) -> list[Row]:
    """Judge the claims of a system."""
    return judge_claims(system, fetch=not offline, results=results, fresh=fresh)


def unexplained_verdicts(system: System, rows: list[Row], rerun: bool) -> list[str]:
    """List the verdicts without an explanation."""
    return [f"{system.paper}, {line}" for line in unexplained_lines(system, rows, rerun)]


def rerun_studies(
    system: System, replicates: int, jobs: int, cluster: str | None, out: Path | None
) -> dict[str, list[Mapping[str, str]]]:
    """Repeat the studies that the claims of a system use, and return their results."""

    def tell_progress(study: str, done: int, of: int) -> None:
        print(f"{system.paper}: {study}, {done} of {of} batches", file=sys.stderr)

    return rerun(system, replicates=replicates, jobs=jobs, client=cluster, out=out, progress=tell_progress)


def make_outputs(
    paper: str | None,
    figures: Path | None,
    tables: Path | None,
    results: Path | None,
    run: str | None,
    data: Path | None,
    panel: Path | None,
    limit: int | None,
    smoke: bool,
    out: Path | None,
) -> list[Path]:
    """Draw pictures, write tables and make a run as requested; return their paths."""
    if paper is None:
        raise InputError("--figures, --tables and --run are of one paper; name it: voirdire repro PAPER --run NAME")
    system = load_system(paper)
    paths = draw(system, figures, results) if figures is not None else []
    paths += print_tables(system, tables, results) if tables is not None else []
    if run is not None:
        paths.append(collect(system, run, data=data, panel=panel, limit=limit, smoke=smoke, out=out))
    return paths


def show_claims(system: System, rows: list[Row]) -> None:
    """Print the claims of a system."""
    table = Table(
        title=Text(system.paper, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    table.add_column("claim", no_wrap=True)
    for name in ("published", "ours"):
        table.add_column(name, justify="right", overflow="fold", max_width=14)
    table.add_column("verdict")
    summaries = summarise_claims(system, rows)
    for summary in summaries:
        style = _STYLES[min(summary.verdicts, key=_ORDER.index)]
        cells = (summary.claim.id, summary.published, summary.ours)
        table.add_row(*(Text(console.printable_text(cell)) for cell in cells), Text(summary.in_words, style=style))
    out = console.stdout_console()
    out.print(table)
    for summary in summaries:
        if summary.claim.finding and set(DIFFER) & set(summary.verdicts):
            heading = f"{summary.claim.where}, {summary.claim.id}: "
            out.print(Text.assemble((heading, "bold"), console.printable_text(summary.claim.finding)))
    for name, texts in differences(system).items():
        heading = f"Run {name} is not as the paper has it: "
        out.print(Text.assemble((heading, "bold"), console.printable_text(" ".join(texts))))
    out.print()


def show_counts(rows: list[Row]) -> None:
    """Print the number of figures by verdict."""
    counts = count_verdicts(rows)
    used = [verdict for verdict in VERDICTS if any(counts[kind][verdict] for kind in counts)]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("figures", no_wrap=True)
    for verdict in used:
        words = verdict.split("-")
        # as narrow as the longest word, so that six columns fit into 80 characters
        table.add_column(" ".join(words), justify="right", width=max(map(len, words)))
    for kind, by in counts.items():
        if any(by.values()):
            table.add_row(kind, *(str(by[verdict] or "") for verdict in used))
    console.stdout_console().print(table)
