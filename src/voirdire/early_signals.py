"""Ctrl-C and SIGTERM before the command line is imported and while the interpreter ends.

Importing the command line takes most of a second, in which nothing is written: a signal then needs one line and an
exit code. `voirdire.cli.signals` takes over while a verb runs, and gives back afterwards. This module imports little:
until it has been imported, while Python itself starts, Ctrl-C is answered by Python with a traceback.
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

    A signal that the process was started to ignore (``nohup``) stays ignored. One that comes once Python has run what
    was registered for its end (`atexit`) comes too late to change anything, and is ignored.
    """
    handled = [number for number in SIGNAL_NAMES if signal.getsignal(number) is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, _end_process)
    atexit.register(_ignore_signals, handled)  # what is registered first runs last


def print_stop_message(number: int, kept: str) -> None:
    """Write on stderr what ended the process and what is kept; what is not read is not waited for."""
    with_bar = os.isatty(2)  # its line is cleared, its cursor shown again
    line = "\r\x1b[2K\x1b[?25h" if with_bar else ""
    line += f"stopped by {SIGNAL_NAMES[signal.Signals(number)]}: {kept}\n"
    if select.select([], [2], [], 0.5)[1]:
        os.write(2, line.encode(sys.stderr.encoding or "utf-8", "backslashreplace"))


def _end_process(number: int, _frame: object) -> None:
    print_stop_message(number, NOTHING_LEFT_NOTE)
    os._exit(128 + number)


def _ignore_signals(ours: list[signal.Signals]) -> None:
    for number in ours:
        signal.signal(number, signal.SIG_IGN)
