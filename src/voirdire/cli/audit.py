"""The verb ``audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voirdire.cli import console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.outputs import check_page, write_page
from voirdire.cli.reading import TableOptions, split_commas
from voirdire.cli.report import Format
from voirdire.decide.audit import audit as cards
from voirdire.report.judge_pages import audit_page
from voirdire.settings import PROB


@declare_options()
def audit(
    table: Path,
    *,
    humans: list[Path] | None = None,
    families: Path | None = None,
    item_families: Path | None = None,
    covariates: list[str] | None = None,
    prob: float = PROB,
    seed: int = 0,
    out: OutFile = None,
    format: Format | None = None,
    overwrite: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Make a card of each judge: agreement with people, biases, self-consistency, advice to keep it or not.

    Parameters
    ----------
    item_families : FILE
        Families of items: columns item, family.
    covariates : A,B,...
        Numeric columns that may bias answers (votes: NAME_first, NAME_second). Default: length.
    prob
        Coverage of the intervals.
    seed
        Seed of the resamples.
    out : FILE
        Write the cards to this file.
    """
    page_format = check_page(out, format, overwrite=overwrite)
    audited = cards(
        reading.table(table, humans or []),
        reading.people_tables(humans),
        families=families,
        item_families=item_families,
        covariates=split_commas(covariates),
        **reading.scale,
        prob=prob,
        seed=seed,
    )
    write_page(out, lambda: audit_page(audited, table.stem), page_format)
    console.print_result(audited, json, lambda: _show_audit(audited), out)


def _show_audit(audited: dict[str, Any]) -> None:
    from rich.text import Text

    out = console.stdout_console()
    for card in audited["judges"]:
        out.print(Text(console.printable_text(f"{card['judge']}: {card['verdict']}"), style="bold"))
        console.print_sentence(card["why"], indent=2)
        for row in card["measures"]:
            interval = "" if row["low"] is None else f" [{row['low']:.3g}, {row['high']:.3g}]"
            value = "-" if row["value"] is None else f"{row['value']:.3g}"
            console.print_sentence(f"{row['measure']} {value}{interval}, n = {row['n']}: {row['note']}", indent=4)
    if audited["panel"]:
        out.print(
            f"{audited['panel']['judges']} judges carry as much information as about "
            f"{audited['panel']['effective']:.1f} independent judges."
        )
    for row in audited["needs"]:
        out.print(Text(console.printable_text(f"Not measured: {row['measure']}. It takes {row['needs']}.")))
    out.print(Text(audited["rule"]))
