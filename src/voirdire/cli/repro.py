"""The verb ``repro``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.options import Cluster, load_companion
from voirdire.errors import InputError


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
    cluster: Cluster = None,
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
    parts = load_companion("voirdire_repro.verb")
    if page:
        parts.print_page()
        return
    if figures is not None or tables is not None or run is not None:
        made = parts.make_outputs(paper, figures, tables, results, run, data, panel, limit, smoke, out)
        if json:
            console.print_json({"written": [str(path) for path in made]})
        else:
            for path in made:
                print(path)
        return
    judged = []
    systems = parts.chosen_systems(paper)
    with console.progress_bar("Claims") as progress:
        for done, system in enumerate(systems):
            progress(done, len(systems))
            fresh = parts.rerun_studies(system, replicates, jobs, cluster, out) if rerun else None
            judged.append((system, parts.judge_system(system, offline, results, fresh)))
    problems = [one for system, rows in judged for one in parts.unexplained_verdicts(system, rows, rerun)]
    if json:
        differs = {system.system: parts.differences(system) for system in systems}
        console.print_json(
            {"rows": [row.as_dict() for _, rows in judged for row in rows], "differs": differs}
        )
    else:
        for system, rows in judged:
            parts.show_claims(system, rows)
        parts.show_counts([row for _, rows in judged for row in rows])
    if strict and problems:
        raise InputError(problems)
