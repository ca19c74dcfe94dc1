"""The verb ``board``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voirdire.cli import console, show
from voirdire.cli.fit import Method
from voirdire.cli.options import (
    About,
    Judges,
    ModelName,
    Order,
    OutFile,
    Over,
    Quick,
    chain_seconds,
    declare_options,
)
from voirdire.cli.outputs import check_page, exit_at_failed_checks, write_page
from voirdire.cli.reading import TableOptions
from voirdire.cli.report import Format
from voirdire.decide.prospects import read_prices
from voirdire.fit.verb import fit
from voirdire.report.board_page import board_page
from voirdire.settings import PROB


@declare_options()
def board(
    table: list[Path],
    *,
    by: str | None = None,
    order: Order | None = None,
    covariates: str | None = None,
    families: Path | None = None,
    item_families: Path | None = None,
    without_own_family: bool = False,
    model: ModelName = None,
    terms: str | None = None,
    anchors: list[Path] | None = None,
    method: Method = "auto",
    over: Over = "new",
    prices: Path | None = None,
    margin: float | None = None,
    about: About | None = None,
    judges: Judges | None = None,
    prob: float = PROB,
    seed: int = 0,
    seconds: float | None = None,
    quick: Quick = False,
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
    written = check_page(out, format, overwrite=overwrite)
    sizes = chain_seconds(seconds, quick, method)
    given = reading.tables(table, anchors or [])
    # before the fit, which takes a while
    priced = None if prices is None else read_prices(prices, margin or 0.0)
    with console.progress_bar("Fitting the board") as progress:
        fitted = fit(
            given[0] if len(given) == 1 else given,
            model=model,
            terms=terms,
            method=method,
            prob=prob,
            seed=seed,
            anchors=reading.people_tables(anchors),
            families=families,
            over=over,
            about=about,
            judges=judges,
            covariates=covariates,
            item_families=item_families,
            without_own_family=without_own_family,
            by=by,
            order=order,
            levels=reading.levels,
            positive=reading.how.positive,
            board=True,
            progress=progress,
            **sizes,
        )
        found = fitted.board(prices=priced, margin=margin or 0.0)
    name = " and ".join(one.stem for one in table)
    write_page(out, lambda: board_page(fitted, found, name), written)
    console.print_result(found, json, lambda: _show_board(found, fitted), out)
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
        show.ranking_table(one["items"], found["prob"], title=f"{one['by']}: {one['group']}")
        for one in found.get("groups", [])
        if "items" in one
    ]
    parts += [show.rate_table(found["reference"], found["prob"])]
    parts += [show.covariate_table(found.get("covariates"), found.get("own_family"), found["prob"])]
    console.print_parts([*parts, show.model_checks_table(found["checks"])])
    out.print()
    out.print(
        console.printable_text(" ".join(filter(None, (found["decision"]["rule"], fitted.decision.settle()))))
    )
