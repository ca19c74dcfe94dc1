"""Details of single votes beside who compared what: how sure the judge was, when, in which group of contexts."""

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
        When each vote was given; see :func:`voirdire.tables.times.answer_times`.
    degree : array, shape (rows,), or None
        Probability that the winner is the better one, as the judge says (of a tie: nothing).
    groups : tuple of str
        Names of the groups of contexts, sorted.
    group : int array, shape (rows,), or None
    by : str
        The column that groups were read from.

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
        """True where anything was made of the details."""
        return bool(self.groups) or self.degree is not None

    def take(self, rows: Ints | Bools) -> Details:
        """Those of some votes, by their places or a mask."""
        return replace(
            self, **{name: getattr(self, name)[rows] for name in ROWS if getattr(self, name) is not None}
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Details for JSON, and arrays by name."""
        arrays = {name: getattr(self, name) for name in ROWS}
        names = {"groups": self.groups, "by": self.by}
        return names, {name: value for name, value in arrays.items() if value is not None}


ROWS = ("degree", "group", "time")  # what has an entry per vote
DEGREE = "degree"  # the column that says how sure a judge is of the winner


def read_degrees(cells: Sequence[object], problems: Problems) -> Floats:
    """Degrees from 0.5 (either item) to 1, which an empty cell is, too; what is none is reported.

    Examples
    --------
    >>> read_degrees(["0.5", 1, 0.75, None], Problems("votes")).tolist()
    [0.5, 1.0, 0.75, 1.0]
    """
    found = np.ones(len(cells))
    for row, cell in enumerate(cells):
        if cell is None or cell == "" or cell != cell:
            continue
        try:
            found[row] = read_number(cell)
        except ValueError:
            found[row] = np.nan
        if not 0.5 <= found[row] <= 1.0:
            problems.rows(
                [row + 1],
                f"degree {cell!r} is no number from 0.5 to 1, how sure the judge is of the winner; leave the cell "
                "empty where that is not known, and rename the column if it says something else",
            )
    return found
