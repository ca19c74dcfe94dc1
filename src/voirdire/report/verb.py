"""Verb ``report``: a run as an HTML page, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.folders import write_file
from voirdire.report.fit_page import fit_page
from voirdire.report.output import FORMATS, check_format, check_output, render_page
from voirdire.report.page import Page
from voirdire.report.rows_page import rows_page
from voirdire.report.sources import SavedRows, StudyRun, read_run
from voirdire.report.study_page import study_page

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit


def report_page(run: str | Path | Fit | SavedRows | StudyRun, human: Sequence[str] = ()) -> Page:
    """Make the report of a run, independent of the format.

    Raises
    ------
    InputError
        As in :func:`voirdire.report.sources.read_run`; ``human`` names no judge, or the run is no fit.
    """
    content = read_run(run) if isinstance(run, str | Path) else run
    if isinstance(content, SavedRows | StudyRun) and human:
        raise InputError("--human is for the report of a fit; this run is none")
    if isinstance(content, SavedRows):
        return rows_page(content)
    if isinstance(content, StudyRun):
        return study_page(content)

    return fit_page(content, human)


def report(
    run: str | Path | Fit | SavedRows | StudyRun,
    out: str | Path | None = None,
    *,
    format: str | None = None,
    human: Sequence[str] = (),
    overwrite: bool = False,
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    run : path, Fit, SavedRows or StudyRun
        Folder that ``fit``, ``agree``, ``metaeval`` or ``simulate`` saved, or result of :func:`.sources.read_run`.
    out : path, optional
        File to write; by default ``report`` with the format's ending, in the current folder.
    format : "html", "md" or "latex", optional
        Format; by default that of the ending of ``out``, else "html".
    human : sequence of str
        Judges of a fit's table who are people.
    overwrite : bool
        True to replace an existing file.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    InputError
        The run does not exist, the format is unknown, or the output exists already or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from voirdire.fit.verb import fit
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report(fit(table, model="bradley-terry"), folder + "/report.md")
    ...     path.read_text().splitlines()[0]
    '# Report of a judge panel: x, y'
    """
    file_format = check_format(out, format)
    path = Path(out) if out is not None else Path(f"report{FORMATS[file_format]}")
    check_output(path, overwrite=overwrite)
    write_file(path, render_page(report_page(run, human), file_format))
    return path
