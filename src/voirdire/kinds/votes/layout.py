"""The sizes of a table of votes, which its density is searched by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voirdire.model.density import LogDensity
from voirdire.model.design import Term


@dataclass(frozen=True)
class VotesLayout(LogDensity):
    """Sizes and structure of its table that a density of votes knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
        Numbers of levels (``criteria`` is 1 where the model collapses them).
    ties : bool
        Whether the table has ties; without them the tie term is left out.
    anchors : bool
        Whether there are human answers, with a coin of their own.
    contexts : int
        Number of contexts, 0 where the model or the table has none.
    tastes : bool
        Whether judges have tastes: the model has, and they were asked of an item under several criteria.
    over : str
        Whether scores are over contexts like those of the table ("new") or over these alone ("these").
    added : tuple of Term
        Terms beside those of the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each factor of these that is none of the others.
    compared : float
        Votes on an item under a criterion, on average, where the unit of its strength is made for them.
    repeated : bool
        Whether judges vote in one context often enough that the habits that each has there can be told.
    """

    ties: bool
    anchors: bool = False
    contexts: int = 0
    tastes: bool = False
    over: str = "new"
    added: tuple[Term, ...] = ()
    added_levels: tuple[tuple[str, int], ...] = ()
    compared: float = 0.0
    repeated: bool = True

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        sizes = {"judge": self.judges, "criterion": self.criteria, "item": self.items}
        return dict(self.added_levels) | sizes | ({"context": self.contexts} if self.contexts else {})

    @cached_property
    def coin_names(self) -> tuple[str, ...]:
        """Names of the coin of a judge that is right of the first item and of that of the second, where it has any."""
        names = {parameter.name for parameter in self.parameters}
        pairs = (("coin_first", "coin_second"), ("reliability", "reliability"))
        return next((pair for pair in pairs if names.issuperset(pair)), ())
