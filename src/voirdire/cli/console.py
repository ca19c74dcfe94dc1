"""Destination of output: results to stdout, progress and errors to stderr; names are data, never markup."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Progress(Protocol):
    """Callback of a verb: how much is done, of how much in all, and what is known so far."""

    def __call__(self, done: int, total: int, said: str = "") -> None:
        """Show it."""


def printable_text(text: str) -> str:
    """Text safe to show on a terminal: what cannot be printed (control characters, line breaks) is escaped.

    Examples
    --------
    >>> printable_text("item\\x1b[31m\\n")
    'item\\\\x1b[31m\\\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def stdout_console() -> Console:
    """Console on stdout: 80 columns and no colour where it is no terminal; tables keep their names at any width."""
    from voirdire.cli.screen import Screen

    return Screen(file=sys.stdout, highlight=False, markup=False, emoji=False)


def print_sentence(message: str, indent: int = 0) -> None:
    """Print a sentence on stdout, every line of it indented, broken between words."""
    from rich.text import Text

    out = stdout_console()
    for line in Text(printable_text(message)).wrap(out, max(out.width - indent, 20)):
        line.rstrip()
        out.print(Text(" " * indent) + line)


def print_error(message: str) -> None:
    """Say on stderr what is wrong, as plain text."""
    print("error: " + "\n".join(printable_text(line) for line in message.split("\n")), file=sys.stderr)


def print_note(message: str) -> None:
    """Say something on stderr that is no result."""
    print(printable_text(message), file=sys.stderr)


_ROWS = 20_000  # of a table that become text together


def print_json(result: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    parts: list[str] = []
    for key, value in result.items():
        parts.append(f"{', ' if parts else '{'}{json.dumps(key)}: ")
        if (
            isinstance(value, list) and len(value) > _ROWS
        ):  # not the whole text at once, whose copies take memory
            blocks = (value[start : start + _ROWS] for start in range(0, len(value), _ROWS))
            texts = [json.dumps(block, allow_nan=False)[1:-1] for block in blocks]
            parts += ["[", ", ".join(texts[:1]), *(f", {text}" for text in texts[1:]), "]"]
        else:
            parts.append(json.dumps(value, allow_nan=False))
    sys.stdout.writelines([*parts, "}\n" if parts else "{}\n"])


def print_saved(folder: Path, json_output: bool) -> None:
    """Say where a result was saved: on stderr where stdout is for JSON."""
    message = f"Saved to {printable_text(str(folder))}"
    if json_output:
        print_note(message)
    else:
        print(message)


@contextmanager
def progress_bar(description: str) -> Iterator[Progress]:
    """Show a progress bar on stderr if it is a terminal; yields what to call with (done, total, and more words)."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(file=sys.stderr)
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=None)

        def update_bar(done: int, total: int, said: str = "") -> None:
            more = f": {printable_text(said)}" if said else ""
            bar.update(task, completed=done, total=total, description=description + more)

        yield update_bar
