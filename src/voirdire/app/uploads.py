"""Uploaded files, streamed into a private folder under a fixed name, up to a size limit.

The folder is removed at the end; after a crash, the next start removes it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from voirdire import drafts
from voirdire.errors import InputError
from voirdire.folders import lock_folder

FOLDER_PREFIX = "voirdire-app"
_MAX_TRIES = 5


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
    for _ in range(_MAX_TRIES):
        folder = drafts.new_draft_folder(Path(tempfile.gettempdir(), FOLDER_PREFIX))
        try:
            with lock_folder(folder):
                if folder.is_dir():  # else another process removed it before it was locked
                    yield folder
                    return
        except (FileNotFoundError, InputError):
            if folder.is_dir():
                raise
        finally:
            drafts.remove_draft(folder)
    raise InputError(f"no private folder can be made in {tempfile.gettempdir()}; name another by TMPDIR")


def remove_left_over() -> None:
    """Remove folders of this user that no process has locked; on systems without such locks (Windows), none."""
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return
    for folder in Path(tempfile.gettempdir()).glob(f".{FOLDER_PREFIX}.*"):
        try:
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            with lock_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except (OSError, InputError):
            continue  # locked by a running process, or removed meanwhile


MAX_UPLOAD_BYTES = 200 * 2**20
#: Stored names of the table and of the texts of items.
TABLE_NAME, TEXTS_NAME = "uploaded-file", "uploaded-texts"
_MAX_NAME_LETTERS = 120
#: File name endings that determine the format; otherwise the content does.
_FILE_ENDINGS = (
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".eval", ".zip", ".gz", ".zst",
)  # fmt: skip


class TooLargeError(InputError):
    """Error: a file is larger than the limit."""


def shown_name(given: str) -> str:
    """Return a file's name for display and commands: its last part, printable, not too long, never like an option.

    Examples
    --------
    >>> shown_name("../../etc/passwd"), shown_name("C:\\\\a\\\\votes.csv"), shown_name("-x\\n.csv"), shown_name("..")
    ('passwd', 'votes.csv', './-x.csv', 'file')
    """
    last_part = given.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(letter for letter in last_part if letter.isprintable()).strip()
    if len(name) > _MAX_NAME_LETTERS:
        name = name[: _MAX_NAME_LETTERS - 20] + name[-20:]
    if not name.strip("."):
        return "file"
    return f"./{name}" if name.startswith("-") else name


def stored_name(name: str, stem: str) -> str:
    """Return the stored name of a file: ``stem`` with the known endings of the given name.

    Examples
    --------
    >>> stored_name("votes.CSV.gz", "table"), stored_name("../../x.sh", "table"), stored_name("a.csv/../b", "table")
    ('table.csv.gz', 'table', 'table')
    """
    endings = [ending.lower() for ending in PurePosixPath(shown_name(name)).suffixes[-2:]]
    return stem + "".join(ending for ending in endings if ending in _FILE_ENDINGS)


async def receive_file(chunks: AsyncIterator[bytes], folder: Path, name: str, stem: str, announced: str | None) -> Path:
    """Write an upload into a new folder below ``folder``; remove it if the file is too large or incomplete.

    Parameters
    ----------
    chunks : async iterator of bytes
    folder : Path
    name, stem : str
        The user's name of the file, and the stem of its stored name.
    announced : str, optional
        Content length of the request, in bytes.

    Raises
    ------
    TooLargeError
        The file has more than 200 MB.
    InputError
        The file is empty.
    """
    if announced is not None and announced.isdecimal() and int(announced) > MAX_UPLOAD_BYTES:
        raise _too_large()
    upload_folder = Path(tempfile.mkdtemp(prefix="upload-", dir=folder))
    target = upload_folder / stored_name(name, stem)
    size = 0
    try:
        with open(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
            async for chunk in chunks:
                size += len(chunk)
                if size > MAX_UPLOAD_BYTES:
                    raise _too_large()
                stream.write(chunk)
        if not size:
            raise InputError("the file is empty; choose one that holds judges' answers")
    except BaseException:
        shutil.rmtree(upload_folder, ignore_errors=True)
        raise
    return target


def _too_large() -> TooLargeError:
    return TooLargeError(
        f"the file has more than {MAX_UPLOAD_BYTES // 2**20} MB; fit it by the command line (voirdire fit FILE)"
    )
