"""Further attributes of single votes: the judge's certainty, the time, and the group of contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.typing import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Details:
    """Details of votes, one entry per vote.

    Attributes
    ----------
    time : array, shape (rows,), or None
        Time of each vote; see :func:`voirdire.tables.times.answer_times`.
    degree : array, shape (rows,), or None
        The judge's stated probability that the winner is better, from 0.5 to 1 (without meaning for ties).
    groups : tuple of str
        Names of the groups of contexts, sorted.
    group : int array, shape (rows,), or None
        Code of the group of each vote.
    by : str
        The column of the groups.

    Examples
    --------
    >>> Details(degree=np.array([0.9, 0.6])).take(np.array([True, False])).degree.tolist()
    [0.9]
    """

    degree: Floats | None = None
    groups: tuple[str, ...] = ()
    group: Ints | None = None
    by: str = ""
    time: Floats | None = None

    @property
    def is_informative(self) -> bool:
        """True where there are groups or degrees."""
        return bool(self.groups) or self.degree is not None

    def take(self, rows: Ints | Bools) -> Details:
        """Select the details of some votes, by indices or a mask."""
        return replace(
            self, **{name: getattr(self, name)[rows] for name in ROW_ARRAYS if getattr(self, name) is not None}
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Pack details into JSON data and arrays by name."""
        arrays = {name: getattr(self, name) for name in ROW_ARRAYS}
        names = {"groups": self.groups, "by": self.by}
        return names, {name: value for name, value in arrays.items() if value is not None}


ROW_ARRAYS = ("degree", "group", "time")  # arrays with one entry per vote
DEGREE = "degree"  # the column of a judge's certainty about the winner


def read_degrees(cells: Sequence[object], problems: Problems) -> Floats:
    """Read degrees from 0.5 (either item may be better) to 1 (certain); empty cells are 1, other cells are reported.

    Examples
    --------
    >>> read_degrees(["0.5", 1, 0.75, None], Problems("votes")).tolist()
    [0.5, 1.0, 0.75, 1.0]
    """
    degrees = np.ones(len(cells))
    for row, cell in enumerate(cells):
        if cell is None or cell == "" or cell != cell:
            continue
        try:
            degrees[row] = read_number(cell)
        except ValueError:
            degrees[row] = np.nan
        if not 0.5 <= degrees[row] <= 1.0:
            problems.rows(
                [row + 1],
                f"degree {cell!r} is no number from 0.5 to 1, how sure the judge is of the winner; leave the cell "
                "empty where that is not known, and rename the column if it says something else",
            )
    return degrees
