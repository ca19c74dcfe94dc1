"""Results of fits of votes, scores and rankings for terms beside those of their model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.kinds.effects import effect_tables

if TYPE_CHECKING:
    import pandas as pd


class TermsFit:
    """A fit whose problem has ``added`` terms."""

    problem: Any
    posterior: Any
    prob: float

    def covariates(self) -> pd.DataFrame:
        """Effects of covariates, which are held fixed: name, effect (log-odds), low, high, unit, clear (of 0).

        Raises
        ------
        InputError
            The fit has none.
        """
        return self._term_frame("covariates", "covariates() needs fit(..., covariates=...)")

    def own_family(self) -> pd.DataFrame:
        """Preference of judges for their own family: judge (None: over all), effect (log-odds), low, high.

        Raises
        ------
        InputError
            The fit was not asked for it.
        """
        return self._term_frame("own_family", "own_family() needs fit(..., families=..., item_families=...)")

    def terms(self) -> pd.DataFrame:
        """Values of the other terms beside a model's own: term, level, value (log-odds), low, high.

        Raises
        ------
        InputError
            The fit has none.
        """
        return self._term_frame(
            "terms", "terms() needs fit(..., terms=...) with terms beside those of items and judges"
        )

    def _term_frame(self, name: str, otherwise: str) -> pd.DataFrame:
        import pandas as pd

        found = effect_tables(self.problem, self.posterior, self.prob)
        if name not in found:
            raise InputError(otherwise)
        return pd.DataFrame(found[name])
