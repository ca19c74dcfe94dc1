"""Fits of rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from voirdire.kinds.fit import import_fit_function
from voirdire.kinds.ranked_fit import TermsFit
from voirdire.kinds.rankings.kind import RANKINGS
from voirdire.kinds.rankings.problem import RankingsProblem
from voirdire.kinds.terms_kind import TermsKind
from voirdire.tables.output_library import convert_to_library

if TYPE_CHECKING:
    import pandas as pd


class RankingsFit(TermsFit):
    """Fit of rankings."""

    problem: RankingsProblem
    kind: ClassVar[TermsKind[Any, Any]] = RANKINGS

    def next_rankings(self, count: int = 5, **settings: Any) -> pd.DataFrame:
        """Choose the next rankings to collect; see :func:`voirdire.fit.next.rankings.next_rankings`.

        Raises
        ------
        InputError
            The request is invalid, or the fit has no draws.
        """
        rankings: pd.DataFrame = import_fit_function("next_rankings")(self.in_pandas, count, **settings)
        return convert_to_library(rankings, self.frames)
