"""Ctrl-C while chains run: the first ends them early, and what they have is kept; the second is as it was before.

Only where Ctrl-C would end the work by a handler that is known to: Python's own, or the command line's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SignalHandler = Callable[[int, FrameType | None], Any]

#: Handlers of signals in whose place chains may listen.
REPLACEABLE_HANDLERS: set[SignalHandler] = {signal.default_int_handler}


class Stopped(Exception):
    """Chains were asked to end before they had drawn anything."""


class Stop:
    """A request to end early, as a call that tells whether it was made.

    Examples
    --------
    >>> stop = Stop()
    >>> stop.asked = True
    >>> stop()
    True
    """

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        """True if the request was made."""
        return self.asked

    def check(self) -> None:
        """Go on, or raise :class:`Stopped`."""
        if self.asked:
            raise Stopped


@contextmanager
def listen_for_interrupt() -> Iterator[Stop]:
    """Take the first Ctrl-C of the block as a request to end early; outside the main thread none is heard."""
    stop, previous = Stop(), signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or previous not in REPLACEABLE_HANDLERS:
        yield stop
        return
    terminated = signal.getsignal(signal.SIGTERM)
    # a thread that reads signals would end the process at the first one
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
