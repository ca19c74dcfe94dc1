"""Selection of rows of tables by conditions (``--where``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.encode import Refused, cell_to_name
from voirdire.tables.formats.rows import Extended

MAX_SHOWN_VALUES = 8  # values of a column in a message


def condition_column(name: str) -> str:
    """The column of a condition: ``winner`` of ``winner=tie`` and of ``winner!=tie``."""
    return name.removesuffix("!")


def meets_condition(name: str, cell: object, value: object) -> bool:
    """True if a cell equals a value; if the condition's name ends with ``!``, true if it differs.

    Examples
    --------
    >>> meets_condition("winner", "tie", "tie"), meets_condition("winner!", "tie", "tie")
    (True, False)
    """
    return (cell == value) != name.endswith("!")


class RowChoice:
    """Selection of the rows that meet all conditions; numbers are compared as names: 1.0 is 1.

    Parameters
    ----------
    where : mapping of str to str
        Values that columns must hold, or, after a name that ends with ``!``, must not; empty chooses all rows.

    Examples
    --------
    >>> from voirdire.tables.formats.rows import Score
    >>> choice = RowChoice({"item": "1"})
    >>> choice.is_chosen(Score("a", "1.0", 3)), choice.is_chosen(Score("a", "2", 3))
    (True, False)
    """

    def __init__(self, where: Mapping[str, str]) -> None:
        self.where = {name: cell_to_name(value, ends=True) for name, value in where.items()}
        self.seen: set[str] = set()
        self.values: dict[str, Counter[str]] = {name: Counter() for name in self.where}
        self.any = self.any_kept = False

    def is_chosen(self, row: Any) -> bool:
        """True if a row meets all conditions."""
        if not self.where:
            return True
        plain, further = (row.row, row.further) if isinstance(row, Extended) else (row, {})
        cells = {**plain._asdict(), **further}
        self.seen |= {name for name, cell in cells.items() if cell is not None}
        cells_of_conditions = {
            name: cell_to_name(cells.get(condition_column(name), ""), ends=True) for name in self.where
        }
        if not self.any_kept:
            for name, cell in cells_of_conditions.items():
                self.values[name]["nothing" if isinstance(cell, Refused) else str(cell)] += 1
        chosen = all(meets_condition(name, cell, self.where[name]) for name, cell in cells_of_conditions.items())
        self.any_kept = self.any_kept or chosen
        return chosen

    def check_columns(self, file_name: str) -> None:
        """Raise if the file that was read lacks a column; then reset for the next file."""
        if self.seen and (absent := sorted({*map(condition_column, self.where)} - self.seen)):
            columns = ", ".join(map(repr, sorted(self.seen)))
            raise InputError(f"{file_name}: there is no column {absent[0]!r} (--where); its columns are {columns}")
        self.any = self.any or bool(self.seen)
        self.seen = set()

    def check_any_chosen(self, names: str) -> None:
        """Raise if there were rows and none was chosen."""
        if not self.any:
            return
        raise InputError(no_rows_message(names, self.where, self.values))


def no_rows_message(names: str, where: Mapping[str, object], values: Mapping[str, Counter[str]]) -> str:
    """State that no row meets the conditions, with the values of the columns and their frequencies.

    Examples
    --------
    >>> no_rows_message("a.csv", {"turn": "1"}, {"turn": Counter({"first": 3, "second": 1})})
    "a.csv: no row has turn=1; the column 'turn' has first (3), second (1)"
    """
    conditions = ", ".join(f"{name}={wanted}" for name, wanted in where.items())
    contents = []
    for name, count in values.items():
        further = f" and {len(count) - MAX_SHOWN_VALUES:,} further values" if len(count) > MAX_SHOWN_VALUES else ""
        shown = ", ".join(f"{value} ({frequency:,})" for value, frequency in count.most_common(MAX_SHOWN_VALUES))
        contents.append(f"the column {condition_column(name)!r} has {shown}{further}")
    return f"{names}: no row has {conditions}; {'; '.join(contents)}"
