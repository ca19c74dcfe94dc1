"""A page of a report on the screen: its texts and tables as other verbs print theirs; figures are left out."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from voirdire.cli.console import printable_text, stdout_console
from voirdire.cli.show import LIMIT, titled_table
from voirdire.report import page
from voirdire.report.table import Cell, Table

_ISOLATES = str.maketrans("", "", "\u2068\u2069")


def print_page(shown: page.Page) -> None:
    """Print a page of texts and tables; of long tables the first rows."""
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
            Text(_plain_text(column.head)),
            justify="left" if column.kind == "text" else "right",
            overflow="fold",
        )
    for row in rows[:LIMIT]:
        table.add_row(*map(_cell_text, row))
    yield table
    if len(rows) > LIMIT:
        yield Text(f"and {len(rows) - LIMIT} more rows: --json and --out hold them all")
    for number, note in enumerate(footnotes, start=1):
        yield Text(_plain_text(f"{number}: {note}"))
    for note in block.notes:
        yield Text(_plain_text(note))


def _cell_text(cell: Cell) -> Text:
    shown = f"{cell.text} {cell.interval}".strip()
    return Text(_plain_text(shown if cell.footnote is None else f"{shown} ({cell.footnote})"))


def _plain_text(text: str) -> str:
    return printable_text(" ".join(text.translate(_ISOLATES).split()))
