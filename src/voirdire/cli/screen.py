"""The console of tables: one that does not fit the line is printed as a block for each row, so that no name is cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

WRAPPED = 30  # letters from which a cell may be wrapped between its words


class Screen(Console):
    """A console whose tables keep their names at any width.

    Examples
    --------
    >>> table = Table("item", "score", title="Items")
    >>> table.add_row("a-name-of-24-letters-or-so", "0.5")
    >>> Screen(width=33, force_terminal=False).print(table)
    Items
    item: a-name-of-24-letters-or-so
      score: 0.5
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print as :class:`rich.console.Console` does, tables that do not fit as blocks."""
        if len(objects) == 1 and isinstance(objects[0], Group):
            for part in objects[0].renderables:
                self.print(part, **how)
        elif len(objects) == 1 and isinstance(objects[0], Table) and needed_width(objects[0]) > self.width:
            for line in row_blocks(objects[0]):
                super().print(line)
        else:
            super().print(*objects, **how)


def needed_width(table: Table) -> int:
    """Width at which no word of a table's cells, and no short cell, is broken.

    Examples
    --------
    >>> table = Table("item", "score", box=None, padding=(0, 1, 0, 0))
    >>> table.add_row("item 1", "0.5")
    >>> needed_width(table)
    13
    """
    width = sum(
        max(
            _longest_word(_cell_text(column.header)),
            *(_least_width(_cell_text(cell)) for cell in column.cells),
            0,
        )
        for column in table.columns
    )
    _, right, _, left = table.padding
    count = len(table.columns)
    edge = 2 if table.box is not None and table.show_edge else 0
    return width + count * (left + right) + (count - 1 if table.box is not None else 0) + edge


def _least_width(text: Text) -> int:
    whole = text.cell_len
    return whole if whole <= WRAPPED else max(WRAPPED, _longest_word(text))


def _longest_word(text: Text) -> int:
    return max((Text(word).cell_len for word in text.plain.split()), default=0)


def row_blocks(table: Table) -> Iterator[Text]:
    """The title and lines ``heading: cell`` for each row, all but the first of a row indented; empty cells left out."""
    if table.title:
        yield _cell_text(table.title)
    heads = [_cell_text(column.header).plain for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        lead = ""
        for head, cell in zip(heads, map(_cell_text, row), strict=True):
            if cell.plain:
                yield Text.assemble(lead, f"{head}: " if head else "", cell)
                lead = "  "


def _cell_text(cell: Any) -> Text:
    return cell if isinstance(cell, Text) else Text(" ".join(str(cell).split("\n")))
