"""Rankings drawn from a model's priors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from voirdire.kinds.rankings.density import RankingsDensity
from voirdire.kinds.rankings.problem import RankingsProblem, encode_rankings
from voirdire.kinds.rankings.results import draw_rankings
from voirdire.model.prior_draws import draw_from_prior, level_names
from voirdire.model.specs import Model
from voirdire.tables.rankings import Rankings
from voirdire.typing import Floats

CONTEXTS = 4


@dataclass(frozen=True)
class RankingPanel:
    """Panel of rankings: every judge ranks all items in each of four contexts, under every criterion.

    Parameters
    ----------
    model : Model
        What simulates.
    judges, items, criteria : int
    ties : bool
        Whether the first two items of each ranking are tied, and the last two.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel = RankingPanel(load_model("plackett-luce"), judges=2, items=3, criteria=1, ties=False)
    >>> truth, problem = panel.draw_problem(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((3,), 8)
    """

    data: ClassVar[str] = "rankings"

    model: Model
    judges: int
    items: int
    criteria: int
    ties: bool

    @classmethod
    def of(cls, model: Model, shape: dict[str, int], ties: bool) -> RankingPanel:
        """As :func:`.panel_of`."""
        return cls(model, **shape, ties=ties)

    @cached_property
    def blank(self) -> RankingsProblem:
        """Everything that is asked, in the order of the items for the time being, under the simulating model."""
        shape = (self.judges, self.criteria, CONTEXTS, self.items)
        judge, criterion, context, item = (part.ravel() for part in np.indices(shape))
        rank = item.astype(float)
        if self.ties:
            rank = np.clip(rank, 1, self.items - 2)
        table = Rankings(
            judges=level_names("judge", self.judges),
            criteria=level_names("criterion", self.criteria),
            items=level_names("item", self.items),
            contexts=level_names("context", CONTEXTS),
            judge=judge,
            criterion=criterion,
            item=item,
            context=context,
            rank=rank,
        )
        return encode_rankings(self.model, table)

    @property
    def density(self) -> RankingsDensity:
        """The density of the simulating model."""
        return self.blank.density

    def draw_problem(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, RankingsProblem]:
        """Draw parameters from the prior and rankings given them; as :meth:`.PriorPanel.draw_problem`."""
        truth = draw_from_prior(self.density, rng)
        return truth, encode_rankings(fitted, draw_rankings(self.blank, self.density.values(truth, np), rng))
