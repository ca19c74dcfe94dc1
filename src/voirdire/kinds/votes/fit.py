"""Fits of votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.ranked_fit import ComparedFit, TermsFit
from voirdire.kinds.terms_kind import TermsKind
from voirdire.kinds.votes import groups
from voirdire.kinds.votes.kind import VOTES
from voirdire.kinds.votes.problem import VotesProblem
from voirdire.kinds.votes.results import judges_by_criterion

if TYPE_CHECKING:
    import pandas as pd


class VotesFit(TermsFit, ComparedFit):
    """Fit of votes."""

    problem: VotesProblem
    kind: ClassVar[TermsKind[Any, Any]] = VOTES

    def judges_by_criterion(self) -> pd.DataFrame:
        """Table of reliability by judge and criterion, for ``maple-criterion-reliability``."""
        return self._frame(judges_by_criterion(self.problem, self.posterior, self.prob))

    def groups(self) -> pd.DataFrame:
        """Table of items in each group of contexts: by, group, item, score, sd, low, high, rank, p_best."""
        return self._frame(groups.items_by_group(self.problem, self.posterior, self.prob))
