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
    """Make a leaderboard: best item, distinguishable items, expected loss of each choice, answers needed to decide.

    Parameters
    ----------
    table : TABLE [TABLE]
        Votes, scores, or both of the same items, as fit takes them; or any file that import takes.
    by : COLUMN
        Add a board for each value of this column, which groups contexts (such as category).
    method
        As for voirdire fit; map gives no board.
    prices : FILE
        Prices of items: columns item, price. Finds the cheapest item that is good enough.
    margin
        With --prices: largest acceptable difference from the best score.
    out : FILE
        Write the board to this file.
    """

    if (prices is None) != (margin is None):
        raise typer.BadParameter("--prices and --margin go together; give both, or neither")
    page_format = check_page(out, format, overwrite=overwrite)
    settings = asked.settings
    tables = reading.tables(table, anchors or [])
    # check the prices before the slow fit
    price_table = None if prices is None else read_prices(prices, margin or 0.0)
    with console.progress_bar("Fitting the board") as progress:
        fitted = fit(
            tables[0] if len(tables) == 1 else tables,
            anchors=reading.people_tables(anchors),
            **reading.scale,
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


def _show_board(leaderboard: dict[str, Any], fitted: Any) -> None:
    """Print a board as tables."""
    from rich.text import Text

    out = console.stdout_console()
    out.print(Text(console.printable_text(leaderboard["verdict"]), style="bold"))
    for note in leaderboard["notes"]:
        out.print(console.printable_text(note))
    unit = fitted.kind.unit(fitted.problem)
    ranks = {row["item"]: (row["first"], row["last"]) for row in leaderboard["items"]}
    parts: list[Any] = [show.ranking_table(leaderboard["items"], leaderboard["prob"], unit=unit, ranks=ranks)]
    parts += [
        show.ranking_table(group["items"], leaderboard["prob"], title=f"{group['by']}: {group['group']}")
        for group in leaderboard.get("groups", [])
        if "items" in group
    ]
    parts += [show.rate_table(leaderboard["reference"], leaderboard["prob"])]
    parts += [
        show.covariate_table(leaderboard.get("covariates"), leaderboard.get("own_family"), leaderboard["prob"], unit)
    ]
    console.print_parts([*parts, show.model_checks_table(leaderboard["checks"])])
    out.print()
    out.print(
        console.printable_text(" ".join(filter(None, (leaderboard["decision"]["rule"], fitted.decision.settle()))))
    )
