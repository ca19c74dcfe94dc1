"""Where the upstream files of each data set are, and what bytes they have: ``files.csv`` beside this module."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path

from voirdire.datasets.cache import RemoteFile


@cache
def upstream_files(name: str) -> tuple[RemoteFile, ...]:
    """The files of a data set, in the order of ``files.csv``; none of one that comes with the package.

    A file is kept under the last part of its address; where files of a data set share that, under its path upstream.

    Examples
    --------
    >>> [file.filename for file in upstream_files("llmfao")][0]
    'crowd-comparisons.csv'
    >>> [file.filename for file in upstream_files("llmbar")][-1]
    'Dataset/LLMBar/Natural/dataset.json'
    """
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == name]
    last = Counter(row["path"].rsplit("/", 1)[-1] for row in rows)
    shared = max(last.values(), default=1) > 1
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
    """The page of the commit that a data set's files come from.

    Examples
    --------
    >>> source_page("llmbar")
    'https://github.com/princeton-nlp/LLMBar/tree/900616bff90b6c6c8e1681f7d079250637c55992'
    """
    with Path(__file__).with_name("files.csv").open(encoding="utf-8", newline="") as file:
        pages = [
            f"https://github.com/{row['repository']}/tree/{row['commit']}"
            for row in csv.DictReader(file)
            if row["name"] == name
        ]
    return ", ".join(dict.fromkeys(pages))
