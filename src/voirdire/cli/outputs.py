"""Files that verbs write, Markdown that may go to stdout, and the exit at failed checks."""

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
    """The format of a page that ``--out`` may ask for; raise where it cannot be written, before any work is done.

    Raises
    ------
    typer.BadParameter
        There is no page to overwrite, or to have a format.
    InputError
        As `check_output`.
    """
    if out is None and (overwrite or format is not None):
        raise typer.BadParameter(f"--{'overwrite' if overwrite else 'format'} is for --out")
    page_format = check_format(out, format)
    if out is not None:
        check_output(out, overwrite=overwrite)
    return page_format


def write_page(out: Path | None, page: Callable[[], Page], format: str) -> None:
    """Write a page where there is a path for it."""
    if out is not None:
        write_file(out, render_page(page(), format))


def exit_at_failed_checks(fit: Any) -> None:
    """Print the failed checks of a fit, and exit, if there are any."""
    if fit.level == "fail":
        failed = ", ".join(check.check for check in fit.all_checks if check.level == "fail")
        console.print_error(f"failed checks: {failed}")
        raise typer.Exit(FAILED_CHECK_CODE)


def check_files(
    markdown: str | None, others: Mapping[str, Path | None], *, json: bool, overwrite: bool
) -> list[Path]:
    """Files that are to be written, each of which may be; ``others`` are by option, ``markdown`` is "-" for stdout.

    Raises
    ------
    typer.BadParameter
        Two things for stdout, or nothing to overwrite.
    InputError
        A file is there, or cannot be written.
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
    found: dict[str, Any],
    markdown: str | None,
    contents: Mapping[Path | None, Callable[[], str]],
    as_markdown: Callable[[], str],
    show: Callable[[dict[str, Any]], None],
    *,
    json: bool,
) -> None:
    """Write files, each where there is a path, and print JSON, Markdown or what ``show`` prints."""
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
        console.print_result(found, json, lambda: show(found), *files)
