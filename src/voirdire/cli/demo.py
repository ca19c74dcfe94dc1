"""The verb ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import console

if TYPE_CHECKING:
    from rich.console import Console

    from voirdire.demo import Demo

FOLDER = Path("voirdire-demo")


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="Save the tables and the fit to this new or empty folder "
            f"({FOLDER} if left out, replaced if it is there).",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Fit an embedded synthetic panel of 12 judges and compare the result with the truth."""
    from voirdire import demo as panel
    from voirdire.store import check_new_folder

    folder, overwrite = (FOLDER, True) if out is None else (out, False)
    check_new_folder(folder, overwrite=overwrite, ours=panel.FILES)
    with console.progress("Fitting the panel") as progress:
        found = panel.run(progress=progress)
        found.save(folder, overwrite=overwrite)
    if json:
        console.emit(found.as_dict())
    else:
        show(found, console.stdout())
    console.saved(folder, json)
    if not json:
        print(f"Try: voirdire fit {folder}/votes.csv --criteria {folder}/criteria.csv")


def show(found: Demo, out: Console) -> None:
    """Print the panel's ranking, judges, criteria and checks beside the truth, and how well it did."""
    from voirdire import demo as panel
    from voirdire.cli import show
    from voirdire.cli.fit import headline

    result, prob = found.fit.as_dict(), found.fit.prob
    out.print(
        f"A synthetic panel whose truth is known: {len(panel.PANEL)} judges, of whom some are good, weak, random or "
        "adversarial, and some always pick the item shown first or second."
    )
    out.print(headline(found.fit))
    parts = (
        show.ranking(result["items"], prob, found.true_ranks()),
        show.judges(result["judges"], prob, found.true_judges()),
        show.criteria(result["criteria"], prob, found.true_weights()),
        show.checks(result["checks"]),
    )
    for part in parts:
        if part is not None:
            out.print()
            out.print(part)
    did = found.measures()
    out.print()
    out.print(
        f"Pairs of items in the true order: {did['concordance']:.0%} "
        f"(majority vote: {did['concordance_majority']:.0%})"
    )
    held = [f"{did[f'{what}_in_interval']} of {did[what]} {what}" for what in ("scores", "judges", "weights")]
    out.print(f"True values in {100 * prob:g}% intervals: {', '.join(held)}")
