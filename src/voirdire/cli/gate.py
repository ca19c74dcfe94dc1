"""The verb ``gate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import console
from voirdire.cli.outputs import check_files, write_outputs
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.decide.gate import gate as verdict_on
from voirdire.decide.gate import verdict_sentence
from voirdire.report.gate_page import gate_badge, gate_markdown
from voirdire.settings import PROB

#: Exit codes: 0 passed, 4 failed, 5 inconclusive.
CODES = {"pass": 0, "fail": 4, "inconclusive": 5}


class Order(StrEnum):
    """Order of items."""

    table = "table"
    random = "random"


@add_table_options()
def gate(
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            readable=False,
            help="Judges' answers about the new version: scores or labels. Or one table about both versions: with a "
            "column system, or of votes between them.",
        ),
    ],
    old: Annotated[
        Path | None,
        typer.Argument(
            metavar="OLD",
            readable=False,
            help="The same judges' answers about the old version, to the same items.",
        ),
    ] = None,
    new_name: Annotated[
        str | None,
        typer.Option("--new", metavar="NAME", help="The new version's name in a table about both."),
    ] = None,
    old_name: Annotated[
        str | None,
        typer.Option("--old", metavar="NAME", help="The old version's name in a table about both."),
    ] = None,
    humans: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="People's answers about both versions (column system, or votes) to a random sample of the items; "
            "repeatable. Or --people names judges of the tables.",
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(help="How much worse the new version may be, in the unit of answers.")
    ] = 0.0,
    loss: Annotated[
        float | None,
        typer.Option(
            help="Instead of bounds: how much shipping may cost on average. Not valid at every look."
        ),
    ] = None,
    items: Annotated[
        int,
        typer.Option(help="How many items are planned: bounds are narrowest there. Keep it at all looks."),
    ] = 400,
    order: Annotated[
        Order,
        typer.Option(
            help="As items come in the table, for any number of looks; or by lot, for one look at a finished table."
        ),
    ] = Order.table,
    seed: Annotated[int, typer.Option(help="Seed of the lot.")] = 0,
    prob: Annotated[float, typer.Option(help="Coverage of the interval, over all looks together.")] = PROB,
    markdown: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Write Markdown for a pull request to this file (-: to stdout)."),
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="Write a badge (SVG) to this file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """Decide whether a new version is worse than the old one: pass, fail or inconclusive (exit codes 0, 4, 5)."""

    if badge is not None and badge.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--badge writes SVG, and {badge.name} does not end in .svg")
    check_files(markdown, {"--badge": badge}, json=json, overwrite=overwrite)
    further = list(humans or [])
    tables = reading.tables([new] if old is None else [new, old], further)
    found = verdict_on(
        *tables,
        versions=(new_name, old_name),
        humans=reading.people_tables(humans),
        margin=margin,
        loss=loss,
        items=items,
        order=order.value,
        seed=seed,
        positive=reading.how.positive,
        levels=reading.levels,
        prob=prob,
    )
    badges = {badge: lambda: gate_badge(found)}
    write_outputs(found, markdown, badges, lambda: gate_markdown(found), _show_gate, json=json)
    raise typer.Exit(CODES[found["verdict"]])


def _show_gate(found: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console.stdout_console()
    out.print(Text(verdict_sentence(found, console.printable_text), style="bold"))
    table = Table(box=None, pad_edge=False)
    cells = {
        "compared": found["what"],
        "new - old": f"{found['difference']:+.3f}",
        f"{100 * found['prob']:g}% interval": f"[{found['low']:+.3f}, {found['high']:+.3f}]",
        f"{found['unit']}s": f"{found['n']:,}",
        "judges": f"{len(found['judges']):,}",
        **({"people": f"{found['humans']:,}"} if found["humans"] else {}),
    }
    for head in cells:
        table.add_column(head, justify="left" if head == "compared" else "right")
    table.add_row(*(Text(console.printable_text(cell)) for cell in cells.values()))
    out.print(table)
    out.print(Text(found["rule"]))
    out.print(Text(console.printable_text(f"Note: {found['note']}.")))
