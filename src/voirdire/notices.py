"""Notices on the way to a result, shown by whoever asked for the result.

Reading a table may take a column for another; the reader says so here and knows nothing of fits or terminals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listen_for_notes(listener: Callable[[str], None]) -> Iterator[None]:
    """Have notes come to ``listener`` while the block runs, each once; an inner block hears them alone.

    Examples
    --------
    >>> heard = []
    >>> with listen_for_notes(heard.append):
    ...     give_notice("'rater' is taken as judge")
    ...     give_notice("'rater' is taken as judge")
    >>> heard
    ["'rater' is taken as judge"]
    """
    heard: set[str] = set()

    def say_once(note: str) -> None:
        if note not in heard:
            heard.add(note)
            listener(note)

    token = _LISTENER.set(say_once)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def give_notice(note: str) -> None:
    """Give a notice to the listener; a UserWarning where there is none."""
    listener = _LISTENER.get()
    if listener is None:
        warnings.warn(note, stacklevel=2)
    else:
        listener(note)
