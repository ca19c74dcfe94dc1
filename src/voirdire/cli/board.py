"""The verb ``board``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import complete, console, show
from voirdire.cli.fit import FAILED_CHECK, Method
from voirdire.cli.options import (
    AboutWhat,
    Anchors,
    Covariates,
    ItemFamilies,
    JudgesAre,
    OrderShown,
    Over,
    OverContexts,
    Quick,
    Seconds,
    Terms,
    WithoutOwnFamily,
    chain_seconds,
)
from voirdire.cli.reading import TableOptions, add_table_options
from voirdire.cli.report import Format
from voirdire.decide.prospects import read_prices
from voirdire.fit.verb import fit
from voirdire.folders import write_file
from voirdire.report.board_page import board_page
from voirdire.report.verb import check_format, check_output, render_page
from voirdire.settings import PROB


@add_table_options()
def board(
    table: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE [TABLE]",
            readable=False,
            help="Votes, scores, or both of the same items, as fit takes them; or any file that import takes.",
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Groups of contexts, such as category: a board of each, too."),
    ] = None,
    order: OrderShown = None,
    covariates: Covariates = None,
    families: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Families of judges: columns judge, family."),
    ] = None,
    item_families: ItemFamilies = None,
    without_own_family: WithoutOwnFamily = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", autocompletion=complete.matching_models, help="As of fit."),
    ] = None,
    terms: Terms = None,
    anchors: Anchors = None,
    method: Annotated[Method, typer.Option(help="As of fit; map gives no board.")] = Method.auto,
    over: OverContexts = Over.new,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="Columns item, price: which item that is good enough costs least.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="With --prices: how much worse than the best, in scores, is good enough."),
    ] = None,
    about: AboutWhat = None,
    judges: JudgesAre = None,
    prob: Annotated[float, typer.Option(help="Probability of the intervals.")] = PROB,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    seconds: Seconds = None,
    quick: Quick = False,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", readable=False, help="Write the board to this file."),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="Of --out: html, md or latex (default: by the file's ending).")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 3 if a check failed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")] = False,
    *,
    reading: TableOptions,
) -> None:
    """A leaderboard: what is best, which items are distinguishable, what a choice may cost, what would settle it."""

    if (prices is None) != (margin is None):
        raise typer.BadParameter("--prices and --margin go together; give both, or neither")
    if out is None and (overwrite or format is not None):
        raise typer.BadParameter(f"--{'overwrite' if overwrite else 'format'} is for --out")
    if out is not None:
        written = check_format(out, None if format is None else format.value)
        check_output(out, overwrite=overwrite)
    sizes = chain_seconds(seconds, quick, method.value)
    given = reading.tables(table, anchors or [])
    # before the fit, which takes a while
    priced = None if prices is None else read_prices(prices, margin or 0.0)
    with console.progress_bar("Fitting the board") as progress:
        fitted = fit(
            given[0] if len(given) == 1 else given,
            model=model,
            terms=terms,
            method=method.value,
            prob=prob,
            seed=seed,
            anchors=reading.people_tables(anchors),
            families=families,
            over=over.value,
            about=None if about is None else about.value,
            judges=None if judges is None else judges.value,
            covariates=covariates,
            item_families=item_families,
            without_own_family=without_own_family,
            by=by,
            order=None if order is None else order.value,
            levels=reading.levels,
            positive=reading.how.positive,
            board=True,
            progress=progress,
            **sizes,
        )
        found = fitted.board(prices=priced, margin=margin or 0.0)
    if out is not None:
        write_file(
            out, render_page(board_page(fitted, found, " and ".join(one.stem for one in table)), written)
        )
    if json:
        console.print_json(found)
    else:
        _show_board(found, fitted)
    if out is not None:
        console.print_saved(out, json)
    if strict and fitted.level == "fail":
        console.print_error(
            f"failed checks: {', '.join(c['check'] for c in found['checks'] if c['level'] == 'fail')}"
        )
        raise typer.Exit(FAILED_CHECK)


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
    parts += [show.covariate_table(found.get("covariates"), found.get("own_family"), found["prob"], unit)]
    for part in [*parts, show.model_checks_table(found["checks"])]:
        if part is not None:
            out.print()
            out.print(part)
    out.print()
    out.print(
        console.printable_text(" ".join(filter(None, (found["decision"]["rule"], fitted.decision.settle()))))
    )
