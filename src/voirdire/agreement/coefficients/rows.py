"""Rows of results: one shape for tables, for JSON and for the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.agreement.coefficients.ratings import Ratings
from voirdire.agreement.engine.resample import Replicates
from voirdire.agreement.engine.statistic import Statistic

if TYPE_CHECKING:
    import pandas as pd

# What was done to the answers of so many judges is told of each.
_NOTED = 3

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


def row_of(
    measure: str,
    judges: tuple[str, ...],
    ratings: Ratings,
    found: Replicates,
    statistic: Statistic,
    *,
    level: str | None = None,
    undefined: str,
    note: str = "",
) -> Row:
    """Make a row of what was resampled.

    Parameters
    ----------
    measure, judges, level
        As in `Row`; the phase of the ratings stands in for a level that is None.
    ratings : Ratings
        Where criterion, phase and notes on the judges come from.
    found : Replicates
        Value and interval.
    statistic : Statistic
        What was resampled; its support is counted.
    undefined : str
        Why there is no value, if there is none.
    note : str
        What else to say of a defined value.

    Examples
    --------
    >>> from voirdire.agreement.coefficients.ratings import ratings_from_matrix
    >>> from voirdire.agreement.engine.resample import bootstrap
    >>> from voirdire.agreement.coefficients.two import agreement_rate
    >>> rate = agreement_rate(ratings := ratings_from_matrix([["a", None], ["a", None]]))
    >>> row_of("agreement_rate", ("1", "2"), ratings, bootstrap([rate])[0], rate, undefined="no overlap").note
    'no overlap'
    """
    notes = [undefined] if math.isnan(found.estimate) else [found.interval.note, note]
    noted = [f"{judge}: {ratings.notes[judge]}" for judge in judges if judge in ratings.notes]
    notes += noted if len(noted) <= _NOTED else [*noted[:2], f"the like for {len(noted) - 2} more judges"]
    low, high = found.interval.low, found.interval.high
    return Row(
        measure=measure,
        judges=judges,
        criterion=ratings.criterion,
        level=level if level is not None else ratings.phase,
        value=found.estimate,
        low=math.nan if low is None else low,
        high=math.nan if high is None else high,
        n=int(statistic.support.sum()),
        note="; ".join(filter(None, notes)),
    )


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
