"""The table of metrics by criteria and coefficients, as papers print it, with marks for the best metrics."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_SYMBOLS = {
    "pearson": "r",
    "spearman": "rho",
    "kendall_tau_b": "tau-b",
    "kendall_tau_c": "tau-c",
    "pairwise_accuracy": "acc",
    "concordance_index": "CI",
}


def metric_table(rows: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """Arrange the rows of `metaeval` as a table of text: a row per metric, columns (criterion, coefficient).

    Parameters
    ----------
    rows : pandas.DataFrame
        Result of `voirdire.agreement.correlation.verb.metaeval`.
    digits : int
        Digits after the decimal point.

    Returns
    -------
    pandas.DataFrame
        ``**0.61**`` marks the best value of a column, ``_0.55_`` the second best, ``~`` after a value means not
        distinguishable from the best, ``-`` means undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.agreement.correlation.verb import metaeval
    >>> table = pd.DataFrame({"judge": ["human"] * 9 + ["a"] * 9 + ["b"] * 9, "item": list(range(9)) * 3,
    ...                       "score": [*range(9), *range(9), *range(8, -1, -1)]})
    >>> metric_table(metaeval(table, "human", measures="spearman", resamples=100)).iloc[:, 0].tolist()
    ['**1.00**', '_-1.00_']
    """
    import pandas as pd

    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows.to_dict("records"):
        column = (row["criterion"] or "", _SYMBOLS.get(row["measure"], row["measure"]))
        cells.setdefault(column, {})[row["judges"][0]] = _format_cell(row, digits)
    table = pd.DataFrame(cells)
    table.columns = pd.MultiIndex.from_tuples(list(cells), names=["criterion", "coefficient"])
    table.index.name = "metric"
    return table


def _format_cell(row: dict[Hashable, Any], digits: int) -> str:
    value = float(row["value"])
    if np.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    if row["place"] == 1:
        return f"**{text}**"
    text = f"_{text}_" if row["place"] == 2 else text
    return f"{text}~" if row["same_as_best"] is True else text
