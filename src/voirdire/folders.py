"""Write folders and files whole or not at all, and never over something that is not ours.

Every verb that writes goes through here. What may be replaced is told by what is in it, not by its name: a folder is a
saved fit if each of its files reads as that part of a saved fit. At no moment of replacing a folder is the old one gone
without the new one being there, or the old one being on its way back.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from voirdire import drafts
from voirdire.errors import InputError
from voirdire.layouts import Layout


def cache_dir() -> Path:
    """Where downloads and compiled code are kept: ``VOIRDIRE_CACHE``, else the system's cache folder for voirdire.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"VOIRDIRE_CACHE": "/data/cache"}):
    ...     cache_dir().as_posix()
    '/data/cache'
    """
    override = os.environ.get("VOIRDIRE_CACHE")
    if override:
        return Path(override)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("voirdire"))


@contextmanager
def new_folder(folder: str | Path, layout: Layout, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes ``folder`` if the block ends well, and vanishes if it does not.

    Parameters
    ----------
    folder : str or Path
    layout : Layout
        What the block writes.
    overwrite : bool
        Whether a folder of this kind that is there may be replaced; anything else is never touched.

    Raises
    ------
    InputError
        As :func:`check_new_folder`, or the folder cannot be written; what was there is there still.

    Examples
    --------
    >>> import tempfile
    >>> from voirdire.layouts import text_with
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with new_folder(parent + "/run", Layout("a note", {"note": text_with("done")})) as place:
    ...         _ = (place / "note").write_text("done")
    ...     Path(parent, "run", "note").read_text()
    'done'
    """
    check_new_folder(folder, layout, overwrite=overwrite)
    target = Path(os.path.abspath(folder))
    place = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = drafts.new_folder(target)
        yield place
        place.chmod(0o777 & ~_umask())  # a draft is private
        if os.path.lexists(target):
            with drafts.undivided():
                _replace(target, place, lambda old: _refuse(folder, old, layout, overwrite=overwrite))
        else:
            os.replace(place, target)
    except OSError as error:
        raise InputError(
            f"output folder {folder}: cannot be written ({error.strerror or error}); name another"
        ) from error
    finally:
        if place is not None:
            drafts.remove(place)


def _replace(target: Path, place: Path, check: Callable[[Path], None]) -> None:
    """Put a folder in the place of another, which is moved aside first and back if that fails."""
    aside = drafts.new_folder(target)
    old = aside / "old"
    try:
        os.replace(target, old)
        check(old)  # something may have been put there since
        os.replace(place, target)
    finally:
        # Told by what is there, because an interrupted call may have done its work.
        if os.path.lexists(old) and not os.path.lexists(target):
            _back(old, target)
        drafts.remove(aside)


def _back(old: Path, target: Path) -> None:
    """Put back what was moved aside, by every means there is; if all fail, say where it is."""
    for move in (os.replace, os.rename):
        with suppress(BaseException):  # whatever stopped the replacing is raised again afterwards
            move(old, target)
        if not os.path.lexists(old):
            return
    try:
        shutil.copytree(old, target, symlinks=True)
    except BaseException as error:
        with suppress(BaseException):
            shutil.rmtree(target, ignore_errors=True)
        drafts.keep(old.parent)
        raise InputError(
            f"output folder {target}: cannot be replaced ({error}); what was there is in {old}, move it back"
        ) from error


def check_new_folder(folder: str | Path, layout: Layout, *, overwrite: bool = False) -> None:
    """Raise where :func:`new_folder` would, before any work is done.

    Raises
    ------
    InputError
        ``folder`` is a file or the current folder; it holds something and ``overwrite`` is not set; it holds
        something that by its name or its content is no part of ``layout``; it or the folder it is to stand in cannot
        be written.
    """
    target = _writable(folder)
    if _is_current(target):
        raise InputError(f"output folder {folder}: is the current folder; name a new folder in it")
    if os.path.isdir(target):
        _refuse(folder, target, layout, overwrite=overwrite)


def check_resumed_folder(folder: str | Path, layout: Layout, journal: str) -> None:
    """Raise where work that goes on from a journal would write over something that is not its own.

    Parameters
    ----------
    folder : str or Path
    layout : Layout
        The files that are written, the journal among them. Others in the folder are left alone.
    journal : str
        The file that says that the folder is one of this kind; without it the folder must be new or empty (but for
        names that begin with a dot).

    Raises
    ------
    InputError
        As said, or the folder cannot be written.

    Examples
    --------
    >>> from voirdire.layouts import json_with, text_with
    >>> batches = Layout("a study", {"batches.jsonl": text_with("{"), "run.json": json_with("study")})
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_resumed_folder(folder, batches, "batches.jsonl")
    """
    target = _writable(folder)
    if not os.path.isdir(target):
        return
    place = f"output folder {folder}:"
    with _told(place):
        held = sorted(path.name for path in target.iterdir() if not path.name.startswith("."))
        if held and journal not in held:
            raise InputError(f"{place} holds {held[0]!r} and no journal of {layout.what}; name a new folder")
        foreign = layout.foreign(target, known=True)
    if foreign is not None:
        raise InputError(
            f"{place} holds {foreign!r}, which is not that of {layout.what} and would be replaced; name another folder"
        )


@contextmanager
def hold(folder: str | Path) -> Iterator[None]:
    """Hold a folder until the end of the block or of the process, however it ends.

    Raises
    ------
    InputError
        Another run holds it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, hold(folder), hold(folder):
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
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"output folder {folder}: another run is writing to it; wait for its end or name another"
            ) from None
        yield
    finally:
        os.close(handle)


def _refuse(folder: str | Path, target: Path, layout: Layout, *, overwrite: bool) -> None:
    place = f"output folder {folder}:"
    with _told(place):
        foreign = layout.foreign(target)
        held = any(target.iterdir())
    if foreign is not None and overwrite:
        raise InputError(f"{place} holds {foreign!r}, which is no part of {layout.what}; name another folder")
    if held and not overwrite:
        raise InputError(f"{place} is not empty; name another or pass --overwrite (overwrite=True)")


def _writable(folder: str | Path) -> Path:
    """The absolute path of a folder that can be made or written in."""
    place = f"output folder {folder}:"
    with _told(place):
        target = Path(os.path.abspath(folder))
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(target)  # says what else is wrong with a name
        if os.path.lexists(target) and not target.is_dir():
            raise InputError(f"{place} is a file; name a folder")
        parent = next(above for above in target.parents if os.path.lexists(above))
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            refusal = "not yours to write" if parent.is_dir() else "no folder"
            raise InputError(f"{place} cannot be written, {parent} is {refusal}; name another")
    return target


def _is_current(target: Path) -> bool:
    try:
        return target.samefile(os.curdir)
    except OSError:
        return False


@contextmanager
def _told(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{place} cannot be written ({reason}); name another") from error


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8 with the line ends it has.

    What is no regular file (a pipe, ``/dev/stdout``) is written to; a link's target is replaced, not the link.

    Raises
    ------
    InputError
        It cannot be written; what was there is there still.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "a.txt"), "done\\n")
    ...     Path(folder, "a.txt").read_text()
    'done\\n'
    """
    with _told(f"output {path}:"):
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        real = Path(os.path.realpath(path))
        if real.exists() and not stat.S_ISREG(real.stat().st_mode):
            with real.open("wb", buffering=0) as file:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) or 0 :]
            return
        handle, draft = drafts.new_file(real)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(draft, stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~_umask())
            os.replace(draft, real)
        finally:
            drafts.remove(draft)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
