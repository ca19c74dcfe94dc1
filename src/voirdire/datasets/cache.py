"""Files of data sets: downloaded once or copied from a folder of the user, and checked at every use.

Files of data sets in a folder of the user, for use without a network.

Upstream files are found by name and checked by their bytes. Copies of the converted tables are recognised by the
digests in `copies.csv`.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from voirdire.errors import InputError
from voirdire.folders import cache_dir, write_file

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class RemoteFile:
    """File at a fixed public address: ``url``, and the ``sha256`` of its bytes (64 hex digits).

    ``path`` is its path in the cache folder of its data set; ``size`` its number of bytes, 0 if unknown. Without a
    ``sha256`` the address must contain a commit, which fixes the bytes. Then the SHA-256 of the first download is
    recorded in a file next to it, and all later uses must match; a cached file without this record is not used.

    Examples
    --------
    >>> RemoteFile("https://example.org/data/votes.csv", "0" * 64).filename
    'votes.csv'
    """

    url: str
    sha256: str = ""
    path: str = ""
    size: int = 0

    @property
    def filename(self) -> str:
        """Name of the file in the cache: ``path``, or the last part of the address."""
        return self.path or self.url.rsplit("/", 1)[-1]


def is_cached(name: str, files: Sequence[RemoteFile]) -> bool:
    """Return True if all files of a data set are cached and have a known SHA-256, which ``load`` checks.

    Examples
    --------
    >>> is_cached("nothing", [])
    True
    """
    folder = cache_dir() / name
    return all((folder / file.filename).is_file() and _known_digest(folder, file) for file in files)


def _known_digest(folder: Path, file: RemoteFile) -> str:
    """Return the SHA-256 of a file, registered or recorded at its download; empty if there is neither."""
    if file.sha256:
        return file.sha256
    try:
        noted = _digest_path(folder, file).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
    return noted if _DIGEST.fullmatch(noted) else ""


def _digest_path(folder: Path, file: RemoteFile) -> Path:
    return folder / f"{file.filename}.sha256"


def fetch_files(name: str, files: Sequence[RemoteFile]) -> list[Path]:
    """Return the paths of a data set's files; files that are absent or do not match are downloaded first.

    Pooch writes a download to a temporary file in the cache folder and moves it into place only when its SHA-256
    matches, so a file found there is complete. A file without a known SHA-256 is always downloaded again; an empty
    download is refused.

    Parameters
    ----------
    name : str
        Name of the data set and of its folder in the cache.
    files : sequence of RemoteFile
        Files to fetch.

    Returns
    -------
    list of Path
        One per file, in order; empty if ``files`` is.

    Raises
    ------
    InputError
        One sentence per file that could not be downloaded, is empty, or whose SHA-256 differs.

    Examples
    --------
    >>> fetch_files("nothing", [])
    []
    """
    import pooch

    folder = cache_dir() / name
    paths, problems = [], []
    for file in files:
        target = folder / file.filename
        digest = _known_digest(folder, file)
        by_hand = f"put the file at {target} by hand, or " if file.sha256 else ""
        try:
            if not digest:
                target.unlink(missing_ok=True)  # pooch would use it without a check
            known_hash = f"sha256:{digest}" if digest else None
            pooch.retrieve(file.url, known_hash=known_hash, fname=file.filename, path=folder)
            if not digest and not target.stat().st_size:
                target.unlink()
                problems.append(f"data set '{name}': what {file.url} sent was refused, it is empty: try again later")
            elif not digest:
                write_file(_digest_path(folder, file), pooch.file_hash(str(target)) + "\n")
        except OSError as error:
            # Errors of the network (those of requests are OSErrors) have no errno; errors of the file system have one.
            stored = isinstance(error, PermissionError) or error.errno is not None
            problems.append(
                f"data set '{name}': cannot write to {folder} ({error}): name another folder in VOIRDIRE_CACHE"
                if stored
                else f"data set '{name}': could not download {file.url} ({type(error).__name__}): connect to the "
                f"network, {by_hand}name the folder that holds it (folder=, --folder)"
            )
        except ValueError as error:
            # Pooch raises ValueError for a download with another hash, after removing it.
            problems.append(
                f"data set '{name}': what {file.url} sent was refused, its SHA-256 is not {digest}: try "
                f"again, and if it stays so the file has changed upstream ({error})"
            )
        paths.append(target)
    if problems:
        raise InputError(problems)
    return paths


def find_files(name: str, files: Sequence[RemoteFile], folder: str | Path) -> list[Path]:
    """Find the files of a data set in a folder or below it, for example in a clone of the repository.

    A file matches by the end of its name (``llmfao-crowd-comparisons.csv`` may be ``crowd-comparisons.csv``) and the
    registered SHA-256. A file without a registered SHA-256 matches by its name alone, if it is not empty.

    Parameters
    ----------
    name : str
        Name of the data set, for messages.
    files : sequence of RemoteFile
        Files to find.
    folder : str or Path

    Returns
    -------
    list of Path
        One per file, in order.

    Raises
    ------
    InputError
        The folder does not exist; or one sentence per file that is not in it or has other bytes.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "copy-votes.csv").write_text("judge\\n")
    >>> file = RemoteFile("https://example.org/votes.csv", hashlib.sha256(b"judge\\n").hexdigest())
    >>> [path.name for path in find_files("tiny", [file], folder)]
    ['copy-votes.csv']
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"data set '{name}': {place} is no folder: name the one that holds its files")
    candidates = sorted(path for path in place.rglob("*") if path.is_file())
    digests: dict[Path, str] = {}
    paths, problems = [], []
    for file in files:
        last = file.url.rsplit("/", 1)[-1]
        # files with the same name and no digest are distinguished by their upstream path
        end = file.filename if file.path and not file.sha256 else last
        matches = [path for path in candidates if path.as_posix().endswith(end)]
        # try the file at its upstream path first, so that most files are read once
        matches.sort(key=lambda path: (not path.as_posix().endswith(file.filename), path.name != last))
        for path in matches:
            if path not in digests and file.sha256:
                digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
            if digests[path] == file.sha256 if file.sha256 else path.stat().st_size:
                paths.append(path)
                break
        else:
            fault = f"its SHA-256 is not {file.sha256}" if file.sha256 else "it is empty"
            problems.append(
                f"data set '{name}': {matches[0]} was refused, {fault}: take the file as {file.url} sends it"
                if matches
                else f"data set '{name}': {place} has no file {file.filename}: put there what {file.url} sends"
            )
    if problems:
        raise InputError(problems)
    return paths


