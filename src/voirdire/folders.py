"""Writing of folders and files, complete or not at all, without replacing files of another origin.

All verbs write through this module. Content, not the name, decides whether something may be replaced: a folder is a
saved fit if each of its files can be read as that part of a saved fit. While a folder is replaced, either the new one
is in place or the old one is kept and restored.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from voirdire import drafts
from voirdire.errors import InputError
from voirdire.layouts import Layout


def cache_dir() -> Path:
    """Return the folder of downloads and compiled code: ``VOIRDIRE_CACHE``, else the system's cache folder.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"VOIRDIRE_CACHE": "/data/cache"}):
    ...     cache_dir().as_posix()
    '/data/cache'
    """
    if override := os.environ.get("VOIRDIRE_CACHE"):
        return Path(override)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("voirdire"))


@contextmanager
def write_folder_atomically(folder: str | Path, layout: Layout, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes ``folder`` if the block succeeds, and is removed if it fails.

    Parameters
    ----------
    folder : str or Path
    layout : Layout
        Files that the block writes.
    overwrite : bool
        True to replace an existing folder of this kind; other folders are never replaced.

    Raises
    ------
    InputError
        As in :func:`check_new_folder`, or the folder cannot be written; existing files are kept.

    Examples
    --------
    >>> import tempfile
    >>> from voirdire.layouts import recognise_text
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with write_folder_atomically(parent + "/run", Layout("a note", {"note": recognise_text("done")})) as place:
    ...         _ = (place / "note").write_text("done")
    ...     Path(parent, "run", "note").read_text()
    'done'
    """
    check_new_folder(folder, layout, overwrite=overwrite)
    with report_errors(f"output folder {folder}:", (OSError,)), ExitStack() as undo:
        target = Path(os.path.abspath(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = drafts.new_draft_folder(target)
        undo.callback(drafts.remove_draft, draft)
        new_path = draft / "new"  # the draft has private permissions, the folder in it has the usual ones
        new_path.mkdir()
        yield new_path
        with drafts.atomic_step():
            _put_in_place(new_path, target, lambda old: _refuse_foreign(folder, old, layout, overwrite=overwrite))


def _put_in_place(new_path: Path, target: Path, check: Callable[[Path], None]) -> None:
    """Move a folder to its target; an existing target is moved aside first, and back if that fails."""
    old_path = new_path.with_name("old")
    try:
        if os.path.lexists(target):
            os.replace(target, old_path)
            check(old_path)  # another process may have changed the target since the first check
        os.replace(new_path, target)
    finally:
        # Look at the files, because an interrupted call may have succeeded.
        if os.path.lexists(old_path) and not os.path.lexists(target):
            _put_back(old_path, target)


def _put_back(old_path: Path, target: Path) -> None:
    """Move the old folder back, or a copy of it; if both fail, raise an error that names its place."""
    with suppress(BaseException):  # the original error is raised again afterwards
        os.replace(old_path, target)
    try:
        if os.path.lexists(old_path):
            shutil.copytree(old_path, target, symlinks=True)
    except BaseException as error:
        drafts.keep_draft(old_path.parent)
        with suppress(BaseException):
            shutil.rmtree(target, ignore_errors=True)
        raise InputError(
            f"output folder {target}: cannot be replaced ({error}); what was there is in {old_path}, move it back"
        ) from error


def check_new_folder(folder: str | Path, layout: Layout, *, overwrite: bool = False) -> None:
    """Raise the errors of :func:`write_folder_atomically` before any work is done.

    Raises
    ------
    InputError
        ``folder`` is a file or the current folder; it is not empty and ``overwrite`` is False; it holds a file that
        by name or content is no part of ``layout``; it or its parent folder cannot be written.
    """
    target = _check_writable(folder)
    if os.path.isdir(target):
        if target.samefile(os.curdir):
            raise InputError(f"output folder {folder}: is the current folder; name a new folder in it")
        _refuse_foreign(folder, target, layout, overwrite=overwrite)


def check_resumed_folder(folder: str | Path, layout: Layout, journal: str) -> None:
    """Raise an error if work that continues from a journal would replace files of another origin.

    Parameters
    ----------
    folder : str or Path
    layout : Layout
        Files that are written, including the journal. Other files in the folder are not changed.
    journal : str
        File that identifies a folder of this kind; without it the folder must be new or empty (except for names
        that begin with a dot).

    Raises
    ------
    InputError
        Files would be replaced, or the folder cannot be written.

    Examples
    --------
    >>> from voirdire.layouts import recognise_json, recognise_text
    >>> batches = Layout("a study", {"batches.jsonl": recognise_text("{"), "run.json": recognise_json("study")})
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_resumed_folder(folder, batches, "batches.jsonl")
    """
    target = _check_writable(folder)
    if not os.path.isdir(target):
        return
    prefix = f"output folder {folder}:"
    with report_errors(prefix):
        names = sorted(path.name for path in target.iterdir() if not path.name.startswith("."))
        if names and journal not in names:
            raise InputError(f"{prefix} holds {names[0]!r} and no journal of {layout.title}; name a new folder")
        foreign = layout.find_foreign(target, known=True)
    if foreign is not None:
        raise InputError(
            f"{prefix} holds another {foreign!r} than that of {layout.title}, which would be lost; name another folder"
        )


@contextmanager
def lock_folder(folder: str | Path) -> Iterator[None]:
    """Lock a folder until the end of the block or of the process.

    Raises
    ------
    InputError
        Another run has locked it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, lock_folder(folder), lock_folder(folder):
    ...     pass
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: output folder ...: another run is writing to it; wait for its end or name another
    """
    try:
        import fcntl
    except ImportError:  # Windows, where no folder can be locked
        yield
        return
    with ExitStack() as undo:
        handle = os.open(folder, os.O_RDONLY)
        undo.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"output folder {folder}: another run is writing to it; wait for its end or name another"
            ) from None
        yield


def _refuse_foreign(folder: str | Path, target: Path, layout: Layout, *, overwrite: bool) -> None:
    prefix = f"output folder {folder}:"
    with report_errors(prefix):
        foreign = layout.find_foreign(target)
        is_filled = any(target.iterdir())
    if foreign is not None and overwrite:
        raise InputError(f"{prefix} holds {foreign!r}, which is no part of {layout.title}; name another folder")
    if is_filled and not overwrite:
        raise InputError(f"{prefix} is not empty; name another or pass --overwrite (overwrite=True)")


def _check_writable(folder: str | Path) -> Path:
    """Return the absolute path of a folder, after checking that it can be made or written."""
    prefix = f"output folder {folder}:"
    with report_errors(prefix):
        target = Path(os.path.abspath(folder))
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(target)  # raises an error for invalid names
            if not target.is_dir():
                raise InputError(f"{prefix} is a file; name a folder")
        parent = next(ancestor for ancestor in target.parents if os.path.lexists(ancestor))
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            refusal = "not yours to write" if parent.is_dir() else "no folder"
            raise InputError(f"{prefix} cannot be written, {parent} is {refusal}; name another")
    return target


@contextmanager
def report_errors(place: str, errors: tuple[type[Exception], ...] = (OSError, ValueError)) -> Iterator[None]:
    """Replace errors of writing in the block by one InputError."""
    try:
        yield
    except InputError:
        raise
    except errors as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{place} cannot be written ({reason}); name another") from error


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file completely or not at all; text is written as UTF-8 with its own line ends.

    Pipes and devices (``/dev/stdout``) are written directly; of a link, the target is replaced.

    Raises
    ------
    InputError
        The file cannot be written; an existing file is kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "a.txt"), "done\\n")
    ...     Path(folder, "a.txt").read_text()
    'done\\n'
    """
    with report_errors(f"output {path}:"):
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        real_path = Path(os.path.realpath(path))
        if real_path.exists() and not real_path.is_file():
            real_path.write_bytes(data)
            return
        with ExitStack() as undo:
            draft = drafts.new_draft_folder(real_path)
            undo.callback(drafts.remove_draft, draft)
            new_path = draft / "new"
            new_path.write_bytes(data)
            if real_path.exists():
                shutil.copymode(real_path, new_path)
            os.replace(new_path, real_path)
