"""Formats of pages, and checks of the files to which they are written."""

from __future__ import annotations

import os
from pathlib import Path

from voirdire.errors import InputError
from voirdire.report.html import html_page
from voirdire.report.page import Page
from voirdire.report.text_formats import latex_tables, markdown_page

#: Formats and the ending of their files.
FORMATS = {"html": ".html", "md": ".md", "latex": ".tex"}
_RENDERERS = {"html": html_page, "md": markdown_page, "latex": latex_tables}


def render_page(page: Page, format: str) -> str:
    """Write a page in one of the formats "html", "md" and "latex".

    Raises
    ------
    InputError
        The format is unknown.
    """
    return _RENDERERS[check_format(None, format)](page)


def check_format(output: str | Path | None, format: str | None) -> str:
    """Return the given format, else that of the file's ending, else "html".

    Raises
    ------
    InputError
        The format is unknown.

    Examples
    --------
    >>> check_format("a.tex", None), check_format(None, None), check_format("a.txt", "md")
    ('latex', 'html', 'md')
    """
    if format is None:
        endings = {ending: name for name, ending in FORMATS.items()}
        return endings.get(Path(output or "").suffix.lower(), "html")
    if format not in FORMATS:
        raise InputError(f"format {format!r} is none of {', '.join(FORMATS)}")
    return format


def check_output(path: Path, *, overwrite: bool) -> None:
    """Raise an error if a file cannot be written, before any work is done.

    Raises
    ------
    InputError
        It is a folder, it exists and ``overwrite`` is False, or its folder does not exist or is not writable.
    """
    prefix = f"output {path}:"
    if path.is_dir():
        raise InputError(f"{prefix} is a folder; name a file in it")
    if path.exists() and not overwrite:
        raise InputError(f"{prefix} exists; name another file or pass --overwrite (overwrite=True)")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{prefix} there is no folder {parent}; create it or name another")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{prefix} cannot be written, {parent} is not yours to write; name another")


def check_new_file(path: Path | None) -> None:
    """Raise an error if a new file exists already or cannot be written, before any work is done.

    Raises
    ------
    InputError
    """
    if path is None:
        return
    if path.exists():
        raise InputError(f"{path} exists already; give the name of a new file")
    check_output(path, overwrite=False)
