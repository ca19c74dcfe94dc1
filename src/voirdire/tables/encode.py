"""Coding of columns of names: values that are names, the spelling of numbers, and values that are refused."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voirdire.tables.cells import CodedCells
from voirdire.tables.numbers import number_text
from voirdire.tables.problems import Problems

IntArray: TypeAlias = NDArray[np.int64]

# Case-sensitive: "Na" is a person's name, "NA" is what R writes for a missing value.
MISSING = frozenset({"nan", "NaN", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "None", "NaT"})
_OPTIONAL_COLUMNS = frozenset({"context", "criterion", "run", "system"})
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)\.0+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Refused:
    """A cell that is not a name, with the reason, which is worded to follow the column's name."""

    reason: str


#: A cell of a row that could not be read and has been reported already.
UNREAD = Refused("")


@dataclass(frozen=True, eq=False)
class Column:
    """A column of names as codes.

    Attributes
    ----------
    levels : tuple of str
        The distinct names in the order of their first occurrence.
    codes : int64 array, shape (rows,)
        Index into `levels`; -1 for an unusable cell, which has been reported.
    """

    levels: tuple[str, ...]
    codes: IntArray


def cell_to_name(value: object, *, ends: bool = False) -> str | Refused:
    """Write one cell as a name (text unchanged, whole numbers without ``.0``), or give the reason why it is no name.

    With ``ends``, white space at the ends is part of the name, as in prompts.

    Examples
    --------
    >>> cell_to_name(3), cell_to_name(3.0), cell_to_name("3.0"), cell_to_name(0.5), cell_to_name("v3.0")
    ('3', '3', '3', '0.5', 'v3.0')
    >>> cell_to_name(float("nan"))
    Refused(reason='is empty')
    """
    if isinstance(value, str):
        return _name_of_text(value, ends)
    if isinstance(value, Refused):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return Refused("is empty")
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _name_of_number(float(value))
    import datetime
    import decimal
    import uuid

    if isinstance(value, datetime.date | datetime.time | decimal.Decimal | uuid.UUID):
        return _name_of_text(str(value), ends)
    return Refused(f"is a {type(value).__name__}, which is not a name; write it as text")


def _name_of_number(value: float) -> str | Refused:
    if math.isnan(value):
        return Refused("is empty")
    if math.isinf(value):
        return Refused(f"is {value}, which is not a name")
    return number_text(value)


def _name_of_text(value: str, ends: bool) -> str | Refused:
    stripped = value.strip()
    if not stripped:
        return Refused("is empty")
    if stripped != value and not ends:
        return Refused(f"{value!r} has white space at an end; remove it")
    if value in MISSING:
        return Refused(f"is {value!r}, which stands for a missing value; fill it in, or rename it if it is a name")
    if not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value):
        return Refused(f"{value!r} has half of a character (a lone surrogate); write it anew")
    if "\0" in value:
        return Refused(f"{value!r} has a zero byte; remove it")
    if value.endswith("0") and _WHOLE_NUMBER.fullmatch(value):
        return str(int(value.partition(".")[0]))
    return value


