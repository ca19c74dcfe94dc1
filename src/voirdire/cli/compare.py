"""The verb ``compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.page import print_page
from voirdire.cli.report import Format
from voirdire.folders import write_file
from voirdire.report.compare import compare_fits as run
from voirdire.report.compare import read_fits
from voirdire.report.compare_page import compare_page
from voirdire.report.verb import check_format, check_output, render_page


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", readable=False, help="Two or more folders that fit saved with --out."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", readable=False, help="Write a page, Markdown or LaTeX tables."
        ),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="Of --out (default: by the file's ending, or html).")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Compare fits: rank correlation, items that move, leave-one-out predictions, judges' reliability."""

    if out is None and (format is not None or overwrite):
        raise typer.BadParameter("--format and --overwrite are for --out")
    chosen = check_format(out, None if format is None else format.value)
    if out is not None:
        check_output(out, overwrite=overwrite)
    found = run(read_fits(runs))
    if json:
        console.print_json(found.as_dict())
    if out is not None:
        write_file(out, render_page(compare_page(found), chosen))
        (console.print_note if json else print)(f"Report: {console.printable_text(str(out))}")
    elif not json:
        print_page(compare_page(found))
