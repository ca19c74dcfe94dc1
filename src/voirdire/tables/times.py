"""When answers were given: a column ``time`` of numbers or dates; else one ``run``, where runs are such."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence

import numpy as np

from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.typing import Floats

TIME = "time"
RUN = "run"
DATES = 631_152_000.0, 7_258_118_400.0  # 1990 and 2200, in seconds since 1970


def answer_times(cells: Mapping[str, Sequence[object]], problems: Problems) -> Floats | None:
    """When each answer was given, shape (rows,): dates in seconds since 1970; None where nothing says it.

    A column ``time`` that is no time is reported; runs that are neither numbers nor dates have no order.

    Examples
    --------
    >>> answer_times({"time": ["2026-01-31", "2026-02-01T12:00:00Z"]}, Problems("votes")).tolist()
    [1769817600.0, 1769947200.0]
    >>> answer_times({"run": ["2", "1"]}, Problems("votes")).tolist()
    [2.0, 1.0]
    >>> answer_times({"run": ["warm", "cold"]}, Problems("votes"))
    """
    if TIME not in cells:
        found = None if RUN not in cells else _read_times(cells[RUN])
        return None if found is None or np.isnan(found[0]).any() or len(set(found[1])) > 1 else found[0]
    values, forms = _read_times(cells[TIME])
    wrong: dict[str, list[int]] = {}
    for row in map(int, np.flatnonzero(np.isnan(values))):
        wrong.setdefault(repr(cells[TIME][row]), []).append(row + 1)
    for cell, rows in wrong.items():
        problems.rows(
            rows,
            f"time {cell} is neither a number nor a date (2026-01-31 or 2026-01-31T12:00); rename the column if it is "
            "no time",
        )
    if len(set(forms) - {""}) > 1:
        problems.table("column 'time' has numbers and dates; give one of them")
    return values


def format_time(moment: float) -> str:
    """A time as its table had it: seconds since 1970 that are of 1990 or later as a date, others as a number.

    Examples
    --------
    >>> format_time(1769817600.0), format_time(1769860800.0), format_time(12.0)
    ('2026-01-31', '2026-01-31T12:00:00', '12')
    """
    if not DATES[0] <= moment < DATES[1]:
        return f"{moment:.10g}"
    date = dt.datetime.fromtimestamp(moment, dt.UTC).replace(tzinfo=None)
    return date.date().isoformat() if moment % 86_400 == 0.0 else date.isoformat(timespec="seconds")


def _read_times(cells: Sequence[object]) -> tuple[Floats, list[str]]:
    """Times, NaN for what is none, and in which form each stood there: "number", "date" or "" for neither."""
    known: dict[object, tuple[float, str]] = {}
    values, forms = np.empty(len(cells)), []
    for row, cell in enumerate(cells):
        key = cell if isinstance(cell, str | int | float) else None
        found = known.get(key) if key is not None else None
        if found is None:
            found = _time_of_cell(cell)
            if key is not None and key == key:
                known[key] = found
        values[row] = found[0]
        forms.append(found[1])
    return values, forms


def _time_of_cell(cell: object) -> tuple[float, str]:
    nothing = (math.nan, "")
    if isinstance(cell, np.datetime64):
        cell = None if np.isnat(cell) else cell.astype("datetime64[us]").item()
    if isinstance(cell, bool | np.bool_) or cell is None or cell != cell:
        return nothing
    if isinstance(cell, str | int | float | np.integer | np.floating):
        try:
            return float(read_number(cell)), "number"
        except ValueError:
            if not isinstance(cell, str):
                return nothing
        try:
            cell = dt.datetime.fromisoformat(cell.strip())
        except ValueError:
            return nothing
    if isinstance(cell, dt.date) and not isinstance(cell, dt.datetime):
        cell = dt.datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, dt.datetime):
        return nothing
    return (cell if cell.tzinfo else cell.replace(tzinfo=dt.UTC)).timestamp(), "date"
