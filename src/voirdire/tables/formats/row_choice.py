"""Rows of tables that hold what is asked for (``--where``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from voirdire.errors import InputError
from voirdire.tables.encode import Refused, cell_to_name
from voirdire.tables.formats.rows import Extended

SHOWN = 8  # values of a column in a message


def condition_column(name: str) -> str:
    """The column of a condition: ``winner`` of ``winner=tie`` and of ``winner!=tie``."""
    return name.removesuffix("!")


def meets_condition(name: str, cell: object, value: object) -> bool:
    """True if a cell is a value; where the condition's name ends with ``!``, if it is another.

    Examples
    --------
    >>> meets_condition("winner", "tie", "tie"), meets_condition("winner!", "tie", "tie")
    (True, False)
    """
    return (cell == value) != name.endswith("!")


class RowChoice:
    """Rows that hold what is asked for, where numbers are as names of tables have them: 1.0 is 1.

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
        self.where = {name: cell_to_name(said, ends=True) for name, said in where.items()}
        self.seen: set[str] = set()
        self.values: dict[str, Counter[str]] = {name: Counter() for name in self.where}
        self.any = self.any_kept = False

    def is_chosen(self, row: Any) -> bool:
        """True where a row is chosen."""
        if not self.where:
            return True
        plain, further = (row.row, row.further) if isinstance(row, Extended) else (row, {})
        cells = {**plain._asdict(), **further}
        self.seen |= {name for name, cell in cells.items() if cell is not None}
        found = {name: cell_to_name(cells.get(condition_column(name), ""), ends=True) for name in self.where}
        if not self.any_kept:
            for name, cell in found.items():
                self.values[name]["nothing" if isinstance(cell, Refused) else str(cell)] += 1
        kept = all(meets_condition(name, cell, self.where[name]) for name, cell in found.items())
        self.any_kept = self.any_kept or kept
        return kept

    def check_columns(self, called: str) -> None:
        """Raise where a file that has been read lacks a column; the next one starts anew."""
        if self.seen and (absent := sorted({*map(condition_column, self.where)} - self.seen)):
            columns = ", ".join(map(repr, sorted(self.seen)))
            raise InputError(
                f"{called}: there is no column {absent[0]!r} (--where); its columns are {columns}"
            )
        self.any = self.any or bool(self.seen)
        self.seen = set()

    def check_any_chosen(self, names: str) -> None:
        """Raise where rows were there and none was kept."""
        if not self.any:
            return
        raise InputError(no_rows_message(names, self.where, self.values))


def no_rows_message(names: str, where: Mapping[str, object], values: Mapping[str, Counter[str]]) -> str:
    """Say that no row holds what is asked for, and what the columns hold, with how often.

    Examples
    --------
    >>> no_rows_message("a.csv", {"turn": "1"}, {"turn": Counter({"first": 3, "second": 1})})
    "a.csv: no row has turn=1; the column 'turn' has first (3), second (1)"
    """
    asked = ", ".join(f"{name}={said}" for name, said in where.items())
    held = []
    for name, count in values.items():
        rest = f" and {len(count) - SHOWN:,} further values" if len(count) > SHOWN else ""
        shown = ", ".join(f"{value} ({often:,})" for value, often in count.most_common(SHOWN))
        held.append(f"the column {condition_column(name)!r} has {shown}{rest}")
    return f"{names}: no row has {asked}; {'; '.join(held)}"
