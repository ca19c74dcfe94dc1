"""Rows of results: one shape for tables, for JSON and for the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("measure", "judges", "criterion", "level", "value", "low", "high", "n", "note")


@dataclass(frozen=True, slots=True)
class Row:
    """One value with its interval.

    Attributes
    ----------
    measure : str
        Name of the measure.
    judges : tuple of str
        The judges it compares.
    criterion, level : str or None
        The criterion; the phase, item, or grouping.
    value, low, high : float
        NaN where undefined.
    n : int
        Number of units used.
    note : str
        Why a value is undefined, what was combined or left out; empty if there is nothing to say.
    """

    measure: str
    judges: tuple[str, ...]
    criterion: str | None
    level: str | None
    value: float
    low: float
    high: float
    n: int
    note: str = ""


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Put rows into a data frame with the columns of `COLUMNS`.

    Examples
    --------
    >>> frame_of([Row("agreement_rate", ("a", "b"), None, None, 0.5, 0.3, 0.7, 20)]).shape
    (1, 9)
    """
    import pandas as pd

    numbers = {"value": float, "low": float, "high": float, "n": int}
    # Names are objects, so that None stays None whatever the other rows are.
    return pd.DataFrame(
        {
            name: pd.Series([getattr(row, name) for row in rows], dtype=numbers.get(name, object))
            for name in COLUMNS
        }
    )


def json_rows(frame: pd.DataFrame, columns: Iterable[str] = COLUMNS) -> list[dict[str, Any]]:
    """Rows of a result as JSON values: undefined numbers are null, judges a list.

    Examples
    --------
    >>> row = Row("agreement_rate", ("a", "b"), None, None, float("nan"), float("nan"), float("nan"), 0, "no overlap")
    >>> json_rows(frame_of([row]))[0]["value"] is None
    True
    """
    return [
        {name: _plain(value) for name, value in zip(columns, values, strict=True)}
        for values in frame[list(columns)].itertuples(index=False, name=None)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
