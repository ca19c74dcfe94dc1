"""A fit of rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.fit import import_fit_function
from voirdire.kinds.kind import Kind
from voirdire.kinds.ranked_fit import RankedFit, TermsFit
from voirdire.kinds.rankings import results
from voirdire.kinds.rankings.kind import RANKINGS
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.votes import results as vote_results
from voirdire.tables.given import convert_to_library

if TYPE_CHECKING:
    import pandas as pd


class RankingsFit(TermsFit, RankedFit):
    """A fit of rankings."""

    problem: RankingsProblem
    kind: ClassVar[Kind[Any, Any]] = RANKINGS

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.rankings.results.context_table`."""
        return self._frame(results.context_table(self.problem, self.posterior, self.prob))

    def next_rankings(self, count: int = 5, **settings: Any) -> pd.DataFrame:
        """Rankings to ask for next; see :func:`voirdire.fit.next.rankings.next_rankings`.

        Raises
        ------
        InputError
            The request is wrong, or the fit has no draws.
        """
        rankings: pd.DataFrame = import_fit_function("next_rankings")(self.in_pandas, count, **settings)
        return convert_to_library(rankings, self.frames)

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return vote_results.strength_table(self.problem, self.posterior, self.prob)
