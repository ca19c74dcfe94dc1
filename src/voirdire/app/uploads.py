"""Uploaded files: streamed into the private folder under a name of ours, up to a limit.

The folder that holds what is uploaded: private, removed at the end, and swept up by the next start after a crash.
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
        folder = drafts.new_folder(Path(tempfile.gettempdir(), FOLDER_PREFIX))
        try:
            with lock_folder(folder):
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
    for folder in Path(tempfile.gettempdir()).glob(f".{FOLDER_PREFIX}.*"):
        try:
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            with lock_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except (OSError, InputError):
            continue  # held by a process that runs, or just gone


MAX_UPLOAD_BYTES = 200 * 2**20
#: What the table and the texts of items are called here, whatever their sender calls them.
TABLE_NAME, TEXTS_NAME = "uploaded-file", "uploaded-texts"
_MAX_NAME_LETTERS = 120
#: Endings that say how a file is written; all others are told by the content.
_FILE_ENDINGS = (
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".eval", ".zip", ".gz", ".zst",
)  # fmt: skip


class TooLargeError(InputError):
    """Raised where a file is larger than the limit."""


def shown_name(given: str) -> str:
    """A file's name to be shown and copied: its last part, printable, not too long, never an option.

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


def stored_name(given: str, stem: str) -> str:
    """The name under which a file is kept: ours, with those of its endings that are known.

    Examples
    --------
    >>> stored_name("votes.CSV.gz", "table"), stored_name("../../x.sh", "table"), stored_name("a.csv/../b", "table")
    ('table.csv.gz', 'table', 'table')
    """
    endings = [ending.lower() for ending in PurePosixPath(shown_name(given)).suffixes[-2:]]
    return stem + "".join(ending for ending in endings if ending in _FILE_ENDINGS)


async def receive_file(
    chunks: AsyncIterator[bytes], folder: Path, name: str, stem: str, announced: str | None
) -> Path:
    """Write what is uploaded into a new folder in one; nothing stays of a file that is too large or ends early.

    Parameters
    ----------
    chunks : async iterator of bytes
    folder : Path
    name, stem : str
        What its sender calls it, and what it is called here.
    announced : str, optional
        The size that its sender says it has.

    Raises
    ------
    TooLargeError
        It has more than 200 MB.
    InputError
        It is empty.
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
