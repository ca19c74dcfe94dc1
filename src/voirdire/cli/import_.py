"""The verb ``import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import console
from voirdire.cli.options import ColumnNames, KeepDegrees, WideTable, WinnerWords
from voirdire.errors import InputError

_SETTINGS = ("baseline", "judge", "system", "questions")


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            readable=False,
            allow_dash=True,
            help="Files of AlpacaEval, MT-bench, LMArena, Arena-Hard, Inspect, promptfoo, DeepEval, lm-eval, Langfuse, "
            "LangSmith, Argilla, Label Studio, Potato, Crowd-Kit, JudgeBench, PandaLM, ..., or tables (CSV, TSV, JSON, "
            "JSONL, Parquet, XLSX; .gz, .zst; - is standard input).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", readable=False, help="Write the tables into this new or empty folder."),
    ],
    tool: Annotated[
        str | None, typer.Option("--from", metavar="TOOL", help="The tool; default: what the content says.")
    ] = None,
    columns: ColumnNames = None,
    winners: WinnerWords = None,
    wide: WideTable = None,
    table: Annotated[
        str | None, typer.Option(metavar="KIND", help="What a table holds: votes, scores or labels.")
    ] = None,
    degrees: KeepDegrees = False,
    sep: Annotated[str | None, typer.Option(help="What separates columns; default: found out.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="What a file does not say: baseline, judge, system, questions (a,b); repeatable.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace tables imported before.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Turn files of other tools into tables of votes, scores and labels; what is refused is listed with its reason."""
    from voirdire.tables.formats.folder import import_files
    from voirdire.tables.formats.format import Asked

    given = pairs("--set", settings or [])
    if alien := sorted(given.keys() - set(_SETTINGS)):
        raise InputError(f"--set {alien[0]}: is none of {', '.join(_SETTINGS)}")
    asked = Asked(
        given.get("baseline"),
        given.get("judge"),
        given.get("system"),
        tuple(filter(None, given.get("questions", "").split(","))),
        **_named(columns, winners, wide),
        table=table,
        degrees=degrees,
    )
    mark = {"tab": "\t", "\\t": "\t"}.get(sep or "", sep)
    found = import_files(files, out, tool, asked, sep=mark, overwrite=overwrite)
    if json:
        tables = {name: str(out / f"{name}.csv") for name in found.counts}
        console.emit(
            {
                "formats": found.formats,
                "rows": found.counts,
                "tables": tables,
                "position": "unknown" if found.order_unknown else "known",
                "notes": list(found.notes),
            }
        )
    else:
        screen = console.stdout()
        for path, name in found.formats.items():
            screen.print(console.plain(f"{path}: {name}"))
        for name, count in found.counts.items():
            screen.print(console.plain(f"{out / name}.csv: {count:,} rows"))
        for note in found.notes:
            screen.print(console.plain(f"Note: {note}"))
    console.saved(out, json)


def _named(columns: str | None, winners: str | None, wide: str | None) -> dict[str, Any]:
    return {
        "columns": pairs("--map", columns.split(",")) if columns else None,
        "winners": pairs("--winners", winners.split(",")) if winners else None,
        "wide": wide,
    }


def as_named(
    files: list[Path],
    columns: str | None,
    winners: str | None,
    wide: str | None,
    kind: str | None,
    degrees: bool = False,
) -> list[Any]:
    """Files as they are, or, where options say how their columns are to be read, as tables."""
    from voirdire.tables.formats.format import Asked
    from voirdire.tables.formats.taken import as_asked

    asked = Asked(**_named(columns, winners, wide), degrees=degrees)
    return [as_asked(file, asked, kind) for file in files]


def one_or_all(files: list[Path] | None) -> Path | list[Path] | None:
    """What a repeatable option gave: the one file, or all of them; None without."""
    return files[0] if files and len(files) == 1 else files or None


def pairs(option: str, given: list[str]) -> dict[str, str]:
    """KEY=VALUE settings.

    Raises
    ------
    InputError
        One is no pair, or a key is given twice.

    Examples
    --------
    >>> pairs("--map", ["judge=grader", "first=model_a"])
    {'judge': 'grader', 'first': 'model_a'}
    """
    found: dict[str, str] = {}
    problems = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value:
            problems.append(f"{option} {text!r} is not KEY=VALUE")
        elif name.strip() in found:
            problems.append(f"{option} {name.strip()!r} is given twice; give it once")
        found[name.strip()] = value
    if problems:
        raise InputError(problems)
    return found
