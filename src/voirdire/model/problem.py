"""A model and a table in the form that inference needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voirdire.model.check import Check
from voirdire.model.density import Data, LogDensity
from voirdire.model.specs import Model
from voirdire.model.target_answers import TargetAnswers
from voirdire.typing import Ints

PANEL, TARGET = "panel", "target"


@dataclass(frozen=True, eq=False)
class Problem:
    """One model and one table of any kind, ready for inference: votes (:class:`VotesProblem`), labels or scores.

    ``about`` says what the results are about: the panel, or its target (people); None where nothing was said, and
    scores are the panel's. ``target_answers`` are people's, where they say how far the panel is from them and are no
    part of the density.
    """

    density: LogDensity
    data: Data
    judges: tuple[str, ...]
    criteria: tuple[str, ...]
    items: tuple[str, ...]
    judge_votes: Ints
    about: str | None = field(default=None, kw_only=True)
    target_answers: TargetAnswers | None = field(default=None, kw_only=True)

    @property
    def model(self) -> Model:
        """The model."""
        return self.density.model

    def part(self, data: str) -> Any:
        """The problem as one of a kind of data, or the part of it that is; None where it has none of that kind."""
        return self if data == self.model.data else None

    def orientation_check(self, mass: float, at_mode: bool = False) -> Check:
        """Check the posterior mass of the twins, which only the prior (and people) tell apart.

        Parameters
        ----------
        mass : float
        at_mode : bool
            Whether it was found at the mode alone.
        """
        raise NotImplementedError(f"model {self.model.name} has no twins")

    def check_compiled(self) -> None:
        """Refuse tables that cannot be compiled, as NUTS needs; most can."""

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        return {"judge": list(self.judges), "criterion": list(self.criteria), "item": list(self.items)}
