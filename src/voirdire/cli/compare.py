"""The verb ``compare``."""

from __future__ import annotations

from pathlib import Path

from voirdire.cli import console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.outputs import check_page, write_page
from voirdire.cli.page import print_page
from voirdire.cli.report import Format
from voirdire.report.compare import compare_fits as run
from voirdire.report.compare import read_fits
from voirdire.report.compare_page import compare_page


@declare_options()
def compare(
    runs: list[Path],
    *,
    out: OutFile = None,
    format: Format | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Compare fits: rank correlation, items that move, leave-one-out predictions, judges' reliability.

    Parameters
    ----------
    runs : RUN...
        Two or more folders that fit saved with --out.
    out : FILE
        Write a page, Markdown or LaTeX tables.
    format
        Of --out (default: by the file's ending, or html).
    """
    chosen = check_page(out, format, overwrite=overwrite)
    found = run(read_fits(runs))
    if json:
        console.print_json(found.as_dict())
    if out is not None:
        write_page(out, lambda: compare_page(found), chosen)
        (console.print_note if json else print)(f"Report: {console.printable_text(str(out))}")
    elif not json:
        print_page(compare_page(found))