def dense_codes(values: NDArray[Any]) -> IntArray:
    """Code values by consecutive integers from 0, in the order of the values.

    Examples
    --------
    >>> dense_codes(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def encode_column(values: Sequence[object], column: str, problems: Problems) -> Column:
    """Code one column of names, reporting every cell that is not a name.

    Names are compared exactly, including case. White space at an end is reported, because ``'a'`` and ``'a '`` are
    rarely two judges; in the column ``context`` it is kept, because contexts may be prompts. Numbers become text; a
    whole number is written without ``.0``, whether it is a number or text, so that a CSV file and a dataframe that
    turned ids into floats give the same names. Missing values (None, NaN, an empty string) and words for missing
    values (``NaN``, ``NA``, ``null``, ``None``) are reported.

    Parameters
    ----------
    values : sequence
        The cells, one per row.
    column : str
        The column's name, for the messages.
    problems : Problems
        Receives the unusable cells.

    Returns
    -------
    Column
        Levels in the order of their first occurrence and codes of shape (rows,).

    Examples
    --------
    >>> problems = Problems("votes")
    >>> encode_column(["b", "a", "b"], "judge", problems).codes.tolist()
    [0, 1, 0]
    """
    read = partial(cell_to_name, ends=column == "context")
    index: defaultdict[object, int] = defaultdict(count().__next__)
    keys: Sequence[object] = values
    if isinstance(values, CodedCells):
        if len(set(map(type, values.levels)) - {type(None)}) > 1:
            values = CodedCells(values.codes, [read(value) for value in values.levels])
            keys = values
        value_codes = np.fromiter(map(index.__getitem__, values.levels), np.int64, len(values.levels))[values.codes]
    else:
        kinds = set(map(type, values)) - {type(None)}
        # Comparison across types would merge True with 1, and a list cannot be a key of a dict.
        if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
            keys = [read(value) for value in values]
        value_codes = np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))

    levels: dict[str, int] = {}
    reasons: dict[str, int] = {}
    recode = np.full(len(index), -1, np.int64)
    refused = np.full(len(index), -1, np.int64)
    used = np.bincount(value_codes, minlength=len(index)) > 0
    for key, number in index.items():
        if not used[number]:
            continue  # the level of missing cells, where no cell is missing
        name = read(key)
        if isinstance(name, str):
            recode[number] = levels.setdefault(name, len(levels))
        elif name.reason:
            refused[number] = reasons.setdefault(name.reason, len(reasons))
    codes = recode[value_codes]
    if reasons:
        first_row = dict(zip(*np.unique(codes, return_index=True), strict=True))
        sentences = list(reasons)
        for reason, rows in rows_by_code(refused[value_codes]):
            value = keys[rows[0]]
            twin = levels.get(value.strip()) if isinstance(value, str) else None
            hint = f" (row {first_row[twin] + 1} has it without)" if twin is not None else ""
            if not levels and column in _OPTIONAL_COLUMNS:
                hint = ", as in all rows; leave the column out (--leave-out)"
            problems.rows(rows + 1, f"{column} {sentences[reason]}{hint}")
    return Column(tuple(levels), codes)


def rows_by_code(codes: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield each nonnegative code with the ascending indices of its rows.

    Examples
    --------
    >>> [(code, where.tolist()) for code, where in rows_by_code(np.array([1, -1, 0, 1]))]
    [(0, [2]), (1, [0, 3])]
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    distinct, starts = np.unique(codes[rows], return_index=True)
    # Splitting an empty array gives one empty part.
    yield from zip(distinct.tolist(), np.split(rows, starts[1:]), strict=False)


def report_lookalikes(columns: Mapping[str, Column], problems: Problems) -> None:
    """Report names that look the same but are written with different Unicode characters.

    An example is a composed ``é`` and an ``e`` with a combining accent.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns that name the same kind of thing, such as ``first`` and ``second``.
    problems : Problems
        Receives the names.

    Examples
    --------
    >>> problems = Problems("votes")
    >>> report_lookalikes({"judge": encode_column(["\\u00e9", "e\\u0301"], "judge", problems)}, problems)
    >>> bool(problems)
    True
    """
    import unicodedata

    seen: dict[str, tuple[str, str]] = {}
    for label, column in columns.items():
        for number, level in enumerate(column.levels):
            if level.isascii():
                continue
            spelling, first_column = seen.setdefault(unicodedata.normalize("NFC", level), (level, label))
            if spelling != level:
                rows = np.flatnonzero(column.codes == number) + 1
                problems.rows(rows, f"{label} {level!r} {lookalike_sentence(first_column, spelling)}")


def lookalike_sentence(column: str, name: str) -> str:
    """Write the end of the sentence about a name that looks the same as another one.

    Examples
    --------
    >>> lookalike_sentence("judge", "a")
    "looks like the judge 'a' but is written with other Unicode characters; normalise the names"
    """
    return f"looks like the {column} {name!r} but is written with other Unicode characters; normalise the names"


def level_positions(levels: Iterable[str], among: Sequence[str]) -> IntArray:
    """Find the index of each level in ``among``, -1 where it is absent; shape (levels,).

    Examples
    --------
    >>> level_positions(["b", "z"], ["a", "b"]).tolist()
    [1, -1]
    """
    position = dict(zip(among, range(len(among)), strict=True))
    return np.array([position.get(level, -1) for level in levels], np.int64)
