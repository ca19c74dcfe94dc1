"""Handling of Ctrl-C and SIGTERM: ends a command at once, even while compiled code runs in the main thread.

Python runs a signal's handler in the main thread, only after compiled code has returned. An exception raised there
interrupts running code: JAX crashes with a segmentation fault, or swallows the exception. Therefore a second thread
reads the bytes that signals write (`signal.set_wakeup_fd`), removes unfinished files, prints a message and ends the
process.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from voirdire import drafts
from voirdire.early_signals import NOTHING_LEFT_NOTE, SIGNAL_NAMES, print_stop_message
from voirdire.infer import stopping

_GRACE_SECONDS = 2.0  # seconds until the main thread itself ends the process
_notes: list[str] = []
_mask: list[set[int]] = []
_ending = threading.Lock()


@contextmanager
def handle_signals() -> Iterator[None]:
    """End the process with exit code 130 on Ctrl-C and 143 on SIGTERM, with a line on stderr.

    A signal ignored since the start of the process (``nohup``) stays ignored. The end of the block restores the
    handlers (see `voirdire.early_signals`). Outside the main thread the block changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old_handlers = {number: signal.getsignal(number) for number in SIGNAL_NAMES}
    handled = [number for number in SIGNAL_NAMES if old_handlers[number] is not signal.SIG_IGN]
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    # a signal to a child must not reach this process through the inherited socket
    os.register_at_fork(before=_block_signals, after_in_child=_reset_in_child, after_in_parent=_unblock_signals)
    # defer signals while handlers change: two handlers would report one signal twice
    with _defer_signals():
        threading.Thread(target=_watch_signals, args=(reader,), daemon=True).start()
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in handled:
            signal.signal(number, _hold_thread)
    try:
        yield
    finally:
        with _defer_signals():
            for number in handled:
                signal.signal(number, old_handlers[number])
            signal.set_wakeup_fd(-1)
        writer.send(b"\0")


@contextmanager
def leave_signals_alone() -> Iterator[None]:
    """Restore Python's handlers within the block: Ctrl-C raises KeyboardInterrupt, SIGTERM ends the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old_handlers = {number: signal.getsignal(number) for number in SIGNAL_NAMES}
    if _hold_thread not in old_handlers.values():
        yield
        return
    wakeup = signal.set_wakeup_fd(-1)
    _reset_handlers()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


@contextmanager
def print_note_at_stop(note: str) -> Iterator[None]:
    """Print ``note`` (saved results, how to resume) if a signal ends the block."""
    _notes.append(note)
    try:
        yield
    finally:
        _notes.pop()


@contextmanager
def keep_draws_at_stop() -> Iterator[None]:
    """Let the first Ctrl-C in the block end only the running chains of a fit, if there are any."""
    stopping.REPLACEABLE_HANDLERS.add(_hold_thread)
    try:
        yield
    finally:
        stopping.REPLACEABLE_HANDLERS.discard(_hold_thread)


def _watch_signals(reader: socket.socket) -> None:
    while (number := reader.recv(1)) != b"\0":
        if number and number[0] in SIGNAL_NAMES:
            _end_process(number[0])


def _hold_thread(number: int, _frame: object) -> None:
    """Block the main thread while the watching thread cleans up, except within an atomic step."""
    if not drafts.in_atomic_step():
        time.sleep(_GRACE_SECONDS)
        _end_process(number)


def _end_process(number: int) -> None:
    _ending.acquire()  # a second thread waits here until the process ends
    drafts.discard_drafts()
    print_stop_message(number, _notes[-1] if _notes else NOTHING_LEFT_NOTE)
    os._exit(128 + number)


def _reset_handlers() -> None:
    """Restore Python's default handlers; also used in a child process."""
    if signal.getsignal(signal.SIGINT) is _hold_thread:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is _hold_thread:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)


@contextmanager
def _defer_signals() -> Iterator[None]:
    _block_signals()
    try:
        yield
    finally:
        _unblock_signals()


def _block_signals() -> None:
    _mask.append(signal.pthread_sigmask(signal.SIG_BLOCK, SIGNAL_NAMES))


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.pop())


def _reset_in_child() -> None:
    _reset_handlers()
    _unblock_signals()
