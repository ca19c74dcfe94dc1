"""Dataframes as sources for the readers of tables: columns, and rows one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from voirdire.tables.cells import as_narwhals, column_cells
from voirdire.tables.formats.records import Placed
from voirdire.tables.formats.source import Head, Source
from voirdire.tables.problems import Problems


@dataclass
class FrameSource(Source):
    """A dataframe that narwhals supports; places are row numbers from 1."""

    frame: Any = None

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return "table"

    def _own_records(self, columns: Sequence[str] = ()) -> Placed:
        names = [name for name in self.frame.collect_schema().names() if name not in self.left_out]
        wanted = [name for name in names if not columns or name in columns]
        lazy = hasattr(self.frame, "collect")
        frame = self.frame.select(wanted).collect() if lazy else self.frame
        cells = [map(_cell_or_none, column_cells(frame[name])) for name in wanted]
        for number, row in enumerate(zip(*cells, strict=True), start=1):
            yield f"row {number}", dict(zip(wanted, row, strict=True))


def _cell_or_none(cell: Any) -> Any:
    """A cell; None for the missing values of all libraries."""
    missing = type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)
    return None if missing else cell


@contextmanager
def opened_frame(table: object) -> Iterator[FrameSource]:
    """Open a dataframe as a source; a lazy one is collected when its rows are read.

    Raises
    ------
    InputError
        The table is no dataframe, or a column name occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> with opened_frame(pd.DataFrame({"judge": ["a"], "score": [1]})) as source:
    ...     list(source.records())
    [('row 1', {'judge': 'a', 'score': 1})]
    """
    frame, names = as_narwhals(table, Problems("table"))
    columns = tuple(str(name) for name in names)
    yield FrameSource("table", "", "frame", Head("table", frozenset(columns), columns=columns), frame=frame)
