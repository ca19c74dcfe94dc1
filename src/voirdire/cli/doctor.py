"""The verb ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.reading import TableOptions
from voirdire.errors import InputError, gathered_problems
from voirdire.tables.doctor import examine_file, write_reading_options

if TYPE_CHECKING:
    from voirdire.tables.doctor import Findings


@declare_options()
def doctor(files: list[Path], *, keep: bool = False, json: bool = False, reading: TableOptions) -> None:
    """Describe files: content, role of each column, data that verbs lack, unusual values, the command to type.

    Parameters
    ----------
    files : FILE...
        Files that may hold answers of judges.
    keep
        Save the reading options in FILE.reading.toml, where every verb finds them (one file only).
    """

    if keep and len(files) > 1:
        raise typer.BadParameter("--keep is for one file")
    findings: list[Findings] = []
    problems: list[str] = []
    for file in files:
        with gathered_problems(problems):
            findings.append(examine_file(file, reading.reading))
    options_file = write_reading_options(files[0], reading.reading) if keep and not problems else None
    texts = ["\n".join(map(console.printable_text, _finding_lines(finding))) for finding in findings]
    result = {"files": [finding.as_dict() for finding in findings]}
    console.print_result(result, json, lambda: print("\n\n".join(texts), end="\n" * bool(texts)))
    if options_file is not None:
        console.print_note(f"written to {options_file}")
    if problems := [*problems, *(finding.error for finding in findings if finding.error)]:
        raise InputError(problems)


def _finding_lines(findings: Findings) -> list[str]:
    description = "a table" if findings.tool == "table" else f"a file of {findings.tool}"
    lines = [f"{findings.file}: {description} ({findings.wrapping})"]
    if findings.columns:
        lines.append("columns")
        width = max(len(column.name) for column in findings.columns)
        lines += [f"  {_column_line(column, width)}" for column in findings.columns]
    if findings.error is None:
        lines.append(f"read as {findings.rows_in_words}; judges: {findings.judges:,}, items: {findings.items:,}")
    if findings.stands_out:
        lines.append("to know")
        lines += [f"  {sentence}" for sentence in findings.stands_out]
    if findings.error is None:
        ready = [verb for verb in ("fit", "board", "agree", "metaeval", "replace") if verb not in findings.lacks]
        lines.append(f"ready for {', '.join(ready) or 'nothing yet'}")
        lines += [f"  {verb} needs {description}" for verb, description in findings.lacks.items()]
    if findings.command:
        lines.append(f"{'type' if findings.error is None else 'if so, type'}: {findings.command}")
    return lines


def _column_line(column: Any, width: int) -> str:
    role_text = f"is {column.read_as}" if column.read_as else "stays as it is"
    empty = f", {column.empty:,} empty" if column.empty else ""
    return f"{column.name:<{width}}  {role_text:<15} {column.holds}{empty}"
