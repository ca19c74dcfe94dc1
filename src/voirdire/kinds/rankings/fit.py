"""A fit of rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.fit import RankedFit
from voirdire.kinds.kind import Kind
from voirdire.kinds.rankings import results
from voirdire.kinds.rankings.kind import RANKINGS
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.terms_fit import TermsFit
from voirdire.kinds.votes import results as vote_results

if TYPE_CHECKING:
    import pandas as pd


class RankingsFit(TermsFit, RankedFit):
    """A fit of rankings."""

    problem: RankingsProblem
    kind: ClassVar[Kind[Any, Any]] = RANKINGS

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.rankings.results.contexts`."""
        return self._frame(results.contexts(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return vote_results.strengths(self.problem, self.posterior, self.prob)
