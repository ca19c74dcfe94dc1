"""The verb ``ask``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli import console
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.collect.ask.page import write_page as write


@add_table_options()
def ask(
    questions: Annotated[
        Path,
        typer.Argument(
            readable=False,
            metavar="QUESTIONS",
            help="What to ask: first, second (as voirdire next --out writes), or item and an empty column score or "
            "label.",
        ),
    ],
    items: Annotated[
        Path,
        typer.Option(metavar="FILE", readable=False, help="The texts: id, text (and context or source)."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", readable=False, help="The page, a new file.")],
    task: Annotated[str | None, typer.Option(metavar="TEXT", help="What is asked, in your words.")] = None,
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Whether neither may be better.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the order of questions and of the sides.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Write a page that asks people: one file, no server; it gives answers-NAME.csv, a table for --anchors."""

    made = write(
        questions,
        items,
        out,
        levels=reading.levels,
        ties=ties,
        task=task,
        seed=seed,
    )
    if json:
        console.print_json({"page": str(made)})
    else:
        print(
            f"Written to {console.printable_text(str(made))}: send it to people, who send back answers-NAME.csv for "
            f"--anchors"
        )