PARTS = ("table", "gold", "items")


def csv_digest(path: Path) -> str:
    """Compute the SHA-256 of the first line and the sorted other lines of a CSV file, without line ends.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, text in (("a", "judge,item\\nx,1\\nx,2\\n"), ("b", "judge,item\\r\\nx,2\\r\\nx,1\\r\\n")):
    ...     _ = (folder / name).write_bytes(text.encode())
    >>> csv_digest(folder / "a") == csv_digest(folder / "b")
    True
    """
    first, *others = path.read_bytes().splitlines() or [b""]
    return hashlib.sha256(b"\n".join([first, *sorted(others)])).hexdigest()


@cache
def registered_parts(name: str) -> dict[str, tuple[str, str]]:
    """Return the first line and the digest of each part of a data set; empty if they are not registered.

    Examples
    --------
    >>> registered_parts("newsroom")["items"][0], registered_parts("demo")
    ('item,context,system', {})
    """
    with Path(__file__).with_name("copies.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == name]
    return {row["part"]: (row["columns"].replace(" ", ","), row["sha256"]) for row in rows}


def find_part_files(name: str, folder: str | Path) -> dict[str, Path]:
    """Find the CSV files with the parts of a data set in a folder by content; empty if a part is missing.

    Parameters
    ----------
    name : str
        Name of the data set.
    folder : str or Path
        Folder, searched with its subfolders.

    Returns
    -------
    dict
        Path by part: ``table`` and, where the data set has them, ``gold`` and ``items``.

    Examples
    --------
    >>> find_part_files("newsroom", "no/such/folder")
    {}
    """
    registered, part_paths = registered_parts(name), {}
    csv_files = sorted(Path(folder).rglob("*.csv")) if registered else []
    heads = {path: _first_line(path) for path in csv_files}
    for part, (columns, known) in registered.items():
        matches = (path for path in csv_files if heads[path] == columns and csv_digest(path) == known)
        path = next(matches, None)
        if path is None:
            return {}
        part_paths[part] = path
    return part_paths


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        return file.readline(1000).strip().decode("utf-8", errors="replace")
