"""What verbs write beside what they print: files, and Markdown that may go to stdout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console
from voirdire.folders import write_file


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
    from voirdire.report.verb import check_output

    if json and markdown == "-":
        raise typer.BadParameter("--json and --markdown - both write to stdout; give --markdown a file")
    asked = {"--markdown": None if markdown in (None, "-") else Path(str(markdown)), **others}
    files = [path for path in asked.values() if path is not None]
    if overwrite and not files:
        raise typer.BadParameter(f"--overwrite is for {' and '.join(sorted(asked, reverse=True))}")
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
    if json:
        console.print_json(found)
    elif markdown == "-":
        print(as_markdown(), end="")
    else:
        show(found)
    for path in files:
        console.print_saved(path, json or markdown == "-")
