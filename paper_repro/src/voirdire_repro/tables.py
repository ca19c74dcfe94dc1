"""Published tables as tidy CSV: one figure per row, with keys and, as last column, ``value``."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import InputError

VALUE = "value"


@dataclass(frozen=True)
class Cell:
    """Figure of a table.

    Attributes
    ----------
    table : str
        Name of the table (of the file, without ``.csv``).
    keys : tuple of (str, str)
        Columns and entries, in the file's order.
    text : str
        Figure as printed.
    """

    table: str
    keys: tuple[tuple[str, str], ...]
    text: str

    @property
    def value(self) -> float:
        """The figure as a number."""
        return float(self.text)

    @property
    def by(self) -> dict[str, str]:
        """The keys as a mapping."""
        return dict(self.keys)

    @property
    def name(self) -> str:
        """The keys' entries, joined.

        Examples
        --------
        >>> Cell("table1", (("panel", "60-100"), ("quantity", "criteria")), "1.00").name
        '60-100, criteria'
        """
        return ", ".join(entry for _, entry in self.keys)


@dataclass(frozen=True)
class Table:
    """Published table: its figures, and a caption in our words."""

    name: str
    caption: str
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]

    def select_cells(self, keys: Mapping[str, Any]) -> list[Cell]:
        """Select the cells with these keys; an entry may be a list of entries.

        Examples
        --------
        >>> cells = tuple(Cell("t", (("judge", name),), "1") for name in "abc")
        >>> [cell.name for cell in Table("t", "", ("judge",), cells).select_cells({"judge": ["a", "c"]})]
        ['a', 'c']
        """
        wanted = {
            column: set(map(str, entry)) if isinstance(entry, list) else {str(entry)} for column, entry in keys.items()
        }
        return [cell for cell in self.cells if all(cell.by[column] in wanted[column] for column in wanted)]


def read_table(path: Path, caption: str) -> Table:
    """Read one table.

    Parameters
    ----------
    path : Path
        CSV file with ``value`` as last column.
    caption : str
        Content of the table.

    Raises
    ------
    InputError
        The last column is not ``value``, a row has another length, a value is no number, or keys are repeated: all
        faults of the file at once, by line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table1.csv"
    >>> _ = path.write_text("judge,value\\na,0.5\\nb,high\\n")
    >>> read_table(path, "Two judges.")
    Traceback (most recent call last):
        ...
    voirdire.errors.InputError: ...table1.csv line 3: value 'high' is no number; write the figure as printed, and ...
    """
    cells, problems, seen = [], [], dict[tuple[str, ...], int]()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            columns = tuple(next(reader, ()))
            if columns[-1:] != (VALUE,) or len(set(columns)) != len(columns):
                raise InputError(f"{path} line 1: the columns are keys and then, last, 'value'; no name twice")
            for row in reader:
                line = reader.line_num
                if len(row) != len(columns):
                    problems.append(f"{path} line {line}: {len(row)} entries, the first line names {len(columns)}")
                    continue
                *keys, text = row
                if not _is_number(text):
                    problems.append(
                        f"{path} line {line}: value {text!r} is no number; write the figure as printed, and leave "
                        "the row out where the table has none"
                    )
                if tuple(keys) in seen:
                    problems.append(f"{path} line {line}: {', '.join(keys)} stands in line {seen[tuple(keys)]} already")
                seen.setdefault(tuple(keys), line)
                cells.append(Cell(path.stem, tuple(zip(columns[:-1], keys, strict=True)), text))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    if problems:
        raise InputError(problems)
    return Table(path.stem, caption, columns[:-1], tuple(cells))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and text == text.strip()
    except ValueError:
        return False
