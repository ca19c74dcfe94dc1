"""The verb ``report``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from voirdire.cli import console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.reading import split_commas
from voirdire.report.output import check_format
from voirdire.report.verb import report as write

Format = Literal["html", "md", "latex"]


@declare_options()
def report(
    run: Path,
    *,
    out: OutFile = None,
    format: Format | None = None,
    human: list[str] | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Write a report of a saved run: one HTML page that needs no network, Markdown, or LaTeX tables.

    Parameters
    ----------
    run : RUN
        A folder that fit, agree, metaeval or simulate saved with --out.
    out : FILE
        The file (report.html, report.md or report.tex in the current folder if left out).
    format
        html: one page; md: Markdown; latex: tables (default: by the file's ending, or html).
    human : A,B,...
        Judges of a fit's table who are people; repeatable.
    """

    start = time.perf_counter()
    file_format = check_format(out, format)
    path = write(run, out, format=file_format, human=split_commas(human), overwrite=overwrite)
    content = {"run": str(run), "report": str(path), "format": file_format, "bytes": path.stat().st_size}
    content["seconds"] = round(time.perf_counter() - start, 3)
    console.print_result(content, json, lambda: print(f"Report: {console.printable_text(str(path))}"))
