"""The verb ``repro``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options, load_companion
from voirdire.errors import InputError


@declare_options()
def repro(
    paper: str | None = None,
    *,
    results: Path | None = None,
    offline: bool = False,
    rerun: bool = False,
    replicates: Annotated[int, typer.Option(min=2)] = 20,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    cluster: str | None = None,
    strict: bool = False,
    figures: Path | None = None,
    tables: Path | None = None,
    run: str | None = None,
    data: Path | None = None,
    panel: Path | None = None,
    limit: int | None = None,
    smoke: bool = False,
    out: Path | None = None,
    page: bool = False,
    json: bool = False,
) -> None:
    """Check published numbers: published, ours, tolerance, verdict; or draw, or run, what a paper did.

    Parameters
    ----------
    paper : [PAPER]
        One paper's system; without it, all.
    results : DIR
        Tables of your own runs: DIR/SYSTEM/RUN/TABLE.csv.
    offline
        Do not look for public data.
    rerun
        Simulate anew what claims rest on, instead of reading kept results.
    replicates
        Of each simulation, with --rerun.
    jobs
        Processes that simulate, with --rerun.
    strict
        Exit with 1 where a verdict is not explained, or something was changed.
    figures : DIR
        Draw the paper's figures into DIR instead.
    tables : DIR
        Write the paper's tables, and with --results ours, into DIR as CSV, LaTeX and HTML instead.
    run : NAME
        Collect and compute a run of the paper instead.
    data : FILE
        The run's data set, where none can be fetched.
    panel : FILE
        Judges instead of the run's panel.toml.
    limit
        Only the run's first items; no result.
    smoke
        The run on invented items with very small local models; no result.
    out : DIR
        The run's journal and tables, or a rerun's simulations; what was stopped goes on.
    page
        The page of all claims and runs as Markdown.
    """
    companion = load_companion("voirdire_repro.verb")
    if page:
        companion.print_page()
        return
    if figures is not None or tables is not None or run is not None:
        written = companion.make_outputs(paper, figures, tables, results, run, data, panel, limit, smoke, out)
        result = {"written": [str(path) for path in written]}
        console.print_result(result, json, lambda: print(*written, sep="\n", end="\n" * bool(written)))
        return
    system_rows = []
    systems = companion.chosen_systems(paper)
    with console.progress_bar("Claims") as progress:
        for done, system in enumerate(systems):
            progress(done, len(systems))
            fresh = companion.rerun_studies(system, replicates, jobs, cluster, out) if rerun else None
            system_rows.append((system, companion.judge_system(system, offline, results, fresh)))
    problems = [
        problem
        for system, rows in system_rows
        for problem in companion.unexplained_verdicts(system, rows, rerun)
    ]
    if json:
        differs = {system.system: companion.differences(system) for system in systems}
        console.print_json(
            {"rows": [row.as_dict() for _, rows in system_rows for row in rows], "differs": differs}
        )
    else:
        for system, rows in system_rows:
            companion.show_claims(system, rows)
        companion.show_counts([row for _, rows in system_rows for row in rows])
    if strict and problems:
        raise InputError(problems)
