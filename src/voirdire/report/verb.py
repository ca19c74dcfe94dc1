"""The verb ``report``: from a run to a page, Markdown or LaTeX."""

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
    """The report of a run, not yet in any format.

    Raises
    ------
    InputError
        As :func:`voirdire.report.sources.read_run`; a human who is no judge, or for a run that is no fit.
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
        A folder that ``fit``, ``agree``, ``metaeval`` or ``simulate`` saved, or what :func:`.sources.read_run` gives.
    out : path, optional
        The file; by default ``report`` with the format's ending, in the current folder.
    format : "html", "md" or "latex", optional
        By default by the ending of ``out``, else "html".
    human : sequence of str
        Judges of a fit's table who are people.
    overwrite : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        No such run, an unknown format, or an output that is there already or cannot be written.

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
