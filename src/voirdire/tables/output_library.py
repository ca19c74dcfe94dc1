"""Tables of results in the library of the input table: Polars for Polars, pandas for everything else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def library_of(table: object) -> str:
    """Name the library of a table, or of the first of several: "polars" or "pandas".

    Examples
    --------
    >>> library_of("votes.csv")
    'pandas'
    """
    first = table[0] if isinstance(table, list | tuple) and table else table
    polars = sys.modules.get("polars")
    return "polars" if polars is not None and isinstance(first, polars.DataFrame | polars.LazyFrame) else "pandas"


def convert_to_library(table: pd.DataFrame, library: str) -> pd.DataFrame:
    """Convert a table of results to a library; in Polars tuples become lists, and ``attrs`` are lost.

    Examples
    --------
    >>> import pandas as pd
    >>> convert_to_library(pd.DataFrame({"judge": ["a"]}), "pandas").columns.tolist()
    ['judge']
    """
    if library != "polars":
        return table
    import polars

    converted: Any = polars.DataFrame([_polars_series(str(name), column) for name, column in table.items()])
    return converted  # type: ignore[no-any-return]


def _polars_series(name: str, column: pd.Series) -> Any:
    import polars

    cells = [list(cell) if isinstance(cell, tuple) else cell for cell in column.tolist()]
    if column.dtype.kind == "f":
        return polars.Series(name, cells, dtype=polars.Float64)
    values = [None if isinstance(cell, float) and cell != cell else cell for cell in cells]
    if all(cell is None for cell in values):
        return polars.Series(name, values, dtype=polars.String)
    return polars.Series(name, values, strict=False)
