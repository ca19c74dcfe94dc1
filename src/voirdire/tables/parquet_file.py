"""A Parquet file as DuckDB reads it: this file and no other, with the columns that are in it and their own names."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class InFile:
    """A column: its name, what DuckDB calls it (names that differ in case are one to it), and its type."""

    name: str
    alias: str
    type: str

    @property
    def sql(self) -> str:
        """What to select. Times with a zone are text, because as Python's they need another package."""
        return quoted(self.alias) + ("::VARCHAR" if "WITH TIME ZONE" in self.type else "")


@contextmanager
def connected(folder: str | Path) -> Iterator[Any]:
    """A connection to DuckDB that puts temporary files into a folder, and prints nothing."""
    import duckdb

    with duckdb.connect() as connection:
        # it would go to standard output, which is ours
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET temp_directory = {literal(str(folder))}")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def exact(path: str, folder: str | Path) -> str:
    """A path as an SQL literal that stands for this file alone, whatever is in its name.

    DuckDB takes names for patterns, and has no way to write every name so that it is none: of a file with more than
    letters, digits and the like in its path, a link in ``folder`` is read.

    Examples
    --------
    >>> exact("/data/votes.csv", "/tmp")
    "'/data/votes.csv'"
    """
    real = os.path.realpath(path)
    if not re.fullmatch(r"[\w./: -]+", real):
        link = os.path.join(tempfile.mkdtemp(dir=folder), "file")
        with suppress(OSError):  # where there are no links, brackets must do
            os.symlink(real, link)
            real = link
    return literal(re.sub(r"[*?[]", r"[\g<0>]", real))


def parquet(path: str, folder: str | Path) -> str:
    """The table function of a Parquet file. The names of its folders are no columns."""
    return f"read_parquet({exact(path, folder)}, hive_partitioning = false)"


def parquet_columns(connection: Any, path: str, folder: str | Path) -> list[InFile]:
    """The columns of a Parquet file, in its order."""
    found = connection.execute(f"DESCRIBE SELECT * FROM {parquet(path, folder)}").fetchall()
    tree = connection.execute(f"SELECT name, num_children FROM parquet_schema({exact(path, folder)})")
    names, below = [], 0  # how many of those that come next are parts of the last column
    for name, children in tree.fetchall()[1:]:
        if not below:
            names.append(name)
        below += (children or 0) - (1 if below else 0)
    return [InFile(name, alias, kind) for name, (alias, kind, *_) in zip(names, found, strict=True)]


def literal(text: str) -> str:
    """Text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
