"""Tables of results as named columns; pandas is imported where a table is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, Any]


def frame(columns: Columns) -> pd.DataFrame:
    """Pandas frame of the columns."""
    import pandas as pd

    return pd.DataFrame(columns)


def records(columns: Columns, keys: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Rows as dictionaries of plain Python numbers, None where a value is missing."""
    keys = tuple(columns) if keys is None else keys
    return [{key: _plain(columns[key][row]) for key in keys} for row in range(len(columns[keys[0]]))]


def _plain(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return value


def with_intervals(
    posterior: Posterior,
    of: Callable[[Values], dict[str, Floats]],
    prob: float,
    size: int,
) -> Columns:
    """Quantities as columns of ``size`` rows, each before the ends of its interval; see :meth:`.Posterior.shown`."""
    columns: Columns = {}
    for name, shown in posterior.shown(of, prob).items():
        for column, part in ((name, shown.point), (f"{name}_low", shown.low), (f"{name}_high", shown.high)):
            columns[column] = np.broadcast_to(part, (size,))
    return columns
