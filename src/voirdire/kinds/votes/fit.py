"""A fit of votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.kind import Kind
from voirdire.kinds.ranked_fit import ComparedFit, TermsFit
from voirdire.kinds.votes import groups, results
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import VotesProblem

if TYPE_CHECKING:
    import pandas as pd


class VotesFit(TermsFit, ComparedFit):
    """A fit of votes."""

    problem: VotesProblem
    kind: ClassVar[Kind[Any, Any]] = VOTES

    def judges_by_criterion(self) -> pd.DataFrame:
        """Reliability per judge and criterion, for ``maple-criterion-reliability``."""
        return self._frame(results.judges_by_criterion(self.problem, self.posterior, self.prob))

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.votes.groups.context_table`."""
        return self._frame(groups.context_table(self.problem, self.posterior, self.prob))

    def groups(self) -> pd.DataFrame:
        """Items in each group of contexts: by, group, item, score, sd, low, high, rank, p_best."""
        return self._frame(groups.items_by_group(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return results.strength_table(self.problem, self.posterior, self.prob)
