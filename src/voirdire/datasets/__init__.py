"""Published tables of votes and scores, downloaded from their authors' addresses and checked.

``load`` downloads the files of a data set once, refuses files with another SHA-256 than the registered one, and
converts them to this package's table format. Without a network it reads the files, or copies of the tables, from a
folder. Only ``demo``, a small panel of our own, is part of the package. Downloads are kept in the system's cache folder
for ``voirdire``, or in the folder in the environment variable ``VOIRDIRE_CACHE``.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voirdire.datasets.cache import PARTS, fetch_files, find_files, find_part_files, is_cached
from voirdire.datasets.registry import REGISTRY, Entry
from voirdire.errors import InputError
from voirdire.folders import cache_dir

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "available", "load", "overview"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Published table with its description; printing it shows licence and citation.

    Attributes
    ----------
    name : str
        Name, as for ``load``.
    kind : {"votes", "scores", "labels"}
        Format of ``table``.
    table : pandas.DataFrame
        One row per judgement, in the order of the upstream files.
    description, licence, citation : str
        Content of the judgements, terms of publication, and works to cite.
    source : str
        Address of the page of the commit of the files.
    gold : pandas.DataFrame, optional
        People's answers about the items that are not in the table: labels (columns item, label) or votes.
    items : pandas.DataFrame, optional
        Further values of the items (columns item and context, or either, and more); its numeric columns can be used
        as ``covariates=`` of ``fit``.

    Examples
    --------
    >>> import pandas as pd
    >>> Dataset("tiny", "votes", pd.DataFrame({"judge": ["a"]}), "One vote.", "CC0", "Nobody.", "here")
    tiny: One vote.
    votes table, 1 rows x 1 columns (judge)
    licence: CC0
    cite: Nobody.
    source: here
    """

    name: str
    kind: Literal["votes", "scores", "labels"]
    table: pd.DataFrame
    description: str
    licence: str
    citation: str
    source: str
    gold: pd.DataFrame | None = None
    items: pd.DataFrame | None = None

    def __repr__(self) -> str:
        rows, columns = self.table.shape
        return "\n".join(
            [
                f"{self.name}: {self.description}",
                f"{self.kind} table, {rows} rows x {columns} columns ({', '.join(self.table.columns)})",
                f"licence: {self.licence}",
                f"cite: {self.citation}",
                f"source: {self.source}",
            ]
        )


def available() -> list[str]:
    """Return the sorted names of the data sets.

    Examples
    --------
    >>> available()  # doctest: +NORMALIZE_WHITESPACE
    ['demo', 'dices-350', 'llmbar', 'llmbar-judges', 'llmfao', 'llmjudge', 'llmjudge-half', 'mslr-cochrane',
    'mslr-pairwise', 'mtrepro', 'mtrepro-scores', 'newsroom', 'summeval-unieval', 'topical-chat-unieval']
    """
    return sorted(REGISTRY)


def overview() -> pd.DataFrame:
    """Return one row per data set: ``name``, ``kind``, ``what`` (description), ``size``, ``licence``, ``cached``.

    ``size`` is in rows and, where known, in megabytes of its files; ``cached`` is True if ``load`` needs no network.

    Examples
    --------
    >>> overview().set_index("name").loc["demo", ["kind", "size"]].tolist()
    ['votes', '960 votes']
    """
    import pandas as pd

    def rows_and_bytes(entry: Entry) -> str:
        size = sum(file.size for file in entry.files)
        return entry.rows + (f"; {size / 1e6:.1f} MB" if size else "")

    rows = [
        {
            "name": name,
            "kind": entry.kind,
            "what": entry.description,
            "size": rows_and_bytes(entry),
            "licence": entry.licence,
            "cached": is_cached(name, entry.files) or bool(find_part_files(name, cache_dir() / name)),
        }
        for name, entry in sorted(REGISTRY.items())
    ]
    return pd.DataFrame(rows)


def load(name: str, *, folder: str | Path | None = None) -> Dataset:
    """Fetch a published data set, or read it from the cache or a folder, as a table of votes, scores or labels.

    Parameters
    ----------
    name : str
        One of ``available()``.
    folder : str or Path, optional
        Folder with the upstream files (a clone of their repository, or copies with the same ends of names), or with
        CSV files of the tables (recognised by their rows, under any name). With a folder, nothing is downloaded.

    Returns
    -------
    Dataset
        Data set. Its ``table`` has the columns judge, context, first, second, winner (kind ``votes``), context or
        item, system, criterion, judge, score (kind ``scores``) or item, judge, label (kind ``labels``).

    Raises
    ------
    InputError
        The name is unknown, a file could not be downloaded or is not in ``folder``, or its SHA-256 is wrong.

    Notes
    -----
    The files are kept under ``VOIRDIRE_CACHE`` (default: the system's cache folder) and checked again at each load. A
    download that is incomplete or has a wrong SHA-256 leaves no file.

    Examples
    --------
    >>> load("llmfao").table.shape  # doctest: +SKIP
    (13209, 5)
    """
    if name not in REGISTRY:
        close_names = difflib.get_close_matches(name, REGISTRY, n=1)
        hint = f"did you mean '{close_names[0]}'? " if close_names else ""
        raise InputError(f"data set '{name}' is unknown: {hint}available are {', '.join(available())}")
    entry = REGISTRY[name]
    copies = find_part_files(name, cache_dir() / name if folder is None else folder)
    if copies:
        table, gold, items = (_read_copy(copies[part]) if part in copies else None for part in PARTS)
    else:
        paths = fetch_files(name, entry.files) if folder is None else find_files(name, entry.files, folder)
        converted = entry.convert(*paths)
        table, gold, items = (*converted, None, None)[:3] if isinstance(converted, tuple) else (converted, None, None)
    assert table is not None
    fields = {field: getattr(entry, field) for field in ("kind", "description", "licence", "citation", "source")}
    return Dataset(name=name, table=table, gold=gold, items=items, **fields)


def _read_copy(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, keep_default_na=False)
