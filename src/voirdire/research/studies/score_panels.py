"""Panels of scores drawn from a model file itself: parameters from its priors, scores from its equation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from voirdire.kinds.scores import continuous, ordinal
from voirdire.kinds.scores.density import ScoresDensity, form_of
from voirdire.kinds.scores.problem import ScoresProblem, pose_scores
from voirdire.model.specs import Model
from voirdire.model.terms import RATERS
from voirdire.model.terms.censored import HALF
from voirdire.model.terms.cumulative import log_every_level
from voirdire.model.terms.reliability import Values
from voirdire.research.studies.prior_draws import names, prior_draw
from voirdire.tables.scores import Scores
from voirdire.tables.votes import Votes, count_votes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
GROUPS = ("group-1", "group-2")


@dataclass(frozen=True)
class ScorePanel:
    """Who scores what: every judge every item under every criterion, once or twice; judges are of two groups by turns.

    Models that learn weights also get every judge's vote on every pair of criteria.

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
    >>> truth, problem = panel.draw(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((19,), 30)
    """

    model: Model
    judges: int
    items: int
    criteria: int
    repeats: bool

    @property
    def density(self) -> ScoresDensity:
        """The density of the simulating model."""
        sizes = (self.judges, self.criteria, self.items)
        return ScoresDensity(
            self.model,
            *sizes,
            levels=len(LEVELS) if form_of(self.model) is ordinal else 0,
            groups=len(GROUPS),
            repeats=self.repeats,
            voted=self.model.weights is not None and self.model.weights.kind == "votes",
            answers=float(self.judges),
            runs=2.0 if self.repeats else 1.0,
        )

    def draw(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, ScoresProblem]:
        """Draw parameters from the prior and scores given them; as :meth:`.PriorPanel.draw`."""
        truth = prior_draw(self.density, rng)
        table, votes = self.tables(self.density.values(truth, np), rng)
        return truth, pose_scores(fitted, table, levels=LEVELS, criteria=votes, repeats=self.repeats)

    def tables(self, values: Values, rng: np.random.Generator) -> tuple[Scores, Votes | None]:
        """Scores given values of the parameters, and votes on criteria where the model learns weights."""
        shape = (self.judges, self.criteria, self.items)
        cell = tuple(np.indices(shape).reshape(3, -1))
        group = np.arange(self.judges) % len(GROUPS)
        runs = 2 if self.repeats else 1
        own = rng.normal(size=len(cell[0]))  # what a judge makes of an item, the same in all its runs
        score = np.concatenate([self._scored(values, cell, group, own, rng) for _ in range(runs)])
        judge, criterion, item = (np.tile(codes, runs) for codes in cell)
        table = Scores(
            judges=names("judge", self.judges),
            criteria=names("criterion", self.criteria),
            items=names("item", self.items),
            judge=judge,
            criterion=criterion,
            item=item,
            score=score,
            groups=GROUPS,
            group=group[judge],
            has_criteria=True,
        )
        return table, self._voted(values, rng) if self.density.voted else None

    def _voted(self, values: Values, rng: np.random.Generator) -> Votes:
        """A vote of every judge on every pair of criteria."""
        pairs = np.array(list(combinations(range(self.criteria), 2)), dtype=np.int64).reshape(-1, 2)
        judge, pair = (part.ravel() for part in np.indices((self.judges, len(pairs))))
        first, second = pairs[pair].T
        weight, raters = values["weight"], RATERS[self.model.reliability.kind]
        gap = np.asarray(raters.perceived(values, weight[first] - weight[second], judge, np))
        lost = (rng.logistic(size=len(gap)) > gap).astype(np.int64)
        named = (names("judge", self.judges), ("overall",), names("criterion", self.criteria))
        return count_votes(named, (judge, judge * 0, first, second), lost, has_criteria=False)

    def _scored(
        self, values: Values, cell: tuple[Ints, ...], group: Ints, own: Floats, rng: np.random.Generator
    ) -> Floats:
        """One score of each cell."""
        density, (judge, criterion, item) = self.density, cell
        eta = ordinal.perceived(density, values, group, judge, criterion, item)
        if "log_judge_item" in values:
            eta = eta + np.exp(values["log_judge_item"])[judge] * own
        if density.form is continuous:
            noisy = eta + np.exp(values["log_noise"])[judge] * rng.normal(size=len(eta))
            middle, length = 0.5 * (LEVELS[0] + LEVELS[-1]), LEVELS[-1] - LEVELS[0]
            return np.asarray(middle + length * np.clip(noisy, -HALF, HALF))
        cuts = ordinal.cutpoints(density, values, np)
        whose = judge if len(cuts) > 1 else judge * 0
        chance = np.exp(np.stack(log_every_level(eta, cuts[whose, criterion], density.levels, np), axis=-1))
        bounds = chance.cumsum(axis=1)
        level = (rng.random(len(eta))[:, None] * bounds[:, -1:] > bounds[:, :-1]).sum(axis=1)
        score: Floats = np.array(LEVELS)[level]
        return score
