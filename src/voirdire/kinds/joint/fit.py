"""A fit of votes and scores."""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.joint.kind import JOINT
from voirdire.kinds.joint.problem import JointProblem
from voirdire.kinds.kind import Kind
from voirdire.kinds.ranked_fit import ComparedFit, ScoredFit
from voirdire.kinds.votes import results


class JointFit(ComparedFit, ScoredFit):
    """A fit of votes and scores of the same items."""

    problem: JointProblem
    kind: ClassVar[Kind[Any, Any]] = JOINT

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return results.strengths(self.problem, self.posterior, self.prob)
