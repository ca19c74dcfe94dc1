"""Panels of scores drawn from a model file itself: parameters from its priors, scores from its equation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from voirdire.kinds.scores.density import ScoresDensity
from voirdire.kinds.scores.draw import draw_scores
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores
from voirdire.model.prior_draws import draw_from_prior, level_names
from voirdire.model.specs import Model
from voirdire.model.terms import RATERS
from voirdire.model.terms.raters import AlikeRaters
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes, count_votes
from voirdire.tables.scores import Scores
from voirdire.typing import Floats

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
GROUPS = ("group-1", "group-2")
CONTEXTS = 4  # in which every item is scored, of models that have them


@dataclass(frozen=True)
class ScorePanel:
    """Panel of scores: every judge every item under every criterion, once or twice; judges are of two groups by turns.

    Models in which judges' skill counts in votes on criteria, too, also get every judge's vote on every pair of
    criteria; in others these votes tell nothing of the scores.

    Parameters
    ----------
    model : Model
        What simulates.
    judges, items, criteria : int
    repeats : bool
        Whether every score is given in two runs.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel = ScorePanel(load_model("rating-severity"), judges=3, items=5, criteria=2, repeats=False)
    >>> truth, problem = panel.draw_problem(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((19,), 30)
    """

    data: ClassVar[str] = "scores"

    model: Model
    judges: int
    items: int
    criteria: int
    repeats: bool

    @classmethod
    def of(cls, model: Model, shape: dict[str, int], ties: bool) -> ScorePanel:
        """As :func:`panel_of`."""
        return cls(model, **shape, repeats=ties)

    @cached_property
    def blank(self) -> ScoresProblem:
        """Everything that is asked, answered by the lowest level for the time being, under the simulating model."""
        contexts, runs = CONTEXTS if self.model.context is not None else 1, 2 if self.repeats else 1
        shape = (self.judges, self.criteria, self.items, contexts)
        judge, criterion, item, context = (np.tile(codes.ravel(), runs) for codes in np.indices(shape))
        table = Scores(
            judges=level_names("judge", self.judges),
            criteria=level_names("criterion", self.criteria),
            items=level_names("item", self.items),
            judge=judge,
            criterion=criterion,
            item=item,
            score=np.full(len(judge), LEVELS[0]),
            groups=GROUPS,
            group=judge % len(GROUPS),
            contexts=level_names("context", CONTEXTS) if contexts > 1 else (),
            context=context if contexts > 1 else None,
            has_criteria=True,
        )
        skilled = self.model.reliability.kind != AlikeRaters.kind and self.model.cutpoints is not None
        learns = skilled and self.model.weights is not None and self.model.weights.kind == "votes"
        votes = self._criterion_vote_outcome() if learns else None
        return self._pose_problem(self.model, table, votes)

    @property
    def density(self) -> ScoresDensity:
        """The density of the simulating model."""
        return self.blank.density

    def draw_problem(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, ScoresProblem]:
        """Draw parameters from the prior and scores given them; as :meth:`.PriorPanel.draw_problem`."""
        truth = draw_from_prior(self.density, rng)
        table, votes = self.draw_tables(self.density.values(truth, np), rng)
        return truth, self._pose_problem(fitted, table, votes)

    def _pose_problem(self, model: Model, table: Scores, votes: Votes | None) -> ScoresProblem:
        """Pose the problem of a table; where judges share errors, every two are a family."""
        families = {judge: f"family-{k // 2}" for k, judge in enumerate(table.judges)}
        how = {"levels": LEVELS, "criteria": votes, "repeats": self.repeats, "families": families}
        return encode_scores(model, table, **how)  # type: ignore[arg-type]

    def draw_tables(self, values: Values, rng: np.random.Generator) -> tuple[Scores, Votes | None]:
        """Scores given values of the parameters, and votes on criteria where the model learns weights."""
        if "log_judge_item" not in values:
            # what a judge makes of an item is drawn in any case: committed studies hold what came after it
            rng.normal(size=self.judges * self.criteria * self.items)
        scores = draw_scores(self.blank, values, rng)
        return scores, self._criterion_vote_outcome(values, rng) if self.density.voted else None

    def _criterion_vote_outcome(self, values: Values | None = None, rng: np.random.Generator | None = None) -> Votes:
        """A vote of every judge on every pair of criteria, for the first where nothing is known."""
        pairs = np.array(list(combinations(range(self.criteria), 2)), dtype=np.int64).reshape(-1, 2)
        judge, pair = (part.ravel() for part in np.indices((self.judges, len(pairs))))
        first, second = pairs[pair].T
        lost = judge * 0
        if values is not None and rng is not None:
            weight, raters = values["weight"], RATERS[self.model.reliability.kind]
            gap = np.asarray(raters.perceived_strength(values, weight[first] - weight[second], judge, np))
            lost = (rng.logistic(size=len(gap)) > gap).astype(np.int64)
        named = (level_names("judge", self.judges), ("overall",), level_names("criterion", self.criteria))
        return count_votes(named, (judge, judge * 0, first, second), lost, has_criteria=False)
