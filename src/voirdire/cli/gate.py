"""The verb ``gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from voirdire.cli import console
from voirdire.cli.options import declare_options
from voirdire.cli.outputs import check_files, write_outputs
from voirdire.cli.reading import TableOptions
from voirdire.decide.gate import gate as verdict_on
from voirdire.decide.gate import verdict_sentence
from voirdire.report.gate_page import gate_badge, gate_markdown
from voirdire.settings import PROB

#: Exit codes: 0 passed, 4 failed, 5 inconclusive.
EXIT_CODES = {"pass": 0, "fail": 4, "inconclusive": 5}

Order = Literal["table", "random"]


@declare_options()
def gate(
    new: Path,
    old: Path | None = None,
    *,
    new_name: Annotated[str | None, typer.Option("--new")] = None,
    old_name: Annotated[str | None, typer.Option("--old")] = None,
    humans: list[Path] | None = None,
    margin: float = 0.0,
    loss: float | None = None,
    items: int = 400,
    order: Order = "table",
    seed: int = 0,
    prob: float = PROB,
    markdown: str | None = None,
    badge: Path | None = None,
    overwrite: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Decide whether a new version is worse than the old one: pass, fail or inconclusive (exit codes 0, 4, 5).

    Parameters
    ----------
    new : NEW
        Judges' answers about the new version: scores or labels. Or one table about both versions: with a column system,
        or votes between the versions.
    old : OLD
        The same judges' answers about the old version, for the same items.
    new_name : NAME
        The new version's name in a table about both.
    old_name : NAME
        The old version's name in a table about both.
    humans : FILE
        People's answers about both versions (column system, or votes) to a random sample of the items; repeatable. Or
        name people in the tables by --people.
    margin
        Largest acceptable deterioration of the new version, in the unit of the answers.
    loss
        Instead of bounds: largest acceptable expected loss of shipping. Not valid for repeated looks.
    items
        Planned number of items, where the bounds are narrowest. Keep it the same at all looks.
    order
        Order of the items. table: as in the table, valid for any number of looks; random: for one look at a finished
        table.
    seed
        Seed of the random order.
    prob
        Coverage of the interval, over all looks together.
    markdown : FILE|-
        Write Markdown for a pull request to this file (-: to stdout).
    badge : FILE
        Write a badge (SVG) to this file.
    overwrite
        Replace existing files.
    """

    if badge is not None and badge.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--badge writes SVG, and {badge.name} does not end in .svg")
    check_files(markdown, {"--badge": badge}, json=json, overwrite=overwrite)
    people_paths = list(humans or [])
    tables = reading.tables([new] if old is None else [new, old], people_paths)
    verdict = verdict_on(
        *tables,
        versions=(new_name, old_name),
        humans=reading.people_tables(humans),
        margin=margin,
        loss=loss,
        items=items,
        order=order,
        seed=seed,
        **reading.scale,
        prob=prob,
    )
    badges = {badge: lambda: gate_badge(verdict)}
    write_outputs(verdict, markdown, badges, lambda: gate_markdown(verdict), _show_gate, json=json)
    raise typer.Exit(EXIT_CODES[verdict["verdict"]])


def _show_gate(verdict: dict[str, Any]) -> None:
    from rich.text import Text

    out = console.stdout_console()
    out.print(Text(verdict_sentence(verdict, console.printable_text), style="bold"))
    cells = {
        "compared": verdict["what"],
        "new - old": f"{verdict['difference']:+.3f}",
        f"{100 * verdict['prob']:g}% interval": f"[{verdict['low']:+.3f}, {verdict['high']:+.3f}]",
        f"{verdict['unit']}s": f"{verdict['n']:,}",
        "judges": f"{len(verdict['judges']):,}",
        **({"people": f"{verdict['humans']:,}"} if verdict["humans"] else {}),
    }
    out.print(console.fill_table(console.empty_table(shape=None, gap=2), [cells], ["compared"]))
    out.print(Text(verdict["rule"]))
    out.print(Text(console.printable_text(f"Note: {verdict['note']}.")))
