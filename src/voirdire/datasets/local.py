"""A data set's files in a folder of the user's, where there is no network: found by name, known by their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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
    there = sorted(path for path in place.rglob("*") if path.is_file())
    digests: dict[Path, str] = {}
    paths, problems = [], []
    for file in files:
        last = file.url.rsplit("/", 1)[-1]
        # where files share a name, and no digest tells them apart, only their path upstream does
        end = file.filename if file.path and not file.sha256 else last
        named = [path for path in there if path.as_posix().endswith(end)]
        # the file at its path upstream first, so that most folders are read once
        named.sort(key=lambda path: (not path.as_posix().endswith(file.filename), path.name != last))
        for path in named:
            if path not in digests and file.sha256:
                digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
            if digests[path] == file.sha256 if file.sha256 else path.stat().st_size:
                paths.append(path)
                break
        else:
            fault = f"its SHA-256 is not {file.sha256}" if file.sha256 else "it is empty"
            problems.append(
                f"data set '{name}': {named[0]} was refused, {fault}: take the file as {file.url} sends it"
                if named
                else f"data set '{name}': {place} has no file {file.filename}: put there what {file.url} sends"
            )
    if problems:
        raise InputError(problems)
    return paths
