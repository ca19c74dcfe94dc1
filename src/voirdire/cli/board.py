"""The verb ``board``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console, show
from voirdire.cli.options import FitOptions, OutFile, declare_options
from voirdire.cli.outputs import check_page, exit_at_failed_checks, write_page
from voirdire.cli.reading import TableOptions
from voirdire.cli.report import Format
from voirdire.decide.choice_cost import read_prices
from voirdire.decide.decision import check_decidable
from voirdire.fit.verb import fit
from voirdire.report.board_page import board_page


@declare_options()
def board(
    table: list[Path],
    *,
    asked: FitOptions,
    anchors: list[Path] | None = None,
    prices: Path | None = None,
    margin: float | None = None,
    out: OutFile = None,
    format: Format | None = None,
    overwrite: bool = False,
    strict: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """A leaderboard: what is best, which items are distinguishable, what a choice may cost, what would settle it.

    Parameters
    ----------
    table : TABLE [TABLE]
        Votes, scores, or both of the same items, as fit takes them; or any file that import takes.
    by : COLUMN
        Groups of contexts, such as category: a board of each, too.
    method
        As of fit; map gives no board.
    prices : FILE
        Columns item, price: which item that is good enough costs least.
    margin
        With --prices: how much worse than the best, in scores, is good enough.
    out : FILE
        Write the board to this file.
    """

    if (prices is None) != (margin is None):
        raise typer.BadParameter("--prices and --margin go together; give both, or neither")
    page_format = check_page(out, format, overwrite=overwrite)
    settings = asked.settings
    tables = reading.tables(table, anchors or [])
    # before the fit, which takes a while
    price_table = None if prices is None else read_prices(prices, margin or 0.0)
    with console.progress_bar("Fitting the board") as progress:
        fitted = fit(
            tables[0] if len(tables) == 1 else tables,
            anchors=reading.people_tables(anchors),
            levels=reading.levels,
            positive=reading.reading.positive,
            board=True,
            check=lambda problem: check_decidable(problem, price_table, margin or 0.0),
            progress=progress,
            **settings,
        )
        leaderboard = fitted.board(prices=price_table, margin=margin or 0.0)
    name = " and ".join(path.stem for path in table)
    write_page(out, lambda: board_page(fitted, leaderboard, name), page_format)
    console.print_result(leaderboard, json, lambda: _show_board(leaderboard, fitted), out)
    if strict:
        exit_at_failed_checks(fitted)


def _show_board(found: dict[str, Any], fitted: Any) -> None:
    """Print a board as tables."""
    from rich.text import Text

    out = console.stdout_console()
    out.print(Text(console.printable_text(found["verdict"]), style="bold"))
    for note in found["notes"]:
        out.print(console.printable_text(note))
    unit = fitted.kind.unit(fitted.problem)
    ranks = {row["item"]: (row["first"], row["last"]) for row in found["items"]}
    parts: list[Any] = [show.ranking_table(found["items"], found["prob"], unit=unit, ranks=ranks)]
    parts += [
        show.ranking_table(group["items"], found["prob"], title=f"{group['by']}: {group['group']}")
        for group in found.get("groups", [])
        if "items" in group
    ]
    parts += [show.rate_table(found["reference"], found["prob"])]
    parts += [show.covariate_table(found.get("covariates"), found.get("own_family"), found["prob"], unit)]
    console.print_parts([*parts, show.model_checks_table(found["checks"])])
    out.print()
    out.print(
        console.printable_text(" ".join(filter(None, (found["decision"]["rule"], fitted.decision.settle()))))
    )
