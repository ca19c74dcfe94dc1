"""Drafts: unfinished files, removed if a signal ends the process.

A process that a signal ends cannot unwind, as compiled code may hold its main thread. So temporary folders are made
here, steps that must not be interrupted are wrapped in :func:`atomic_step`, and :func:`discard_drafts` is called
before the process ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_drafts: set[Path] = set()
_step_lock = threading.RLock()
_threads_in_step: list[int] = []  # identifiers of threads in a step


@contextmanager
def atomic_step() -> Iterator[None]:
    """Protect a short step from interruption: :func:`discard_drafts` waits for its end."""
    with _step_lock:
        _threads_in_step.append(threading.get_ident())
        try:
            yield
        finally:
            _threads_in_step.pop()


def in_atomic_step() -> bool:
    """Return True if the calling thread is in an :func:`atomic_step` block."""
    return threading.get_ident() in _threads_in_step


def new_draft_folder(target: Path) -> Path:
    """Make a hidden folder next to ``target``; :func:`remove_draft` removes it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draft = new_draft_folder(Path(folder, "run"))
    ...     remove_draft(draft)
    ...     draft.name.startswith(".run."), os.listdir(folder)
    (True, [])
    """
    with atomic_step():
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
        _drafts.add(draft)
    return draft


def remove_draft(draft: Path) -> None:
    """Remove a draft and its content, unless :func:`keep_draft` was called for it."""
    if draft in _drafts:
        shutil.rmtree(draft, ignore_errors=True)
        keep_draft(draft)


def keep_draft(draft: Path) -> None:
    """Mark a draft as one to keep."""
    _drafts.discard(draft)


def discard_drafts(seconds: float = 1.0) -> None:
    """Remove all drafts, after the end of running steps; no step begins afterwards.

    A step that takes longer than ``seconds`` may have moved existing files aside: then nothing is removed.
    """
    if not _step_lock.acquire(timeout=seconds):
        return
    for draft in list(_drafts):
        for _ in range(20):  # the writer may still be adding files
            shutil.rmtree(draft, ignore_errors=True)
            if not os.path.lexists(draft):
                break
            time.sleep(0.02)
