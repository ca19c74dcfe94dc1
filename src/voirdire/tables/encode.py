"""Turn a column of names into codes: which values are names, how numbers are written, which are refused."""

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

from voirdire.tables.cells import Coded
from voirdire.tables.numbers import number_text
from voirdire.tables.problems import Problems

IntArray: TypeAlias = NDArray[np.int64]

# Case-sensitive: "Na" is a person's name, "NA" is what R writes for a missing value.
MISSING = frozenset({"nan", "NaN", "NAN", "NA", "N/A", "n/a", "<NA>", "null", "NULL", "None", "NaT"})
_OPTIONAL = frozenset({"context", "criterion", "run", "system"})
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\.0+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Refused:
    """A cell that is not a name, and why; the reason is worded to follow the column's name."""

    reason: str


#: A cell of a row that could not be read and has been reported already.
UNREAD = Refused("")


@dataclass(frozen=True, eq=False)
class Column:
    """A column of names as codes.

    Attributes
    ----------
    levels : tuple of str
        The distinct names in the order they were first seen.
    codes : int64 array, shape (rows,)
        Index into `levels`; -1 where the cell is unusable, which has been reported.
    """

    levels: tuple[str, ...]
    codes: IntArray


def cell_to_name(value: object, *, ends: bool = False) -> str | Refused:
    """Write one cell as a name: text as it is, whole numbers without ``.0``; or say why it is not a name.

    With ``ends`` white space at the ends is part of the name, as that of prompts is.

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
        return Refused(
            f"is {value!r}, which stands for a missing value; fill it in, or rename it if it is a name"
        )
    if not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value):
        return Refused(f"{value!r} has half of a character (a lone surrogate); write it anew")
    if "\0" in value:
        return Refused(f"{value!r} has a zero byte; remove it")
    if value.endswith("0") and _WHOLE.fullmatch(value):
        return str(int(value.partition(".")[0]))
    return value


def dense_codes(values: NDArray[Any]) -> IntArray:
    """Codes from 0 without gaps, in the order of the values.

    Examples
    --------
    >>> dense_codes(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def encode_column(values: Sequence[object], column: str, problems: Problems) -> Column:
    """Code one column of names, reporting every cell that is not a name.

    Names are compared exactly: case counts, and white space at an end is reported, neither kept nor
    removed, because ``'a'`` and ``'a '`` are hardly ever two judges; in the column ``context`` it is kept, because
    contexts may be prompts. Numbers become text; a whole number is
    written without ``.0`` whether it comes as a number or as text, so that ids read alike from a CSV and
    from a dataframe that turned them into floats. Missing values (None, NaN, an empty string) are reported,
    and so are the words that are written for them (``NaN``, ``NA``, ``null``, ``None``).

    Parameters
    ----------
    values : sequence
        The cells, one per row.
    column : str
        The column's name, for the messages.
    problems : Problems
        Where the unusable cells are reported.

    Returns
    -------
    Column
        Levels in the order first seen and codes of shape (rows,).

    Examples
    --------
    >>> problems = Problems("votes")
    >>> encode_column(["b", "a", "b"], "judge", problems).codes.tolist()
    [0, 1, 0]
    """
    read = partial(cell_to_name, ends=column == "context")
    index: defaultdict[object, int] = defaultdict(count().__next__)
    keys: Sequence[object] = values
    if isinstance(values, Coded):
        if len(set(map(type, values.levels)) - {type(None)}) > 1:
            values = Coded(values.codes, [read(value) for value in values.levels])
            keys = values
        seen = np.fromiter(map(index.__getitem__, values.levels), np.int64, len(values.levels))[values.codes]
    else:
        kinds = set(map(type, values)) - {type(None)}
        # Equality across types would merge True with 1, and a list cannot be the key of a dict.
        if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
            keys = [read(value) for value in values]
        seen = np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))

    levels: dict[str, int] = {}
    reasons: dict[str, int] = {}
    recode = np.full(len(index), -1, np.int64)
    refused = np.full(len(index), -1, np.int64)
    used = np.bincount(seen, minlength=len(index)) > 0
    for key, number in index.items():
        if not used[number]:
            continue  # what stands for missing cells, where there are none
        name = read(key)
        if isinstance(name, str):
            recode[number] = levels.setdefault(name, len(levels))
        elif name.reason:
            refused[number] = reasons.setdefault(name.reason, len(reasons))
    codes = recode[seen]
    if reasons:
        first_row = dict(zip(*np.unique(codes, return_index=True), strict=True))
        sentences = list(reasons)
        for reason, rows in rows_by_code(refused[seen]):
            value = keys[rows[0]]
            twin = levels.get(value.strip()) if isinstance(value, str) else None
            hint = f" (row {first_row[twin] + 1} has it without)" if twin is not None else ""
            if not levels and column in _OPTIONAL:
                hint = ", as in all rows; leave the column out (--leave-out)"
            problems.rows(rows + 1, f"{column} {sentences[reason]}{hint}")
    return Column(tuple(levels), codes)


def rows_by_code(codes: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Give each code that is not negative and the ascending indices where it stands.

    Examples
    --------
    >>> [(code, where.tolist()) for code, where in rows_by_code(np.array([1, -1, 0, 1]))]
    [(0, [2]), (1, [0, 3])]
    """
    where = np.flatnonzero(codes >= 0)
    where = where[np.argsort(codes[where], kind="stable")]
    found, starts = np.unique(codes[where], return_index=True)
    # Splitting nothing still gives one empty part.
    yield from zip(found.tolist(), np.split(where, starts[1:]), strict=False)


def report_lookalikes(columns: Mapping[str, Column], problems: Problems) -> None:
    """Report names that look the same but are written with different Unicode characters.

    A composed ``é`` and an ``e`` with a combining accent are two names to a computer and one to a reader.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns whose names mean the same kind of thing, such as ``first`` and ``second``.
    problems : Problems
        Where the names are reported.

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
            spelling, where = seen.setdefault(unicodedata.normalize("NFC", level), (level, label))
            if spelling != level:
                rows = np.flatnonzero(column.codes == number) + 1
                problems.rows(rows, f"{label} {level!r} {lookalike_sentence(where, spelling)}")


def lookalike_sentence(column: str, name: str) -> str:
    """End of the sentence about a name that looks the same as another one.

    Examples
    --------
    >>> lookalike_sentence("judge", "a")
    "looks like the judge 'a' but is written with other Unicode characters; normalise the names"
    """
    return (
        f"looks like the {column} {name!r} but is written with other Unicode characters; normalise the names"
    )


def level_positions(levels: Iterable[str], among: Sequence[str]) -> IntArray:
    """Give the place of each level among others, -1 where it is not one of them; shape (levels,).

    Examples
    --------
    >>> level_positions(["b", "z"], ["a", "b"]).tolist()
    [1, -1]
    """
    place = dict(zip(among, range(len(among)), strict=True))
    return np.array([place.get(level, -1) for level in levels], np.int64)
