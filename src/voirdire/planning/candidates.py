"""Result of a plan by simulation: the collections that were tried, and the one that is recommended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.report.notebook import table_view
from voirdire.report.table import make_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Candidates:
    """Collections that were simulated, a row each, and the first of them that is good enough, None if none is.

    Attributes
    ----------
    order : str
        Which row is first, in words.
    """

    order: ClassVar[str]

    table: pd.DataFrame
    best: dict[str, Any] | None

    def _repr_html_(self) -> str:
        """HTML without scripts for a notebook: the recommendation and all candidates."""
        rows: list[Any] = self.table.to_dict("records")
        return table_view(str(self), make_table("plan", f"Candidates, {self.order} first", rows))
