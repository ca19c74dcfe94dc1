"""Registry of the data sets: descriptions (`registry.toml`), addresses of files (`files.csv`), converters."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from voirdire.datasets import convert, gold, mtrepro
from voirdire.datasets.cache import RemoteFile

if TYPE_CHECKING:
    import pandas as pd


@cache
def _listed_files() -> tuple[dict[str, str], ...]:
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def upstream_files(name: str) -> tuple[RemoteFile, ...]:
    """Return the files of a data set, in the order of ``files.csv``; empty for one that is part of the package.

    A file is cached under the last part of its address, or under its upstream path if files share that last part.

    Examples
    --------
    >>> [file.filename for file in upstream_files("llmfao")][0]
    'crowd-comparisons.csv'
    >>> [file.filename for file in upstream_files("llmbar")][-1]
    'Dataset/LLMBar/Natural/dataset.json'
    """
    rows = [row for row in _listed_files() if row["name"] == name]
    name_counts = Counter(row["path"].rsplit("/", 1)[-1] for row in rows)
    shared = max(name_counts.values(), default=1) > 1
    return tuple(
        RemoteFile(
            f"https://raw.githubusercontent.com/{row['repository']}/{row['commit']}/{row['path']}",
            row["sha256"],
            path=row["path"] if shared else "",
            size=int(row["bytes"] or 0),
        )
        for row in rows
    )


def source_page(name: str) -> str:
    """Return the address of the page of the commit of a data set's files.

    Examples
    --------
    >>> source_page("llmbar")
    'https://github.com/princeton-nlp/LLMBar/tree/900616bff90b6c6c8e1681f7d079250637c55992'
    """
    rows = (row for row in _listed_files() if row["name"] == name)
    pages = (f"https://github.com/{row['repository']}/tree/{row['commit']}" for row in rows)
    return ", ".join(dict.fromkeys(pages))


@dataclass(frozen=True)
class Entry:
    """Entry of a data set: its files, passed to ``convert`` in order, and the texts of ``Dataset``.

    ``convert`` gives the table, or the table, people's answers and values of items (see ``Dataset``); ``rows`` is the
    size of the table in words.

    Examples
    --------
    >>> REGISTRY["llmfao"].kind, len(REGISTRY["llmfao"].files)
    ('votes', 3)
    """

    kind: Literal["votes", "scores", "labels"]
    files: tuple[RemoteFile, ...]
    convert: Callable[..., pd.DataFrame | tuple[pd.DataFrame | None, ...]]
    rows: str
    description: str
    licence: str
    citation: str
    source: str


_JUDGES = tuple(file.filename.removesuffix(".txt") for file in upstream_files("llmjudge")[:-1])
# chosen before any fit
_HALF = ("q0", "q9", "q13", "q15", "q19", "q22", "q30", "q32", "q34", "q36", "q38", "q43", "q46")
_SUBSETS = ("GPTInst", "GPTOut", "Manual", "Neighbor", "Natural")
_CONVERT: dict[str, Callable[..., pd.DataFrame | tuple[pd.DataFrame | None, ...]]] = {
    "demo": convert.demo_tables,
    "llmfao": convert.convert_llmfao,
    "topical-chat-unieval": convert.convert_topical_chat,
    "summeval-unieval": convert.convert_summeval,
    "mslr-cochrane": convert.convert_mslr_cochrane,
    "mslr-pairwise": convert.preference_votes,
    "dices-350": gold.convert_dices,
    "llmbar": partial(gold.convert_llmbar, subsets=_SUBSETS),
    "llmbar-judges": gold.convert_llmbar_judges,
    "llmjudge": partial(gold.convert_llmjudge, judges=_JUDGES),
    "llmjudge-half": partial(gold.convert_llmjudge, judges=_JUDGES, queries=_HALF),
    "mtrepro": mtrepro.votes_and_lengths,
    "mtrepro-scores": mtrepro.turn_scores,
    "newsroom": gold.convert_newsroom,
}
with Path(__file__).with_name("registry.toml").open("rb") as _file:
    REGISTRY: dict[str, Entry] = {
        name: Entry(
            **{"source": source_page(name)}
            | about
            | {"files": upstream_files(about.get("files", name)), "convert": _CONVERT[name]}
        )
        for name, about in tomllib.load(_file).items()
    }
