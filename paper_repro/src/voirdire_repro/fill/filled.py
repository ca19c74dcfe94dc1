"""Result of a run: figures of tables, and of claims in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Suffix of the name of a table with figures estimated by the paper's procedure.
BY_PAPER = "-adam"


def estimator_table(table: str, method: str) -> str:
    """Return the name of a table of figures by an estimator: "map" (ours) or "adam" (the paper's procedure).

    Examples
    --------
    >>> estimator_table("table3", "adam"), estimator_table("table3", "map")
    ('table3-adam', 'table3')
    """
    return table + BY_PAPER if method == "adam" else table


@dataclass
class Filled:
    """Our figures.

    Attributes
    ----------
    tables : dict
        By table: rows with the keys of a cell and ``value``. Rows that are not in the published table are left out of
        the written table.
    texts : dict
        By claim: a number or a text.
    curves : dict
        By claim: values by number of iterations or runs.

    Examples
    --------
    >>> filled = Filled()
    >>> filled.add_figure("table1", judge="a", value=0.5)
    >>> filled.tables
    {'table1': [{'judge': 'a', 'value': 0.5}]}
    """

    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    texts: dict[str, float | str] = field(default_factory=dict)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)

    def add_figure(self, table: str, **row: Any) -> None:
        """Add one figure of a table."""
        self.tables.setdefault(table, []).append(row)
