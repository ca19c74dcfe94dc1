"""Files from the network: downloaded once, checked at every use, never half written."""

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
    """A file at a fixed public address: ``url``, and the ``sha256`` its bytes must have (64 hex digits).

    ``path`` is where it is kept in the cache's folder of its data set; ``size`` its bytes, 0 where they are not known.
    Without a ``sha256`` the address must name a commit, which says which bytes they are; what the first download had is
    noted beside the file, and it must stay that. A file beside which there is no note is not believed.

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
        """The file's name in the cache: ``path``, or the last part of the address."""
        return self.path or self.url.rsplit("/", 1)[-1]


def is_cached(name: str, files: Sequence[RemoteFile]) -> bool:
    """True where all of a data set's files are in the cache, and are known by their SHA-256 (``load`` checks it).

    Examples
    --------
    >>> is_cached("nothing", [])
    True
    """
    folder = cache_dir() / name
    return all((folder / file.filename).is_file() and _known_digest(folder, file) for file in files)


def _known_digest(folder: Path, file: RemoteFile) -> str:
    """The SHA-256 that a file must have, registered or noted at its download; empty where there is neither."""
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
    """Paths of a data set's files; those that are absent, have other bytes or are unknown are downloaded first.

    Pooch writes a download to a temporary file in the cache folder and moves it into place only when its
    SHA-256 matches, so a file found there is whole. One whose SHA-256 is neither registered nor noted is fetched anew,
    whatever the cache holds, and an empty one is refused.

    Parameters
    ----------
    name : str
        The data set's name, a folder of the cache.
    files : sequence of RemoteFile
        What to fetch.

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
                target.unlink(missing_ok=True)  # pooch would take it as it is
            known_hash = f"sha256:{digest}" if digest else None
            pooch.retrieve(file.url, known_hash=known_hash, fname=file.filename, path=folder)
            if not digest and not target.stat().st_size:
                target.unlink()
                problems.append(
                    f"data set '{name}': what {file.url} sent was refused, it is empty: try again later"
                )
            elif not digest:
                write_file(_digest_path(folder, file), pooch.file_hash(str(target)) + "\n")
        except OSError as error:
            # What the network does wrong has no number of the system's; requests' errors are OSErrors too.
            stored = isinstance(error, PermissionError) or error.errno is not None
            problems.append(
                f"data set '{name}': cannot write to {folder} ({error}): "
                "name another folder in VOIRDIRE_CACHE"
                if stored
                else f"data set '{name}': could not download {file.url} ({type(error).__name__}): connect to the "
                f"network, {by_hand}name the folder that holds it (folder=, --folder)"
            )
        except ValueError as error:
            # Pooch's word for a download whose hash differs; it has already removed the bytes.
            problems.append(
                f"data set '{name}': what {file.url} sent was refused, its SHA-256 is not {digest}: try "
                f"again, and if it stays so the file has changed upstream ({error})"
            )
        paths.append(target)
    if problems:
        raise InputError(problems)
    return paths
