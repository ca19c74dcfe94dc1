"""Published tables of votes and scores, fetched from their authors' addresses and checked.

``load`` downloads a data set's files once, refuses any whose SHA-256 differs from the registered one, and turns them
into this package's table format. Only ``demo``, a small panel of our own, comes with the package. The folder they are
kept in is the system's cache folder for ``voirdire``, or the one that the environment variable ``VOIRDIRE_CACHE``
names.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from voirdire.datasets.cache import fetch
from voirdire.datasets.registry import REGISTRY
from voirdire.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "available", "load"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A published table with what one must know to use it; printing it shows licence and citation.

    Attributes
    ----------
    name : str
        The name it is loaded by.
    kind : {"votes", "scores"}
        Which table format ``table`` has.
    table : pandas.DataFrame
        One row per judgement, in the upstream files' order.
    description, licence, citation : str
        What the judgements are, under which terms they were published, and whom to cite.
    source : str
        The page of the commit that the files come from.
    criteria_votes : pandas.DataFrame, optional
        Votes on the criteria themselves, where there are any.

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
    kind: Literal["votes", "scores"]
    table: pd.DataFrame
    description: str
    licence: str
    citation: str
    source: str
    criteria_votes: pd.DataFrame | None = None

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
    """The names that ``load`` knows, sorted.

    Examples
    --------
    >>> available()
    ['demo', 'llmfao', 'mslr-cochrane', 'summeval-unieval', 'topical-chat-unieval']
    """
    return sorted(REGISTRY)


def load(name: str) -> Dataset:
    """Fetch a published data set, or read it from the cache, as a table of votes or scores.

    Parameters
    ----------
    name : str
        One of ``available()``.

    Returns
    -------
    Dataset
        Its ``table`` has the columns judge, context, first, second, winner (kind ``votes``) or context,
        system, criterion, judge, score (kind ``scores``).

    Raises
    ------
    InputError
        The name is unknown, a file could not be downloaded, or its SHA-256 is not the registered one.

    Notes
    -----
    The files are kept under ``VOIRDIRE_CACHE`` (default: the system's cache folder) and checked again at
    each load; a download that is cut short or does not match leaves no file behind.

    Examples
    --------
    >>> load("llmfao").table.shape  # doctest: +SKIP
    (13209, 5)
    """
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise InputError(f"data set '{name}' is unknown: {hint}available are {', '.join(available())}")
    entry = REGISTRY[name]
    paths = fetch(name, entry.files)
    return Dataset(
        name=name,
        kind=entry.kind,
        table=entry.convert(*paths),
        description=entry.description,
        licence=entry.licence,
        citation=entry.citation,
        source=entry.source,
        criteria_votes=None if entry.criteria_votes is None else entry.criteria_votes(),
    )
