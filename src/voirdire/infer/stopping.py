"""Ctrl-C while chains run: the first ends them early and keeps their draws; the second has its usual effect.

It applies only where the handler of Ctrl-C is a known one that ends the work: Python's own, or the command line's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SignalHandler = Callable[[int, FrameType | None], Any]

#: Handlers of signals that chains may replace.
REPLACEABLE_HANDLERS: set[SignalHandler] = {signal.default_int_handler}


class Stopped(Exception):
    """Chains were ended before they had any draws."""


class Stop:
    """Request to end early.

    Attributes
    ----------
    asked : bool
        True if the request was made.
    """

    def __init__(self) -> None:
        self.asked = False

    def check(self) -> None:
        """Raise :class:`Stopped` if the request was made."""
        if self.asked:
            raise Stopped


@contextmanager
def listen_for_interrupt() -> Iterator[Stop]:
    """Treat the first Ctrl-C in the block as a request to end early; only the main thread can receive it."""
    stop, previous = Stop(), signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or previous not in REPLACEABLE_HANDLERS:
        yield stop
        return
    terminated = signal.getsignal(signal.SIGTERM)
    # otherwise a thread that reads signals would end the process at the first one
    wakeup = signal.set_wakeup_fd(-1)

    def restore_handlers() -> None:
        signal.signal(signal.SIGINT, previous)
        signal.signal(signal.SIGTERM, terminated)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)

    def handle_signal(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and not stop.asked:
            stop.asked = True
            return
        restore_handlers()
        signal.raise_signal(number)

    signal.signal(signal.SIGINT, handle_signal)
    if terminated in REPLACEABLE_HANDLERS:
        signal.signal(signal.SIGTERM, handle_signal)
    try:
        yield stop
    finally:
        restore_handlers()
