"""Handling of Ctrl-C and SIGTERM before the command line is imported and while the interpreter ends.

Importing the command line takes most of a second, and nothing is written during it: a signal then gives one line and an
exit code. `voirdire.cli.signals` handles signals while a verb runs. This module imports little, because before its
import Python answers Ctrl-C with a traceback.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys

SIGNAL_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
NOTHING_LEFT_NOTE = "nothing is left half written"


def handle_early_signals() -> None:
    """End the process with exit code 130 on Ctrl-C and 143 on SIGTERM, with a line on stderr.

    A signal that the process ignores from its start (``nohup``) remains ignored. Signals after the functions registered
    with `atexit` have run are ignored, too.
    """
    handled = [number for number in SIGNAL_NAMES if signal.getsignal(number) is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, _end_process)
    atexit.register(_ignore_signals, handled)  # the function registered first runs last


def print_stop_message(number: int, kept: str) -> None:
    """Write on stderr the name of the signal and what is kept; without waiting if nobody reads stderr."""
    with_bar = os.isatty(2)  # clear the line of a progress bar and show the cursor
    line = "\r\x1b[2K\x1b[?25h" if with_bar else ""
    line += f"stopped by {SIGNAL_NAMES[signal.Signals(number)]}: {kept}\n"
    if select.select([], [2], [], 0.5)[1]:
        os.write(2, line.encode(sys.stderr.encoding or "utf-8", "backslashreplace"))


def _end_process(number: int, _frame: object) -> None:
    print_stop_message(number, NOTHING_LEFT_NOTE)
    os._exit(128 + number)


def _ignore_signals(numbers: list[signal.Signals]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
