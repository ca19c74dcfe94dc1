"""Fits of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.ranked_fit import ScoredFit, TermsFit
from voirdire.kinds.scores import systems as score_systems
from voirdire.kinds.scores.kind import SCORES
from voirdire.kinds.scores.problem import ScoresProblem
from voirdire.kinds.scores.results import strengths_on_scale
from voirdire.kinds.terms_kind import TermsKind

if TYPE_CHECKING:
    import pandas as pd


class ScoresFit(TermsFit, ScoredFit):
    """Fit of scores."""

    problem: ScoresProblem
    kind: ClassVar[TermsKind[Any, Any]] = SCORES

    def people(self) -> pd.DataFrame:
        """Table of people who gave anchors: criterion, scores, severity, discrimination or noise, with intervals.

        Scales are those of :meth:`judges`; see :func:`.scores.results.people_table`. Empty without anchors.
        """
        return self._frame(self.tables["people"])

    def systems(self) -> pd.DataFrame:
        """Table of systems over contexts, best first; see :mod:`voirdire.kinds.scores.systems`.

        Columns: system, contexts, score, sd, low, high, rank, rank_low, rank_high, p_best. :meth:`ranking` compares the
        items, which are the systems' answers in each context.

        Raises
        ------
        InputError
            The table has no columns context and system, or the fit has no draws.
        """
        return self._frame(score_systems.system_table(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Columns of the strength of every item under every criterion, with sd and interval."""
        return strengths_on_scale(self.problem, self.posterior, self.prob)
