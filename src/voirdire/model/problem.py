"""A model and a table in the form that inference needs."""

from __future__ import annotations

from dataclasses import dataclass

from voirdire.model.density import Data, LogDensity
from voirdire.model.specs import Model
from voirdire.typing import Ints


@dataclass(frozen=True, eq=False)
class Problem:
    """One model and one table of any kind, ready for inference: votes (:class:`VotesProblem`), labels or scores."""

    density: LogDensity
    data: Data
    judges: tuple[str, ...]
    criteria: tuple[str, ...]
    items: tuple[str, ...]
    judge_votes: Ints

    @property
    def model(self) -> Model:
        """The model."""
        return self.density.model

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        return {"judge": list(self.judges), "criterion": list(self.criteria), "item": list(self.items)}
