"""Times of answers: a column ``time`` of numbers or dates; else a column ``run`` of numbers or dates."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from voirdire.tables.numbers import read_number
from voirdire.tables.problems import Problems
from voirdire.typing import Floats

TIME = "time"
RUN = "run"
DATE_RANGE = 631_152_000.0, 7_258_118_400.0  # seconds since 1970, for 1990 and 2200


def answer_times(cells: Mapping[str, Sequence[object]], problems: Problems) -> Floats | None:
    """Read the time of each answer, shape (rows,); dates in seconds since 1970; None without times.

    Cells of ``time`` that are no times are reported; runs that are neither numbers nor dates give no times.

    Examples
    --------
    >>> answer_times({"time": ["2026-01-31", "2026-02-01T12:00:00Z"]}, Problems("votes")).tolist()
    [1769817600.0, 1769947200.0]
    >>> answer_times({"run": ["2", "1"]}, Problems("votes")).tolist()
    [2.0, 1.0]
    >>> answer_times({"run": ["warm", "cold"]}, Problems("votes"))
    """
    if TIME not in cells:
        run_times = None if RUN not in cells else _read_times(cells[RUN])
        return None if run_times is None or np.isnan(run_times[0]).any() or len(set(run_times[1])) > 1 else run_times[0]
    values, forms = _read_times(cells[TIME])
    refused: dict[str, list[int]] = {}
    for row in map(int, np.flatnonzero(np.isnan(values))):
        refused.setdefault(repr(cells[TIME][row]), []).append(row + 1)
    for cell, rows in refused.items():
        problems.rows(
            rows,
            f"time {cell} is neither a number nor a date (2026-01-31 or 2026-01-31T12:00); rename the column if it is "
            "no time",
        )
    if len(set(forms) - {""}) > 1:
        problems.table("column 'time' has numbers and dates; give one of them")
    return values


def format_time(moment: float) -> str:
    """Write a time: seconds since 1970 from 1990 to 2200 as a date, other values as a number.

    Examples
    --------
    >>> format_time(1769817600.0), format_time(1769860800.0), format_time(12.0)
    ('2026-01-31', '2026-01-31T12:00:00', '12')
    """
    if not DATE_RANGE[0] <= moment < DATE_RANGE[1]:
        return f"{moment:.10g}"
    date = dt.datetime.fromtimestamp(moment, dt.UTC).replace(tzinfo=None)
    return date.date().isoformat() if moment % 86_400 == 0.0 else date.isoformat(timespec="seconds")


def _read_times(cells: Sequence[object]) -> tuple[Floats, list[str]]:
    """Read times (NaN for other cells) and the form of each cell: "number", "date" or "" for neither."""
    cached = lru_cache(maxsize=None, typed=True)(_time_of_cell)
    times = [cached(cell) if isinstance(cell, str | int | float) else _time_of_cell(cell) for cell in cells]
    return np.array([value for value, _ in times], dtype=np.float64), [form for _, form in times]


def _time_of_cell(cell: object) -> tuple[float, str]:
    no_time = (math.nan, "")
    if isinstance(cell, np.datetime64):
        cell = None if np.isnat(cell) else cell.astype("datetime64[us]").item()
    if isinstance(cell, bool | np.bool_) or cell is None or cell != cell:
        return no_time
    if isinstance(cell, str | int | float | np.integer | np.floating):
        try:
            return float(read_number(cell)), "number"
        except ValueError:
            if not isinstance(cell, str):
                return no_time
        try:
            cell = dt.datetime.fromisoformat(cell.strip())
        except ValueError:
            return no_time
    if isinstance(cell, dt.date) and not isinstance(cell, dt.datetime):
        cell = dt.datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, dt.datetime):
        return no_time
    return (cell if cell.tzinfo else cell.replace(tzinfo=dt.UTC)).timestamp(), "date"
