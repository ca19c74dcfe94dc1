"""A fit of votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.errors import InputError
from voirdire.kinds.columns import Columns
from voirdire.kinds.kind import Kind
from voirdire.kinds.ranked_fit import ComparedFit
from voirdire.kinds.votes import adjusted, groups, in_contexts, results
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.tables.covariates import OWN_FAMILY

if TYPE_CHECKING:
    import pandas as pd


class VotesFit(ComparedFit):
    """A fit of votes."""

    problem: VotesProblem
    kind: ClassVar[Kind[Any, Any]] = VOTES

    def judges_by_criterion(self) -> pd.DataFrame:
        """Reliability per judge and criterion, for ``maple-criterion-reliability``."""
        return self._frame(results.judges_by_criterion(self.problem, self.posterior, self.prob))

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.votes.in_contexts.contexts`."""
        return self._frame(in_contexts.contexts(self.problem, self.posterior, self.prob))

    def covariates(self) -> pd.DataFrame:
        """Effects of covariates, which scores hold fixed: name, effect (log-odds), low, high, unit, clear (of 0)."""
        return self._frame(adjusted.covariates(self.problem, self.posterior, self.prob))

    def own_family(self) -> pd.DataFrame:
        """Preference of judges for their own family: judge (None: over all), effect (log-odds), low, high."""
        if OWN_FAMILY not in self.problem.covariates:
            raise InputError("own_family() needs fit(..., families=..., item_families=...)")
        return self._frame(adjusted.by_judge(self.problem, self.posterior, self.prob, OWN_FAMILY))

    def groups(self) -> pd.DataFrame:
        """Items in each group of contexts: by, group, item, score, sd, low, high, rank, p_best."""
        return self._frame(groups.groups(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return results.strengths(self.problem, self.posterior, self.prob)
