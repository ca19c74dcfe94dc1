"""The verb ``update``."""

from __future__ import annotations

from pathlib import Path

import typer

from voirdire.cli import console
from voirdire.cli.fit import show_fit
from voirdire.cli.options import declare_options
from voirdire.cli.outputs import check_page, exit_at_failed_checks, write_page
from voirdire.cli.reading import TableOptions
from voirdire.fit.store import LAYOUT, load
from voirdire.fit.update import update as run
from voirdire.folders import check_new_folder
from voirdire.report.board_page import board_page


@declare_options("levels")
def update(
    fitted: Path,
    table: list[Path],
    *,
    criteria: Path | None = None,
    out: Path | None = None,
    board: Path | None = None,
    overwrite: bool = False,
    strict: bool = False,
    json: bool = False,
    reading: TableOptions,
) -> None:
    """Update a saved fit with new answers, without fitting all answers again: items, judges, criteria, checks.

    Parameters
    ----------
    fitted : RUN
        A fit that fit or update saved with --out.
    table : TABLE [TABLE]
        New answers, as fit takes them; judges, items and contexts may be known or new.
    criteria : FILE
        New votes on the criteria, or all weights.
    board : FILE
        Write the updated board (HTML, md, tex).
    overwrite
        Replace the content of --out (may be RUN itself) and --board.
    """
    if overwrite and out is None and board is None:
        raise typer.BadParameter("--overwrite is for --out and --board")
    if out is not None:
        check_new_folder(out, LAYOUT, overwrite=overwrite)
    page_format = check_page(board, None, overwrite=overwrite and board is not None)
    saved_fit = load(fitted)
    tables = reading.tables(table, [criteria])
    with console.progress_bar("Bringing the fit up to date"):
        result = run(saved_fit, tables[0] if len(tables) == 1 else tables, reading.people(criteria))
        if out is not None:
            result.save(out, overwrite=overwrite)
    if board is not None:
        write_page(board, lambda: board_page(result, result.board(), board.stem), page_format)
    console.print_result(result.as_dict(), json, lambda: show_fit(result), out, board)
    if strict:
        exit_at_failed_checks(result)
