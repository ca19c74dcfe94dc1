"""Files of data sets in a folder of the user, for use without a network.

Upstream files are found by name and checked by their bytes. Copies of the converted tables are recognised by the
digests in `copies.csv`.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from voirdire.datasets.cache import RemoteFile
from voirdire.errors import InputError


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
