"""The verb ``watch``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.outputs import check_files, write_outputs
from voirdire.cli.reading import TableOptions
from voirdire.decide.watch import change_sentence, watch_headline
from voirdire.decide.watch import watch as look
from voirdire.report.judge_pages import watch_page
from voirdire.report.output import render_page
from voirdire.settings import PROB

#: Exit codes: 0 nothing changed, 4 a judge changed, 5 too few answers.
EXIT_CODES = {"no change": 0, "changed": 4, "not enough": 5}


@declare_options()
def watch(
    table: Path,
    *,
    humans: list[Path] | None = None,
    state: Path | None = None,
    since: str | None = None,
    alpha: float = 0.05,
    prob: float = PROB,
    out: OutFile = None,
    markdown: str | None = None,
    overwrite: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Test for a change of a judge, valid at every look (exit codes 0 no change, 4 change, 5 too few answers).

    Parameters
    ----------
    table : TABLE|FOLDER
        All answers so far (votes, labels, scores), in order of time or with a column time. Of a folder, all tables in
        the order of their names.
    state : FILE
        Store a digest of the answers here: an answer that is missing or changed at the next look is an error.
    since : TIME
        Use only answers from this time on, to restart after a known change.
    alpha
        Probability of a false alarm, over all judges and looks together.
    out : FILE
        Write a page (HTML) to this file.
    markdown : FILE|-
        Write Markdown to this file (-: to stdout).
    overwrite
        Replace existing files.
    """

    files = check_files(markdown, {"--out": out}, json=json, overwrite=overwrite)
    result = look(
        reading.read_table_or_folder(table, humans or [], [state, *files]),
        reading.people_tables(humans),
        **reading.scale,
        since=since,
        alpha=alpha,
        prob=prob,
        state=state,
    )
    page = watch_page(result, table.name)
    pages = {out: lambda: render_page(page, "html")}
    write_outputs(result, markdown, pages, lambda: render_page(page, "md"), _show_watch, json=json)
    raise typer.Exit(EXIT_CODES[result["verdict"]])


def _show_watch(result: dict[str, Any]) -> None:
    from rich.text import Text

    out = console.stdout_console()
    out.print(Text(console.printable_text(watch_headline(result)), style="bold"))
    for note in result["notes"]:
        console.print_sentence(note)
    for row in result["measures"]:
        if row["found"]:
            console.print_sentence(f"{row['judge']}: {change_sentence(row, result['prob'])}", indent=2)
            console.print_sentence(row["note"], indent=4)
            if row["examples"]:
                console.print_sentence(f"It differs in: {'; '.join(row['examples'])}.", indent=4)
    for row in result["measures"]:
        if row["found"] is False:
            console.print_sentence(
                f"{row['judge']}: {row['what']} {row['value']:.2f}, n = {row['n']:,}: no change found.", indent=2
            )
    unwatched = [row for row in result["measures"] if row["found"] is None]
    for measure_name, note in dict.fromkeys((row["what"], row["note"]) for row in unwatched):
        judges = ", ".join(row["judge"] for row in unwatched if row["what"] == measure_name)
        console.print_sentence(f"Not watched yet: {measure_name} ({judges}). {note}", indent=2)
    console.print_sentence(result["rule"])
