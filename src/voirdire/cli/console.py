"""Terminal output: results to stdout, progress and errors to stderr. Names are data, never markup.

A table that does not fit the line is printed as one block per row, so that no name is cut.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich import box
from rich.console import Console, Group
from rich.table import Column, Table
from rich.text import Text

MIN_WRAP_LETTERS = 30  # cells longer than this may be wrapped between words


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
        """Print as :class:`rich.console.Console` does, but titles as lines, and tables that do not fit as blocks."""
        if len(objects) == 1 and isinstance(objects[0], Group):
            for part in objects[0].renderables:
                self.print(part, **how)
        elif len(objects) == 1 and isinstance(objects[0], Table):
            table = copy(objects[0])
            if table.title:
                super().print(_cell_text(table.title))
            table.title = None
            for column in table.columns:
                column.min_width = _column_width(column)
            for part in [table] if needed_width(table) <= self.width else row_blocks(table):
                super().print(part, **how)
        else:
            super().print(*objects, **how)


def needed_width(table: Table) -> int:
    """Return the least width at which no word and no short cell of a table is broken.

    Examples
    --------
    >>> table = Table("item", "score", box=None, padding=(0, 1, 0, 0))
    >>> table.add_row("item 1", "0.5")
    >>> needed_width(table)
    13
    """
    width = sum(_column_width(column) for column in table.columns)
    _, right, _, left = table.padding
    count = len(table.columns)
    edge = 2 if table.box is not None and table.show_edge else 0
    return width + count * (left + right) + (count - 1 if table.box is not None else 0) + edge


def _column_width(column: Column) -> int:
    heading = _longest_word(_cell_text(column.header))
    return max(heading, *(_least_width(_cell_text(cell)) for cell in column.cells), 0)


def _least_width(text: Text) -> int:
    width = text.cell_len
    return width if width <= MIN_WRAP_LETTERS else max(MIN_WRAP_LETTERS, _longest_word(text))


def _longest_word(text: Text) -> int:
    return max((Text(word).cell_len for word in text.plain.split()), default=0)


def row_blocks(table: Table) -> Iterator[Text]:
    """Yield lines ``heading: cell`` for each row; empty cells are omitted, later lines indented."""
    heads = [_cell_text(column.header).plain for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        indent = ""
        for head, cell in zip(heads, map(_cell_text, row), strict=True):
            if cell.plain:
                one_line = Text(" ").join(cell.split("\n"))
                yield Text.assemble(indent, f"{head}: " if head else "", one_line)
                indent = "  "


def _cell_text(cell: Any) -> Text:
    return cell if isinstance(cell, Text) else Text(" ".join(str(cell).split("\n")))


class Progress(Protocol):
    """Progress callback of a verb: units done, units in total, and a text about the state."""

    def __call__(self, done: int, total: int, status: str = "") -> None:
        """Show the progress."""


def printable_text(text: str) -> str:
    """Escape unprintable characters (control characters, line breaks), so that a terminal can show the text.

    Examples
    --------
    >>> printable_text("item\\x1b[31m\\n")
    'item\\\\x1b[31m\\\\n'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def printable_lines(text: str) -> str:
    """Escape unprintable characters, but keep line breaks."""
    return "\n".join(printable_text(line.replace("\t", "    ")) for line in text.split("\n"))


def stdout_console() -> Console:
    """Return the console on stdout: 80 columns and no colour if it is no terminal; tables never cut names."""

    return Screen(file=sys.stdout, highlight=False, markup=False, emoji=False)


def empty_table(title: str = "", *, shape: box.Box | None = box.SIMPLE_HEAD, gap: int = 1) -> Table:
    """Return an empty table with a title, and ``gap`` blanks right of each cell."""
    table = Table(box=shape, show_edge=False, padding=(0, gap, 0, 0))
    if title:
        table.title, table.title_justify = Text(title, style="bold"), "left"
    return table


