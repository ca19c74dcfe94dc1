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
    """Check a paper's published numbers (published, ours, tolerance, verdict), draw its figures, or repeat its runs.

    Parameters
    ----------
    paper : [PAPER]
        One paper's system; without it, all systems.
    results : DIR
        Tables of your own runs: DIR/SYSTEM/RUN/TABLE.csv.
    offline
        Do not download public data.
    rerun
        Repeat the simulations behind the claims, instead of reading stored results.
    replicates
        With --rerun: replicates of each simulation.
    jobs
        With --rerun: number of processes.
    strict
        Exit with 1 if a verdict is not explained, or something was changed.
    figures : DIR
        Instead of checking: draw the paper's figures into DIR.
    tables : DIR
        Instead of checking: write the paper's tables, and with --results ours, into DIR as CSV, LaTeX and HTML.
    run : NAME
        Instead of checking: collect and compute a run of the paper.
    data : FILE
        With --run: the data set, if it cannot be downloaded.
    panel : FILE
        With --run: a panel file that replaces the run's panel.toml.
    limit
        With --run: use only the first items, as a test without a result.
    smoke
        With --run: use invented items and very small local models, as a test without a result.
    out : DIR
        Folder of the run's journal and tables, or of a rerun's simulations; the same folder resumes a stopped run.
    page
        Print the page of all claims and runs as Markdown.
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
        problem for system, rows in system_rows for problem in companion.unexplained_verdicts(system, rows, rerun)
    ]
    if json:
        differs = {system.system: companion.differences(system) for system in systems}
        console.print_json({"rows": [row.as_dict() for _, rows in system_rows for row in rows], "differs": differs})
    else:
        for system, rows in system_rows:
            companion.show_claims(system, rows)
        companion.show_counts([row for _, rows in system_rows for row in rows])
    if strict and problems:
        raise InputError(problems)
