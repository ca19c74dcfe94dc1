"""The verb ``report``."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.reading import split_commas
from voirdire.report.verb import check_format
from voirdire.report.verb import report as write


class Format(StrEnum):
    """Format that a report is written in."""

    html = "html"
    md = "md"
    latex = "latex"


def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            readable=False,
            help="A folder that fit, agree, metaeval or simulate saved with --out.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            readable=False,
            help="The file (report.html, report.md or report.tex in the current folder if left out).",
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="html: one page; md: Markdown; latex: tables (default: by the file's ending, or html)."
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Judges of a fit's table who are people; repeatable."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Write a report of a saved run: one HTML page that needs no network, Markdown, or LaTeX tables."""

    start = time.perf_counter()
    chosen = check_format(out, None if format is None else format.value)
    path = write(run, out, format=chosen, human=split_commas(human), overwrite=overwrite)
    if json:
        seconds = round(time.perf_counter() - start, 3)
        size = path.stat().st_size
        console.print_json(
            {"run": str(run), "report": str(path), "format": chosen, "bytes": size, "seconds": seconds}
        )
    else:
        print(f"Report: {console.printable_text(str(path))}")
