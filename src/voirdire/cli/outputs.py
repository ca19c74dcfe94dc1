"""Output files of verbs, Markdown on stdout, and the exit code of failed checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console
from voirdire.folders import write_file
from voirdire.report.output import check_format, check_output, render_page
from voirdire.report.page import Page

FAILED_CHECK_CODE = 3


def check_page(out: Path | None, format: str | None, *, overwrite: bool) -> str:
    """Return the format of the page for ``--out``; raise if it cannot be written, before any work is done.

    Raises
    ------
    typer.BadParameter
        ``overwrite`` or ``format`` is given without ``out``.
    InputError
        See `check_output`.
    """
    if out is None and (overwrite or format is not None):
        raise typer.BadParameter(f"--{'overwrite' if overwrite else 'format'} is for --out")
    page_format = check_format(out, format)
    if out is not None:
        check_output(out, overwrite=overwrite)
    return page_format


def write_page(out: Path | None, page: Callable[[], Page], format: str) -> None:
    """Write a page, unless ``out`` is None."""
    if out is not None:
        write_file(out, render_page(page(), format))


def exit_at_failed_checks(fit: Any) -> None:
    """Print the failed checks of a fit and exit, if there are any."""
    if fit.level == "fail":
        failed = ", ".join(check.check for check in fit.all_checks if check.level == "fail")
        console.print_error(f"failed checks: {failed}")
        raise typer.Exit(FAILED_CHECK_CODE)


def check_files(markdown: str | None, others: Mapping[str, Path | None], *, json: bool, overwrite: bool) -> list[Path]:
    """Return the files to write; ``others`` holds paths by option, ``markdown`` is "-" for stdout.

    Raises
    ------
    typer.BadParameter
        Both JSON and Markdown go to stdout, or there is no file to overwrite.
    InputError
        A file exists, or cannot be written.
    """
    if json and markdown == "-":
        raise typer.BadParameter("--json and --markdown - both write to stdout; give --markdown a file")
    option_paths = {"--markdown": None if markdown in (None, "-") else Path(str(markdown)), **others}
    files = [path for path in option_paths.values() if path is not None]
    if overwrite and not files:
        raise typer.BadParameter(f"--overwrite is for {' and '.join(sorted(option_paths, reverse=True))}")
    for path in files:
        check_output(path, overwrite=overwrite)
    return files


def write_outputs(
    result: dict[str, Any],
    markdown: str | None,
    contents: Mapping[Path | None, Callable[[], str]],
    as_markdown: Callable[[], str],
    show: Callable[[dict[str, Any]], None],
    *,
    json: bool,
) -> None:
    """Write the files whose path is not None; print JSON, print Markdown, or call ``show``."""
    if markdown not in (None, "-"):
        contents = {Path(str(markdown)): as_markdown, **contents}
    files = {path: content for path, content in contents.items() if path is not None}
    for path, content in files.items():
        write_file(path, content())
    if markdown == "-":
        print(as_markdown(), end="")
        for path in files:
            console.print_saved(path, True)
    else:
        console.print_result(result, json, lambda: show(result), *files)
