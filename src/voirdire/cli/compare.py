"""The verb ``compare``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from voirdire.cli import console
from voirdire.cli.console import printable_text, stdout_console
from voirdire.cli.options import OutFile, declare_options
from voirdire.cli.outputs import check_page, write_page
from voirdire.cli.report import Format
from voirdire.cli.show import MAX_ROWS, titled_table
from voirdire.report import page
from voirdire.report.compare import compare_fits as run
from voirdire.report.compare import compare_page, read_fits
from voirdire.report.table import Cell, Table

_REMOVE_ISOLATES = str.maketrans("", "", "\u2068\u2069")


@declare_options()
def compare(
    runs: list[Path], *, out: OutFile = None, format: Format | None = None, overwrite: bool = False, json: bool = False
) -> None:
    """Compare fits: rank correlation, items that change rank, leave-one-out predictions, judges' reliability.

    Parameters
    ----------
    runs : RUN...
        Two or more folders that fit saved with --out.
    out : FILE
        Write an HTML page, Markdown or LaTeX tables to this file.
    format
        Format of --out (default: by the file's ending, or html).
    """
    page_format = check_page(out, format, overwrite=overwrite)
    comparison = run(read_fits(runs))
    if json:
        console.print_json(comparison.as_dict())
    if out is not None:
        write_page(out, lambda: compare_page(comparison), page_format)
        (console.print_note if json else print)(f"Report: {console.printable_text(str(out))}")
    elif not json:
        _print_page(compare_page(comparison))


def _print_page(shown: page.Page) -> None:
    """Print a page of texts and tables; only the first rows of long tables."""
    out = stdout_console()
    out.print(Text(_plain_text(shown.title), style="bold"))
    for section in shown.sections:
        out.print()
        out.print(Text(_plain_text(section.title), style="bold"))
        for block in section.blocks:
            for part in _block_parts(block):
                out.print(part)


def _block_parts(block: page.Block) -> Iterator[RenderableType]:
    if isinstance(block, page.Text):
        yield Text(_plain_text(block.text))
    elif isinstance(block, Table):
        yield Text()
        yield from _table_parts(block)


def _table_parts(block: Table) -> Iterator[RenderableType]:
    rows, footnotes = block.table_cells()
    table = titled_table(_plain_text(block.caption))
    for column in block.columns:
        table.add_column(
            Text(_plain_text(column.head)), justify="left" if column.kind == "text" else "right", overflow="fold"
        )
    for row in rows[:MAX_ROWS]:
        table.add_row(*map(_cell_text, row))
    yield table
    if len(rows) > MAX_ROWS:
        yield Text(f"and {len(rows) - MAX_ROWS} more rows: --json and --out hold them all")
    for number, note in enumerate(footnotes, start=1):
        yield Text(_plain_text(f"{number}: {note}"))
    for note in block.notes:
        yield Text(_plain_text(note))


def _cell_text(cell: Cell) -> Text:
    shown = f"{cell.text} {cell.interval}".strip()
    return Text(_plain_text(shown if cell.footnote is None else f"{shown} ({cell.footnote})"))


def _plain_text(text: str) -> str:
    return printable_text(" ".join(text.translate(_REMOVE_ISOLATES).split()))
