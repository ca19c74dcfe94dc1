"""Copies of data sets in this package's form, in place of upstream files: recognised by `copies.csv`.

A data set's files in a folder of the user's, where there is no network: found by name, known by their bytes.
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
    """Paths of a data set's files in a folder, or below it: a clone of the repository will do, and so will copies.

    A file is looked for by the end of its name (``llmfao-crowd-comparisons.csv`` may be ``crowd-comparisons.csv``), and
    is the one with the registered SHA-256; one without a registered SHA-256 by its name alone, if it is not empty.

    Parameters
    ----------
    name : str
        The data set's name, for messages.
    files : sequence of RemoteFile
        What to find.
    folder : str or Path

    Returns
    -------
    list of Path
        One per file, in order.

    Raises
    ------
    InputError
        There is no such folder; one sentence per file that is not in it or has other bytes.

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
        # where files share a name, and no digest tells them apart, only their path upstream does
        end = file.filename if file.path and not file.sha256 else last
        matches = [path for path in candidates if path.as_posix().endswith(end)]
        # the file at its path upstream first, so that most folders are read once
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
    """SHA-256 of a CSV file's first line and its other lines in order, whatever their order and line ends there.

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
    """The first line and the digest of each part of a data set, where they are known.

    Examples
    --------
    >>> registered_parts("newsroom")["items"][0], registered_parts("demo")
    ('item,context,system', {})
    """
    with Path(__file__).with_name("copies.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == name]
    return {row["part"]: (row["columns"].replace(" ", ","), row["sha256"]) for row in rows}


def find_part_files(name: str, folder: str | Path) -> dict[str, Path]:
    """The CSV files in a folder that hold the parts of a data set, by content; none where one is missing.

    Parameters
    ----------
    name : str
        The data set's name.
    folder : str or Path
        Files below it are looked at, too.

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
