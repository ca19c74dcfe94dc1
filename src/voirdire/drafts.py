"""Drafts: unfinished files, removed where a signal ends the process.

A process that is ended by a signal cannot unwind, as compiled code may hold its main thread. So temporary folders
are made here, steps that must not be cut in two are wrapped in :func:`atomic_step`, and whoever ends the process
calls :func:`discard_drafts` before.
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
_threads_in_step: list[int] = []  # the threads that are in a step


@contextmanager
def atomic_step() -> Iterator[None]:
    """A short step that is not cut in two: :func:`discard_drafts` waits for its end."""
    with _step_lock:
        _threads_in_step.append(threading.get_ident())
        try:
            yield
        finally:
            _threads_in_step.pop()


def in_atomic_step() -> bool:
    """True where the calling thread is in an :func:`atomic_step` step."""
    return threading.get_ident() in _threads_in_step


def new_folder(target: Path) -> Path:
    """Make a hidden folder beside ``target``, for :func:`remove_draft` to remove.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draft = new_folder(Path(folder, "run"))
    ...     remove_draft(draft)
    ...     draft.name.startswith(".run."), os.listdir(folder)
    (True, [])
    """
    with atomic_step():
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
        _drafts.add(draft)
    return draft


def remove_draft(draft: Path) -> None:
    """Remove a draft with what has not been moved to its place, unless it is to be kept."""
    if draft in _drafts:
        shutil.rmtree(draft, ignore_errors=True)
        keep_draft(draft)


def keep_draft(draft: Path) -> None:
    """Leave a draft where it is."""
    _drafts.discard(draft)


def discard_drafts(seconds: float = 1.0) -> None:
    """Remove every draft, for good: steps are over before, and none begins after.

    A step that is not over after so many ``seconds`` may have moved what was there aside: then all is left as it is.
    """
    if not _step_lock.acquire(timeout=seconds):
        return
    for draft in list(_drafts):
        for _ in range(20):  # the writer may still be adding files
            shutil.rmtree(draft, ignore_errors=True)
            if not os.path.lexists(draft):
                break
            time.sleep(0.02)
