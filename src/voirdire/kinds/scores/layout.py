"""The sizes of a table of scores, which the forms of its density are written against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voirdire.model.added_terms import STEP
from voirdire.model.density import LogDensity
from voirdire.model.design import Term

NAMES = ("judge", "criterion", "item")  # what a score is about, beside its context


@dataclass(frozen=True)
class ScoresLayout(LogDensity):
    """Sizes and structure of its table that a density of scores knows.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    levels : int
        Levels of the scale; 0 where the model takes scores as numbers.
    groups : int
        Groups of judges; 1 where the table has no such column.
    repeats : bool
        Whether some judge scored an item more than once; without that the term of repeats is left out.
    voted : bool
        Whether there are votes on criteria.
    given : tuple of float, optional
        Weights of the criteria, where they are given; they sum to one.
    answers, runs : float
        Judges of an item under a criterion and scores of each, on average: the units of strengths are made for them.
    families : tuple of int
        Family of each judge whose errors are shared with others, -1 for the others; empty where none are shared.
    contexts : int
        Contexts that the model tells apart; 0 where it does not, or the table has none in which items recur.
    tastes : bool
        Whether the model has tastes of judges, and the table something to say of them.
    added : tuple of Term
        Terms beside those of the sections of the model.
    added_levels : tuple of (str, int)
        Number of levels of each factor of these that is none of the others.
    anchors : tuple of (share, count)
        Shares of the cells (items under criteria) that have so many human scores; empty without anchors.
    """

    levels: int
    groups: int = 1
    repeats: bool = False
    voted: bool = False
    given: tuple[float, ...] | None = None
    answers: float = 1.0
    runs: float = 1.0
    anchors: tuple[tuple[float, float], ...] = ()
    families: tuple[int, ...] = ()
    contexts: int = 0
    tastes: bool = False
    added: tuple[Term, ...] = ()
    added_levels: tuple[tuple[str, int], ...] = ()

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return {
            "judge": self.judges,
            "criterion": self.criteria,
            "item": self.items,
            "group": self.groups,
            "gap": max(self.levels - 2, 0),
            "family": max(self.families, default=-1) + 1,
            "context": self.contexts,
            **dict(self.added_levels),
        }

    @cached_property
    def about(self) -> tuple[str, ...]:
        """Names of the codes that a score is told by: what it is about, and its row of numbers where there are such."""
        known = (*NAMES, "context") if self.contexts else NAMES
        factors = {factor for term in self.added for factor in term.factors} - {*known, STEP}
        numbers = ("numbers",) if any(term.covariate is not None for term in self.added) else ()
        return (*known, *sorted(factors), *numbers)
