"""Notices that arise while a result is computed, for display by the caller.

Reading a table may interpret a column under another name. The reader gives a notice here, without knowledge of fits or
terminals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listen_for_notes(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass notices in the block to ``listener``, each once; of nested blocks only the inner one gets them.

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
    """Give a notice to the listener; without a listener, raise a UserWarning."""
    listener = _LISTENER.get()
    if listener is None:
        warnings.warn(note, stacklevel=2)
    else:
        listener(note)
