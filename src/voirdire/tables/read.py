"""Read the named columns of a table, whatever it is kept in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from voirdire.tables.problems import Problems, nearest

Cells = dict[str, Sequence[object]]

CODED = 10_000  # rows from which a column of text is taken as codes


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


def frame_of(table: object, problems: Problems) -> tuple[Any, list[str]]:
    """A dataframe as narwhals has it, and the names of its columns."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(table)
        return frame, frame.collect_schema().names()
    except TypeError:
        problems.stop(
            f"{type(table).__name__} is not a kind of table; give the path of a CSV, Parquet or JSONL file, "
            "or a dataframe (pandas, Polars, PyArrow, DuckDB)"
        )
    except DuplicateError as error:
        problems.stop(f"a column name occurs twice: {' '.join(str(error).split())}")


def _read_frame(
    table: object, required: Sequence[str], optional: Sequence[str] | None, problems: Problems
) -> Cells:
    import narwhals as nw

    frame, header = frame_of(table, problems)
    wanted = choose(header, required, optional, problems)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():
            from voirdire.tables.files import relation_columns

            return relation_columns(frame.to_native(), wanted)
        polars = frame.implementation.is_polars()
        frame = frame.select(wanted).collect(backend="polars" if polars else "pandas")
    return {name: cells_of(frame[name]) for name in wanted}


def cells_of(series: Any) -> Sequence[object]:
    """A column's cells; a long column of text as codes, which are quicker to come by than the cells."""
    native = series.to_native()
    if len(series) >= CODED and type(native).__module__.startswith("pandas"):
        import pandas as pd

        if isinstance(native.dtype, pd.StringDtype):
            codes, levels = pd.factorize(native)
            return Coded(codes.astype("int64"), [*levels.tolist(), None])
    return series.to_list()  # type: ignore[no-any-return]


class Coded(Sequence[object]):
    """Cells of a column as places in a list of distinct values; the last value stands for missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> list(Coded(np.array([0, 1, 0, -1]), ["a", "b", None]))
    ['a', 'b', 'a', None]
    """

    def __init__(self, codes: Any, levels: list[object]) -> None:
        self.codes, self.levels = codes, levels

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        return self.levels[self.codes[row]]


def columns_among(table: object, among: Sequence[str], problems: Problems) -> list[str]:
    """Which of some columns a table has, without reading its rows where that can be done.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_among(pd.DataFrame({"judge": ["a"], "note": ["x"]}), ["judge", "winner"], Problems("votes"))
    ['judge']
    """
    if not isinstance(table, str | os.PathLike):
        return choose(frame_of(table, problems)[1], [], among, problems)
    from voirdire.tables.files import header
    from voirdire.tables.grouped import files_of

    return choose(header(files_of(os.fspath(table), problems)[0], problems), [], among, problems)
