"""The verb ``repro``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import console
from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.research.repro.claims import System
    from voirdire.research.repro.verdicts import Row

# a claim is shown in the colour of its worst figure
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


def repro(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER]", help="One paper's system; without it, all.", show_default=False),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", readable=False, help="Tables of your own runs: DIR/SYSTEM/RUN/TABLE.csv."
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not look for public data.")] = False,
    rerun: Annotated[
        bool,
        typer.Option("--rerun", help="Simulate anew what claims rest on, instead of reading kept results."),
    ] = False,
    replicates: Annotated[int, typer.Option(help="Of each simulation, with --rerun.", min=2)] = 20,
    jobs: Annotated[int, typer.Option(help="Processes that simulate, with --rerun.", min=1)] = 1,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 where a verdict is not explained, or something was changed."
        ),
    ] = False,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="Draw the paper's figures into DIR instead."),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="Write the paper's tables, and with --results ours, into DIR as CSV, LaTeX and HTML instead.",
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="NAME", help="Collect and compute a run of the paper instead.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="The run's data set, where none can be fetched."),
    ] = None,
    panel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Judges instead of the run's panel.toml."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the run's first items; no result.")] = None,
    smoke: Annotated[
        bool,
        typer.Option("--smoke", help="The run on invented items with very small local models; no result."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="The run's journal and tables, or a rerun's simulations; what was stopped goes on.",
        ),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="The page of all claims and runs as Markdown.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Check published numbers: published, ours, tolerance, verdict; or draw, or run, what a paper did."""
    from voirdire.research.repro import judge_claims, load_system, system_names, unexplained

    if page:
        from voirdire.research.repro.page import page as written

        print(written(), end="")
        return
    if figures is not None or tables is not None or run is not None:
        made = _made(paper, figures, tables, results, run, data, panel, limit, smoke, out)
        if json:
            console.emit({"written": [str(path) for path in made]})
        else:
            for path in made:
                print(path)
        return
    systems = [load_system(name) for name in ([paper] if paper else system_names())]
    judged = []
    with console.progress("Claims") as progress:
        for done, system in enumerate(systems):
            progress(done, len(systems))
            fresh = _simulated(system, replicates, jobs, out) if rerun else None
            judged.append((system, judge_claims(system, fetch=not offline, results=results, fresh=fresh)))
    problems = [
        f"{system.paper}, {one}" for system, rows in judged for one in unexplained(system, rows, rerun)
    ]
    if json:
        console.emit({"rows": [row.as_dict() for _, rows in judged for row in rows]})
    else:
        for system, rows in judged:
            _show(system, rows)
        _show_counts([row for _, rows in judged for row in rows])
    if strict and problems:
        raise InputError(problems)


def _simulated(
    system: System, replicates: int, jobs: int, out: Path | None
) -> dict[str, list[Mapping[str, str]]]:
    """Results of the studies that a system's claims rest on, made now."""
    from voirdire.research.repro.rerun import rerun

    def told(study: str, done: int, of: int) -> None:
        print(f"{system.paper}: {study}, {done} of {of} batches", file=sys.stderr)

    return rerun(system, replicates=replicates, jobs=jobs, out=out, progress=told)


def _made(
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
    """The pictures drawn, the tables written, and the folder of the run."""
    from voirdire.research.repro import load_system
    from voirdire.research.repro.draw import figures as draw
    from voirdire.research.repro.print_tables import print_tables
    from voirdire.research.repro.runs import run as collect

    if paper is None:
        raise InputError(
            "--figures, --tables and --run are of one paper; name it: voirdire repro PAPER --run NAME"
        )
    system = load_system(paper)
    made = draw(system, figures, results) if figures is not None else []
    made += print_tables(system, tables, results) if tables is not None else []
    if run is not None:
        made.append(collect(system, run, data=data, panel=panel, limit=limit, smoke=smoke, out=out))
    return made


def _show(system: System, rows: list[Row]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from voirdire.research.repro.summary import summarise
    from voirdire.research.repro.verdicts import DIFFER

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
    summaries = summarise(system, rows)
    for one in summaries:
        style = _STYLES[min(one.verdicts, key=_ORDER.index)]
        cells = (one.claim.id, one.published, one.ours)
        table.add_row(*(Text(console.plain(cell)) for cell in cells), Text(one.in_words, style=style))
    out = console.stdout()
    out.print(table)
    for one in summaries:
        if one.claim.finding and set(DIFFER) & set(one.verdicts):
            heading = f"{one.claim.where}, {one.claim.id}: "
            out.print(Text.assemble((heading, "bold"), console.plain(one.claim.finding)))
    out.print()


def _show_counts(rows: list[Row]) -> None:
    from rich import box
    from rich.table import Table

    from voirdire.research.repro.summary import counts
    from voirdire.research.repro.verdicts import VERDICTS

    found = counts(rows)
    used = [verdict for verdict in VERDICTS if any(found[kind][verdict] for kind in found)]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("figures", no_wrap=True)
    for verdict in used:
        words = verdict.split("-")
        # as narrow as its longest word, so that six of them stand in 80 columns
        table.add_column(" ".join(words), justify="right", width=max(map(len, words)))
    for kind, by in found.items():
        if any(by.values()):
            table.add_row(kind, *(str(by[verdict] or "") for verdict in used))
    console.stdout().print(table)
