"""The verb ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli import console
from voirdire.cli.fit import headline
from voirdire.folders import check_new_folder

if TYPE_CHECKING:
    from rich.console import Console

    from voirdire.cli.demo_panel import Demo

FOLDER = Path("voirdire-demo")


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="Save the tables, the fit and its report to this new or empty folder "
            f"({FOLDER} if left out, replaced if it is there).",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
) -> None:
    """Fit the embedded panel of 8 judges, two small language models among them, and compare with the grades."""
    from voirdire.cli import demo_panel as panel

    folder, overwrite = (FOLDER, True) if out is None else (out, False)
    check_new_folder(folder, panel.layout(), overwrite=overwrite)
    with console.progress("Fitting the panel") as progress:
        found = panel.run(progress=progress)
    with console.progress("Writing the report"):
        found.save(folder, overwrite=overwrite)
    report = folder / panel.REPORT
    if json:
        console.emit(found.as_dict() | {"report": str(report)})
    else:
        show(found, console.stdout())
    console.saved(folder, json)
    if not json:
        print(f"Report: {console.plain(str(report))}")
        print("The default method goes on by chains (half a minute, wider intervals):")
        print(f"Try: voirdire fit {folder}/votes.csv --criteria {folder}/criteria.csv")


def show(found: Demo, out: Console) -> None:
    """Print the panel's ranking beside the grades, its judges, criteria and checks, and what it comes to."""
    from voirdire.cli import show

    result, prob, decision = found.fit.as_dict(), found.fit.prob, found.fit.decision
    out.print(
        "Two very small language models at two temperatures each, and four rules, compared 12 texts, each pair in "
        "both orders. Those who wrote the texts graded them (column true)."
    )
    out.print(headline(found.fit))
    parts = (
        show.ranking(result["items"], prob, found.graded_ranks(), ranks=decision and decision.ranks),
        show.judges(result["judges"], prob),
        show.criteria(result["criteria"], prob),
        show.checks(result["checks"]),
    )
    for part in parts:
        if part is not None:
            out.print()
            out.print(part)
    did = found.measures()
    out.print()
    out.print(
        f"Pairs of texts in the graded order: {did['concordance']:.0%} "
        f"(majority vote: {did['concordance_majority']:.0%})"
    )
    counted = {row["judge"]: row for row in found.judges()}
    models = [row for name, row in counted.items() if name.startswith(("gemma", "smollm"))]
    low, high = (pick(row["as_graded"] for row in models) for pick in (min, max))
    out.print(
        f"The language models alone picked the text graded higher {low:.0%} to {high:.0%} of the time (a coin: 50%), "
        f"and gemma-0.3 the text shown first {counted['gemma-0.3']['first_rate']:.0%}. The order comes from the rule "
        "that prefers longer texts: the fit can tell who is consistent, not who is right."
    )
