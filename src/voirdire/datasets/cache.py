"""Files from the network: downloaded once, checked at every use, never partly written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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
