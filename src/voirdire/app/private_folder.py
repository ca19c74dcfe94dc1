"""The folder that holds what is uploaded: private, removed at the end, and swept up by the next start after a crash."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voirdire import drafts
from voirdire.errors import InputError
from voirdire.folders import hold_folder

NAME = "voirdire-app"
_TRIES = 5


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only its owner may enter, and remove it at the end of the block.

    A signal that ends the process removes it, too (`voirdire.drafts`). Folders of processes that were killed are
    removed first.

    Examples
    --------
    >>> with private_folder() as folder:
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    remove_left_over()
    for _ in range(_TRIES):
        folder = drafts.new_folder(Path(tempfile.gettempdir(), NAME))
        try:
            with hold_folder(folder):
                if folder.is_dir():  # else another start took it for left over before it was held
                    yield folder
                    return
        except (FileNotFoundError, InputError):
            if folder.is_dir():
                raise
        finally:
            drafts.remove_draft(folder)
    raise InputError(f"no private folder can be made in {tempfile.gettempdir()}; name another by TMPDIR")


def remove_left_over() -> None:
    """Remove folders of this user that no process holds; where folders cannot be held (Windows), none."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return
    for folder in Path(tempfile.gettempdir()).glob(f".{NAME}.*"):
        try:
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            with hold_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except (OSError, InputError):
            continue  # held by a process that runs, or just gone
