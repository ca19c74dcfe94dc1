"""Fits of votes and scores of the same items."""

from __future__ import annotations

from typing import Any, ClassVar

from voirdire.kinds.ranked_fit import ComparedFit, ScoredFit, TermsFit
from voirdire.kinds.terms_kind import TermsKind
from voirdire.kinds.votes_and_scores.kind import JOINT
from voirdire.kinds.votes_and_scores.problem import VotesAndScoresProblem


class VotesAndScoresFit(ComparedFit, ScoredFit, TermsFit):
    """Fit of votes and scores of the same items."""

    problem: VotesAndScoresProblem
    kind: ClassVar[TermsKind[Any, Any]] = JOINT
