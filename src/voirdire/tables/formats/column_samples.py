"""Content of the columns of a table, by its first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source

_ROWS = 500  # rows that are looked at
FEW = 12  # distinct values up to which a column holds classes
_KEY = re.compile(
    r"|Unnamed: \d+|__index_level_\d+__|(?:.*[_ .-])?(?i:#?u?u?id|idx|index|row ?names?|row|line|#)"
    r"|[A-Za-z\d]*[a-z\d](?:Id|ID)"
)
#: Columns that answers may depend on, or that cost them: numbers, and no answers.
_BESIDE = re.compile(
    r"(?:^|[_ .-])(?:length|len|tokens?|words?|chars?|characters|lines|time|timestamp|seconds|duration|latency"
    r"|date|year|age|created|updated|price|cost|size|seed|temperature|position|order|turns?|step|epoch|progress"
    r"|finished|last ?page|num)(?:$|[_ .(-])|[a-z\d]Time\d*(?:$|\.)|(?:interview|group)time\d*(?:$|\.)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ColumnSample:
    """Content of a column's cells, in the rows that were looked at.

    Attributes
    ----------
    name : str
    filled, empty : int
        Numbers of cells.
    numbers : int
        Cells that are numbers.
    values : tuple of str
        Distinct values in the order met, one more than `FEW` where there are more.
    different : int
        Number of distinct values.
    """

    name: str
    filled: int
    empty: int
    numbers: int
    values: tuple[str, ...]
    different: int

    @property
    def numeric(self) -> bool:
        """True where all cells that are not empty are numbers, and some are."""
        return self.filled > 0 and self.numbers == self.filled

    @property
    def scored(self) -> bool:
        """True where most cells that are not empty are numbers."""
        return 2 * self.numbers > self.filled

    @property
    def is_categorical(self) -> bool:
        """True where it holds classes: few distinct values, and rows that repeat them."""
        return 0 < len(self.values) <= FEW and self.filled > len(self.values)

    @property
    def describe_values(self) -> str:
        """The values or how many there are, for a message."""
        if 0 < len(self.values) <= FEW:
            return ", ".join(value if len(value) < 20 else value[:17] + "..." for value in self.values)
        return "numbers" if self.numeric else "texts" if self.filled else "nothing"


def sample_columns(source: Source) -> list[ColumnSample]:
    """Content of each column, by the first rows.

    Parameters
    ----------
    source : Source
        An open file of records or a table.
    """
    return summarise_columns(source.columns(), first_records(source))


def first_records(source: Source) -> list[Mapping[str, Any]]:
    """The first records that can be read."""
    found = (record for _, record in source.records() if isinstance(record, dict))
    return list(islice(found, _ROWS))


def summarise_columns(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> list[ColumnSample]:
    """Content of columns in some records.

    Examples
    --------
    >>> records = [{"x": 1, "y": "A"}, {"x": 2, "y": "B"}, {"x": 2}]
    >>> [column.describe_values for column in summarise_columns(["x", "y"], records)]
    ['1, 2', 'A, B']
    """
    found = []
    for name in columns:
        cells = [record.get(name) for record in records]
        filled = [cell for cell in cells if cell is not None and cell != ""]
        distinct = dict.fromkeys(map(str, filled))
        values = tuple(islice(distinct, FEW + 1))
        numbers = sum(number_or_none(cell) is not None and not isinstance(cell, bool) for cell in filled)
        found.append(
            ColumnSample(name, len(filled), len(cells) - len(filled), numbers, values, len(distinct))
        )
    return found


def is_key(name: str) -> bool:
    """True where a column is called as those are that number or name rows; an index that was written has no name.

    Examples
    --------
    >>> is_key("pair_id"), is_key("uid"), is_key("idx"), is_key("valid"), is_key(""), is_key("Unnamed: 0")
    (True, True, True, False, True, True)
    """
    return _KEY.fullmatch(name) is not None


def is_beside(name: str) -> bool:
    """True where a column is called as what goes with an answer, such as its length or its time, and is none.

    Examples
    --------
    >>> is_beside("latency_ms"), is_beside("created_utc"), is_beside("tone")
    (True, True, False)
    """
    return _BESIDE.search(name) is not None


def is_told_by(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """True where what comes first in some pairs tells what comes second, and comes again.

    Examples
    --------
    >>> is_told_by([("ann", 30), ("bob", 41), ("ann", 30)]), is_told_by([("ann", 1), ("ann", 2)]), is_told_by([(1, 2)])
    (True, False, False)
    """
    seen: dict[Any, Any] = {}
    again = False
    for key, value in pairs:
        again = again or key in seen
        if seen.setdefault(key, value) != value:
            return False
    return again
