"""Tables of results as named columns; pandas is imported where a table is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voirdire.infer.posterior import Posterior
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, Any]


class TablesByName(Mapping[str, Columns]):
    """Tables of results, each made at its first use.

    Examples
    --------
    >>> tables = TablesByName({"one": lambda: {"x": [1]}, "never asked for": lambda: {}["none"]})
    >>> list(tables), tables["one"]
    (['one', 'never asked for'], {'x': [1]})
    """

    def __init__(self, make: Mapping[str, Callable[[], Columns]]) -> None:
        self._make, self._made = dict(make), dict[str, Columns]()

    def __getitem__(self, name: str) -> Columns:
        """Return the table of a name."""
        if name not in self._made:
            self._made[name] = self._make[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._make)

    def __len__(self) -> int:
        """Number of tables."""
        return len(self._make)


def name_array(names: Sequence[str]) -> npt.NDArray[np.object_]:
    """Make a column of names, which may contain None."""
    return np.array(names, dtype=object)


def to_data_frame(columns: Columns) -> pd.DataFrame:
    """Make a pandas frame of the columns."""
    import pandas as pd

    return pd.DataFrame(columns)


def to_records(columns: Columns, keys: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Make a dictionary of plain Python numbers of each row; None for missing values."""
    keys = tuple(columns) if keys is None else keys
    rows = zip(*(_plain_cells(columns[key]) for key in keys), strict=True)
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _plain_cells(column: Any) -> list[Any]:
    """Convert all cells of a column by :func:`_plain_value`."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
        return [_plain_value(value) for value in column]
    cells: list[Any] = column.tolist()
    for row in np.flatnonzero(np.isnan(column)) if column.dtype.kind == "f" else ():
        cells[row] = None
    return cells


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return value


def with_intervals(
    posterior: Posterior, function: Callable[[Values], dict[str, Floats]], prob: float, size: int
) -> Columns:
    """Make columns of ``size`` rows: each quantity, followed by the ends of its interval (:class:`.Posterior`).

    ``function`` computes the quantities, by name, from values. The ends are missing for quantities that the model
    fixes, with equal draws (such as the severity of a panel's only judge).
    """
    columns: Columns = {}
    for name, summary in posterior.summarise_quantities(function, prob).items():
        low, high = (np.where(summary.low == summary.high, np.nan, end) for end in (summary.low, summary.high))
        for column, part in ((name, summary.point), (f"{name}_low", low), (f"{name}_high", high)):
            columns[column] = np.broadcast_to(part, (size,))
    return columns
