"""Cells of a table by column, and the choice of the columns to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from voirdire.tables.columns import ANSWER_COLUMNS, describe_missing, find_roles
from voirdire.tables.problems import Problems

Cells = dict[str, Sequence[object]]

MIN_CODED_ROWS = 10_000  # shorter columns of text are read as cells, not as codes


class CodedCells(Sequence[object]):
    """Cells of a column as indices into a list of distinct values; the last value stands for missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> list(CodedCells(np.array([0, 1, 0, -1]), ["a", "b", None]))
    ['a', 'b', 'a', None]
    """

    def __init__(self, codes: Any, levels: list[object]) -> None:
        self.codes, self.levels = codes, levels

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        return self.levels[self.codes[row]]


@dataclass(frozen=True)
class WantedColumns:
    """Columns to read from a table.

    Attributes
    ----------
    required : sequence of str
    optional : sequence of str, optional
        None for all further columns.
    problems : Problems
        Receives missing and repeated columns.
    """

    required: Sequence[str]
    optional: Sequence[str] | None
    problems: Problems

    def among(self, header: Sequence[object]) -> list[str]:
        """Choose the columns to read from a header; report columns that are missing or repeated."""
        present = [name for name in header if isinstance(name, str)]
        optional = present if self.optional is None else self.optional
        wanted = list(dict.fromkeys([*self.required, *optional]))
        missing = [name for name in self.required if name not in present]
        if missing:
            spare = [name for name in present if name not in wanted]
            may_map = bool(set(ANSWER_COLUMNS.values()) & {*self.required})
            self.problems.table(describe_missing(missing, present, spare, may_map=may_map))
        for sentence in repeated_columns(present):
            self.problems.table(sentence)
        return [name for name in wanted if name in present]

    def by_role(self, header: Sequence[str]) -> dict[str, str]:
        """Map the columns to read, by voirdire's names where these are wanted, to their names in a header."""
        named = {*self.required, *(self.optional or ())}
        roles = {column: name for column, name in find_roles(header).items() if column in named}
        column_of_name = {name: column for column, name in roles.items()}
        return {column: roles.get(column, column) for column in self.among([column_of_name.get(n, n) for n in header])}


def repeated_columns(names: Sequence[str]) -> list[str]:
    """Describe names that several columns share, ignoring white space at the ends; empty names are not compared.

    Examples
    --------
    >>> repeated_columns(["judge", "score", "judge ", "", ""])
    ["column 'judge' occurs 2 times; keep one, or rename one"]
    """
    counts = Counter(name.strip() for name in names)
    return [
        f"column {name!r} occurs {count} times; keep one, or rename one"
        for name, count in counts.items()
        if name and count > 1
    ]


def as_narwhals(table: object, problems: Problems) -> tuple[Any, list[str]]:
    """Convert a dataframe to narwhals; return it and the names of its columns."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(_normalise_pandas_frame(table, problems))
        return frame, frame.collect_schema().names()
    except TypeError:
        problems.stop(
            f"{type(table).__name__} is not a kind of table; give the path of a CSV, Parquet or JSONL file, "
            "or a dataframe (pandas, Polars, PyArrow, DuckDB)"
        )
    except DuplicateError as error:
        problems.stop(f"a column name occurs twice: {' '.join(str(error).split())}")


def _normalise_pandas_frame(table: Any, problems: Problems) -> Any:
    """Turn names of columns of a pandas dataframe into text and its named index into columns; keep other tables."""
    if not (type(table).__module__.startswith("pandas") and hasattr(table, "columns")):
        return table
    if table.columns.nlevels > 1:
        problems.stop("the columns have several levels of names; give each one name")
    levels = [name for name in table.index.names if name is not None and name not in table.columns]
    if levels:
        table = table.reset_index(level=levels)
    names = [name if isinstance(name, str) else str(name) for name in table.columns]
    return table if names == list(table.columns) else table.set_axis(names, axis="columns")


def column_cells(series: Any) -> Sequence[object]:
    """Fetch the cells of a column; a long column of text comes as codes, which is faster."""
    native = series.to_native()
    if len(series) >= MIN_CODED_ROWS and type(native).__module__.startswith("pandas"):
        import pandas as pd

        if isinstance(native.dtype, pd.StringDtype):
            codes, levels = pd.factorize(native)
            return CodedCells(codes.astype("int64"), [*levels.tolist(), None])
    return series.to_list()  # type: ignore[no-any-return]
