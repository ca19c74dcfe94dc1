"""Read the named columns of a table, whatever it is kept in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from voirdire.tables.problems import Problems, nearest

Cells = dict[str, Sequence[object]]


def read_columns(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    """Read columns of a file or a dataframe as lists of cells, one per row.

    Only the named columns are read; all others stay where they are. Of a lazy frame only they are
    collected. With ``optional=None`` every column is read.

    Parameters
    ----------
    table : path or dataframe
        A ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` file, or any dataframe that narwhals knows
        (pandas, Polars eager and lazy, PyArrow, DuckDB relation, ...).
    required, optional : sequence of str
        Columns to read; ``optional=None`` for all. A required one that is absent is reported with the
        nearest name that is present.
    problems : Problems
        Where problems are reported.

    Returns
    -------
    dict of str to sequence
        The cells of each column that is present. All have the same length.

    Raises
    ------
    InputError
        At once, if the table cannot be read at all.

    Examples
    --------
    >>> import pandas as pd
    >>> read_columns(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge"], ["run"], Problems("votes"))
    {'judge': ['a']}
    """
    if isinstance(table, str | os.PathLike):
        from voirdire.tables.files import read_file

        return read_file(os.fspath(table), required, optional, problems)
    return _read_frame(table, required, optional, problems)


def choose(
    header: Sequence[object], required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> list[str]:
    """Pick the columns to read from a header, reporting the absent and the repeated ones."""
    present = [name for name in header if isinstance(name, str)]
    if optional is None:
        optional = [name for name in dict.fromkeys(present) if name not in required]
    missing = [name for name in required if name not in present]
    spare = [name for name in present if name not in required and name not in optional]
    for name in missing:
        problems.table(f"column {name!r} is missing{_instead(name, spare)}")
    wanted = [name for name in [*required, *optional] if name in present]
    for name in wanted:
        if present.count(name) > 1:
            problems.table(f"column {name!r} occurs {present.count(name)} times; keep one")
    return wanted


def _instead(name: str, spare: Sequence[str]) -> str:
    shown = ", ".join(repr(column) for column in spare[:8])
    others = f"; the other columns are {shown}{', ...' if len(spare) > 8 else ''}" if spare else ""
    return nearest(name, spare) or others


def _read_frame(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(table)
        header = frame.collect_schema().names()
    except TypeError:
        problems.stop(
            f"{type(table).__name__} is not a kind of table; give the path of a CSV, Parquet or JSONL file, "
            "or a dataframe (pandas, Polars, PyArrow, DuckDB)"
        )
    except DuplicateError as error:
        problems.stop(f"a column name occurs twice: {' '.join(str(error).split())}")
    wanted = choose(header, required, optional, problems)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():
            from voirdire.tables.files import relation_columns

            return relation_columns(frame.to_native(), wanted)
        polars = frame.implementation.is_polars()
        frame = frame.select(wanted).collect(backend="polars" if polars else "pandas")
    return {name: frame[name].to_list() for name in wanted}