def fill_table(table: Table, rows: Sequence[Mapping[str, object]], words: Collection[str]) -> Table:
    """Add a column per key of the first row, and the rows, to a table; ``words`` are left-aligned, numbers right.

    Examples
    --------
    >>> rows = [{"item": "x", "score": "0.5"}, {"item": "y"}]
    >>> Screen(width=33, force_terminal=False).print(fill_table(Table(box=None), rows, ["item"]))
    item  score
    x       0.5
    y
    """
    heads = list(rows[0]) if rows else []
    for head in heads:
        text = Text(printable_text(head))
        if head in words:
            table.add_column(text, overflow="fold")
        else:
            table.add_column(text, justify="right")
    for row in rows:
        cells = [row.get(head, "") for head in heads]
        table.add_row(*(cell if isinstance(cell, Text) else Text(printable_text(str(cell))) for cell in cells))
    return table


def print_parts(parts: Iterable[Any]) -> None:
    """Print tables on stdout, each after an empty line; skip None."""
    out = stdout_console()
    for part in parts:
        if part is not None:
            out.print()
            out.print(part)


def print_result(result: Mapping[str, Any], json: bool, show: Callable[[], object], *saved: Path | None) -> None:
    """Print a result as one JSON object or by ``show``, then the paths where it was saved."""
    if json:
        print_json(result)
    else:
        show()
    for path in saved:
        if path is not None:
            print_saved(path, json)


def print_sentence(message: str, indent: int = 0) -> None:
    """Print a sentence on stdout, wrapped between words, each line indented."""
    out = stdout_console()
    for line in Text(printable_text(message)).wrap(out, max(out.width - indent, 20)):
        line.rstrip()
        out.print(Text(" " * indent) + line)


def print_error(message: str) -> None:
    """Print an error on stderr, as plain text."""
    print(f"error: {printable_lines(message)}", file=sys.stderr)


def print_note(message: str) -> None:
    """Print a note on stderr."""
    print(printable_text(message), file=sys.stderr)


_JSON_BLOCK_ROWS = 20_000  # rows of a table serialised at once


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    parts: list[str] = []
    for key, value in result.items():
        parts.append(f"{', ' if parts else '{'}{json.dumps(key)}: ")
        # in blocks, as copies of the whole text would take memory
        if isinstance(value, list) and len(value) > _JSON_BLOCK_ROWS:
            blocks = (value[start : start + _JSON_BLOCK_ROWS] for start in range(0, len(value), _JSON_BLOCK_ROWS))
            texts = [json.dumps(block, allow_nan=False)[1:-1] for block in blocks]
            parts += ["[", ", ".join(texts[:1]), *(f", {text}" for text in texts[1:]), "]"]
        else:
            parts.append(json.dumps(value, allow_nan=False))
    sys.stdout.writelines([*parts, "}\n" if parts else "{}\n"])


def print_saved(folder: Path, json_output: bool) -> None:
    """Print where a result was saved; on stderr if stdout is for JSON."""
    message = f"Saved to {printable_text(str(folder))}"
    if json_output:
        print_note(message)
    else:
        print(message)


@contextmanager
def progress_bar(description: str) -> Iterator[Progress]:
    """Show a progress bar on stderr if it is a terminal; yield a `Progress` callback."""
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with stderr_bar(*columns) as update:

        def update_bar(done: int, total: int, status: str = "") -> None:
            suffix = f": {printable_text(status)}" if status else ""
            update(completed=done, total=total, description=description + suffix)

        update(description=description)
        yield update_bar


@contextmanager
def stderr_bar(*columns: Any, **fields: Any) -> Iterator[Callable[..., None]]:
    """Show a task on stderr, if it is a terminal, in the given rich columns; yield its update function."""
    from rich import progress as bars

    console = Console(file=sys.stderr)
    shown = bars.Progress(
        bars.SpinnerColumn(), *columns, console=console, transient=True, disable=not console.is_terminal
    )
    with shown as bar:
        yield partial(bar.update, bar.add_task("", total=None, **fields))
