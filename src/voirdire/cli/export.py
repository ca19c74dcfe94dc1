"""The verb ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.fit.store import load
from voirdire.report.exports import export as write


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", readable=False, help="A folder that fit saved with --out.")
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="TOOL",
            help="inspect (for its precomputed_scores), argilla, label-studio, deepeval, openai-evals, csv or parquet.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="PATH", readable=False, help="A new file; of csv and parquet a folder."
        ),
    ],
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="With inspect: whose scores, where there are several.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what was exported before.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Write a saved fit as another tool reads it: scores per sample with their uncertainty."""

    path = write(load(run), to, out, system=system, overwrite=overwrite)
    if json:
        console.print_json({"run": str(run), "to": to, "out": str(path)})
    else:
        console.print_saved(path, json)
