"""Where output goes: results to stdout, progress and errors to stderr; names are data, never markup."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console


def plain(text: str) -> str:
    """Text safe to show on a terminal: what cannot be printed (control characters, line breaks) is escaped.

    Examples
    --------
    >>> plain("item\\x1b[31m\\n")
    'item\\\\x1b[31m\\\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def stdout() -> Console:
    """Console on stdout: 80 columns and no colour where it is no terminal."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def fail(message: str) -> None:
    """Say on stderr what is wrong, as plain text."""
    print("error: " + "\n".join(plain(line) for line in message.split("\n")), file=sys.stderr)


def tell(message: str) -> None:
    """Say something on stderr that is no result."""
    print(plain(message), file=sys.stderr)


def emit(result: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(result, allow_nan=False))


def saved(folder: Path, json_output: bool) -> None:
    """Say where a result was saved: on stderr where stdout is for JSON."""
    message = f"Saved to {plain(str(folder))}"
    if json_output:
        tell(message)
    else:
        print(message)


@contextmanager
def progress(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr if it is a terminal; yields what to call with (done, total).

    Samplers run in threads that would go on after Ctrl-C or SIGTERM until they are done: they call this function
    regularly, and once a signal has come it raises in them too.
    """
    from rich import progress as bars
    from rich.console import Console

    console = Console(file=sys.stderr)
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeElapsedColumn(),
    )
    stopped = threading.Event()
    with (
        _signals(stopped),
        bars.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task(description, total=None)

        def update(done: int, total: int) -> None:
            if stopped.is_set():
                raise KeyboardInterrupt
            bar.update(task, completed=done, total=total)

        yield update


@contextmanager
def _signals(stopped: threading.Event) -> Iterator[None]:
    """Note a signal in ``stopped``, then end as usual: what is open is closed, temporary folders are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: object) -> NoReturn:
        stopped.set()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
