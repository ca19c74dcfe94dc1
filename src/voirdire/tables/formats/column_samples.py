"""Content of the columns of a table in its first rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from voirdire.tables.columns import name_pattern
from voirdire.tables.formats.rows import number_or_none
from voirdire.tables.formats.source import Source

_MAX_SAMPLED_ROWS = 500
MAX_CLASSES = 12  # a column of classes has at most so many distinct values
_KEY_NAME, _COVARIATE_NAME = name_pattern("key"), name_pattern("covariate")


@dataclass(frozen=True)
class ColumnSample:
    """Content of a column's cells in the sampled rows.

    Attributes
    ----------
    name : str
    filled, empty : int
        Numbers of cells.
    numbers : int
        Cells that are numbers.
    values : tuple of str
        Distinct values in order of appearance, at most one more than `MAX_CLASSES`.
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
        """True if all nonempty cells are numbers, and there is at least one."""
        return self.filled > 0 and self.numbers == self.filled

    @property
    def scored(self) -> bool:
        """True if most nonempty cells are numbers."""
        return 2 * self.numbers > self.filled

    @property
    def is_categorical(self) -> bool:
        """True if the column holds classes: at most `MAX_CLASSES` distinct values, with repeats."""
        return 0 < len(self.values) <= MAX_CLASSES and self.filled > len(self.values)

    @property
    def describe_values(self) -> str:
        """The values, or their kind if there are many, for a message."""
        if 0 < len(self.values) <= MAX_CLASSES:
            return ", ".join(value if len(value) < 20 else value[:17] + "..." for value in self.values)
        return "numbers" if self.numeric else "texts" if self.filled else "nothing"


def sample_columns(source: Source) -> list[ColumnSample]:
    """Content of each column in the first rows.

    Parameters
    ----------
    source : Source
        An open file of records or a table.
    """
    return summarise_columns(source.columns(), first_records(source))


def first_records(source: Source) -> list[Mapping[str, Any]]:
    """The first readable records."""
    records = (record for _, record in source.records() if isinstance(record, dict))
    return list(islice(records, _MAX_SAMPLED_ROWS))


def summarise_columns(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> list[ColumnSample]:
    """Content of columns in some records.

    Examples
    --------
    >>> records = [{"x": 1, "y": "A"}, {"x": 2, "y": "B"}, {"x": 2}]
    >>> [column.describe_values for column in summarise_columns(["x", "y"], records)]
    ['1, 2', 'A, B']
    """
    samples = []
    for name in columns:
        cells = [record.get(name) for record in records]
        filled = [cell for cell in cells if cell is not None and cell != ""]
        distinct = dict.fromkeys(map(str, filled))
        values = tuple(islice(distinct, MAX_CLASSES + 1))
        numbers = sum(number_or_none(cell) is not None and not isinstance(cell, bool) for cell in filled)
        samples.append(ColumnSample(name, len(filled), len(cells) - len(filled), numbers, values, len(distinct)))
    return samples


def is_key(name: str) -> bool:
    """True if a column's name is that of an identifier or row number; a saved index has an empty name.

    Examples
    --------
    >>> is_key("pair_id"), is_key("uid"), is_key("idx"), is_key("valid"), is_key(""), is_key("Unnamed: 0")
    (True, True, True, False, True, True)
    """
    return _KEY_NAME.fullmatch(name) is not None


def is_covariate_name(name: str) -> bool:
    """True if a column's name is that of a covariate of answers, such as their length or time.

    Examples
    --------
    >>> is_covariate_name("latency_ms"), is_covariate_name("created_utc"), is_covariate_name("tone")
    (True, True, False)
    """
    return _COVARIATE_NAME.search(name) is not None


def first_determines_second(pairs: Iterable[Sequence[Any]]) -> bool:
    """True if the first member of each pair determines the second, and some first member repeats.

    Examples
    --------
    >>> first_determines_second([("ann", 30), ("bob", 41), ("ann", 30)])
    True
    >>> first_determines_second([("ann", 1), ("ann", 2)]), first_determines_second([(1, 2)])
    (False, False)
    """
    seen: dict[Any, Any] = {}
    repeated = False
    for key, value in pairs:
        repeated = repeated or key in seen
        if seen.setdefault(key, value) != value:
            return False
    return repeated
