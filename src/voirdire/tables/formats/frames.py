"""A dataframe as the readers of tables see it: its columns, and its rows one at a time."""

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
    """A dataframe that narwhals knows; its places are numbers of rows, the first row is 1."""

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
    """A cell, None for a missing one, however a library writes that."""
    missing = type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)
    return None if missing else cell


@contextmanager
def opened_frame(table: object) -> Iterator[FrameSource]:
    """A dataframe as a source; lazy ones are collected when their rows are read.

    Raises
    ------
    InputError
        It is no dataframe, or a column name occurs twice.

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
