"""The verb ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.fit.store import load
from voirdire.report.exports import export as write


@declare_options()
def export(
    run: Path,
    *,
    to: str,
    out: Annotated[Path, typer.Option("-o", "--out")],
    system: str | None = None,
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Export a saved fit to another tool's format: scores per sample with their uncertainty.

    Parameters
    ----------
    run : RUN
        A folder that fit saved with --out.
    to : TOOL
        inspect (for its precomputed_scores), argilla, label-studio, deepeval, openai-evals, csv or parquet.
    out : PATH
        A new file; for csv and parquet a folder.
    system : NAME
        With inspect: the system to export, if there are several.
    overwrite
        Replace a previous export.
    """

    path = write(load(run), to, out, system=system, overwrite=overwrite)
    content = {"run": str(run), "to": to, "out": str(path)}
    console.print_result(content, json, lambda: console.print_saved(path, False))
