"""A fit of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.columns import Columns
from voirdire.kinds.kind import Kind
from voirdire.kinds.ranked_fit import ScoredFit, TermsFit
from voirdire.kinds.scores import results, systems
from voirdire.kinds.scores.kind import SCORES
from voirdire.kinds.scores.problem import ScoresProblem

if TYPE_CHECKING:
    import pandas as pd


class ScoresFit(TermsFit, ScoredFit):
    """A fit of scores."""

    problem: ScoresProblem
    kind: ClassVar[Kind[Any, Any]] = SCORES

    def people(self) -> pd.DataFrame:
        """People who gave anchors: criterion, scores, severity, discrimination or noise, with intervals.

        On the scales of :meth:`judges`; see :func:`.scores.results.people_table`. Empty without anchors.
        """
        return self._frame(self.tables["people"])

    def contexts(self) -> pd.DataFrame:
        """Strength of every item in every context; see :func:`.scores.results.context_table`."""
        return self._frame(results.context_table(self.problem, self.posterior, self.prob))

    def systems(self) -> pd.DataFrame:
        """Systems, best first, of scores of systems over contexts; see :mod:`voirdire.kinds.scores.systems`.

        Columns: system, contexts, score, sd, low, high, rank, rank_low, rank_high, p_best. Items are the systems'
        answers in each context, which :meth:`ranking` compares.

        Raises
        ------
        InputError
            The table has no columns context and system, or the fit no draws.
        """
        return self._frame(systems.system_table(self.problem, self.posterior, self.prob))

    def strength_columns(self) -> Columns:
        """Strength of every item under every criterion, with sd and interval; one row per cell."""
        return results.strengths_on_scale(self.problem, self.posterior, self.prob)
