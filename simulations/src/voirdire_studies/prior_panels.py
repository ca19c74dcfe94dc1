"""Panels drawn from a model file: parameters from its priors, votes from its equation.

In the joint distribution p(x) p(votes | x) the posterior of any model is calibrated by construction. So these data test
only the computation, and the agreement of simulator and fit on the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from voirdire.kinds.labels.answers import draw_labels as draw_labels
from voirdire.kinds.labels.density import LabelsDensity
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.draw import draw_answers
from voirdire.kinds.votes.draw import draw_votes as draw_votes
from voirdire.kinds.votes.problem import VotesProblem, encode_votes
from voirdire.kinds.votes.response_probabilities import cell_probabilities
from voirdire.kinds.votes_and_scores.kind import JOINT
from voirdire.kinds.votes_and_scores.problem import VotesAndScoresProblem, encode_votes_and_scores
from voirdire.model.density import LogDensity
from voirdire.model.prior_draws import draw_from_prior, level_names
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.model.terms.term import Values
from voirdire.tables.counts import Votes, count_votes
from voirdire.tables.labels import Labels
from voirdire.tables.scores import Scores
from voirdire.tables.votes_and_scores import with_common_names
from voirdire.typing import Floats
from voirdire_studies.ranking_panel import RankingPanel
from voirdire_studies.score_panels import CONTEXTS, LEVELS, ScorePanel

LABELS = ("a", "b", "c")


@dataclass(frozen=True)
class PriorPanel:
    """Panel of votes: every judge on every pair of items in both orders, under every criterion.

    Models that learn weights also get every judge's votes on every pair of criteria, in both orders; models that
    collapse criteria get one criterion. With contexts all of it is asked in each, and nobody votes on criteria.

    Parameters
    ----------
    model : Model
        What simulates.
    judges, items, criteria : int
    ties : bool
        Whether judges may answer "tie" (where the model has a tie term).
    contexts : int
        0 for none.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel = PriorPanel(load_model("maple"), judges=2, items=3, criteria=2, ties=False)
    >>> truth, problem = panel.draw_problem(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((7,), 28)
    """

    data: ClassVar[str] = "votes"

    model: Model
    judges: int
    items: int
    criteria: int
    ties: bool
    contexts: int = 0

    @classmethod
    def of(cls, model: Model, shape: dict[str, int], ties: bool) -> PriorPanel:
        """As :func:`panel_of`."""
        return cls(model, **shape, ties=ties)

    @cached_property
    def blank(self) -> VotesProblem:
        """Everything that is asked, answered "first" for the time being, under the simulating model."""
        votes, on_criteria = (_every_pair(self.judges, self._separate_criteria, self.items, self.contexts), None)
        if self.model.weights is not None and self.model.weights.kind == "votes" and not self.contexts:
            criteria_pairs = _every_pair(self.judges, 1, self._separate_criteria)
            on_criteria = replace(criteria_pairs, criteria=("overall",), items=votes.criteria)
        return encode_votes(self.model, votes, on_criteria, ties=self._has_ties, keep_empty=True)

    @property
    def density(self) -> VotesDensity:
        """The density of the simulating model."""
        return self.blank.density

    @property
    def _separate_criteria(self) -> int:
        return self.criteria if self.model.criteria == "separate" else 1

    @property
    def _has_ties(self) -> bool:
        return self.ties and self.model.ties is not None

    def draw_problem(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, VotesProblem]:
        """Draw parameters from the prior and votes given them.

        Parameters
        ----------
        fitted : Model
            The model that the votes are encoded to; the simulating one, save in a negative control.
        rng : numpy.random.Generator

        Returns
        -------
        truth : array, shape (size,)
            Free coordinates of the simulating model, in the units of the problem.
        problem : VotesProblem
            All problems of a panel have arrays of one shape.
        """
        density = self.density
        values = density.values(draw_from_prior(density, rng), np)
        votes, criteria_votes = self.draw_tables(values, rng)
        problem = encode_votes(fitted, votes, criteria_votes, ties=self._has_ties, keep_empty=True)
        return _in_units(problem, values), problem

    def draw_tables(self, values: Values, rng: np.random.Generator) -> tuple[Votes, Votes | None]:
        """Votes given values of the parameters, and votes on criteria where the model learns weights."""
        density, on_criteria = self.density, self.blank.criteria_votes
        votes = draw_votes(self.blank, values, rng)
        if on_criteria is None:
            return votes, None
        # the criterion's code is one past the last: that is how coins per criterion know these votes
        asked = replace(on_criteria, criterion=on_criteria.criterion + density.criteria)
        weight = np.broadcast_to(values["weight"], (density.criteria + 1, density.criteria))
        chance = cell_probabilities(self.model, density, [{**values, "strength": weight}], asked)
        return votes, draw_answers(on_criteria, chance, rng)


def _every_pair(judges: int, criteria: int, items: int, contexts: int = 0) -> Votes:
    """One vote of every judge on every ordered pair (in every context), answered "first" for the time being."""
    pairs = np.array(list(permutations(range(items), 2)), dtype=np.int64).reshape(-1, 2)
    judge, criterion, pair, context = np.indices((judges, criteria, len(pairs), max(contexts, 1))).reshape(4, -1)
    first, second = pairs[pair].T
    named = (level_names("judge", judges), level_names("criterion", criteria), level_names("item", items))
    codes, none = (judge, criterion, first, second), judge * 0
    return count_votes(
        named, codes, none, level_names("context", contexts), context if contexts else None, has_criteria=True
    )


@dataclass(frozen=True)
class LabelPanel:
    """Panel of labels: every judge labels every item, once; three labels, all of them classes.

    Parameters
    ----------
    model : Model
        What simulates.
    judges, items : int

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel = LabelPanel(load_model("hierarchical-dawid-skene"), judges=2, items=5)
    >>> truth, problem = panel.draw_problem(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((20,), 10)
    """

    data: ClassVar[str] = "labels"

    model: Model
    judges: int
    items: int

    @classmethod
    def of(cls, model: Model, shape: dict[str, int], ties: bool) -> LabelPanel:
        """As :func:`panel_of`."""
        return cls(model, shape["judges"], shape["items"])

    @cached_property
    def blank(self) -> LabelsProblem:
        """Everything that is asked, answered by the first label for the time being, under the simulating model."""
        judge, item = (part.ravel() for part in np.indices((self.judges, self.items)))
        table = Labels(
            judges=level_names("judge", self.judges),
            criteria=("overall",),
            items=level_names("item", self.items),
            judge=judge,
            criterion=judge * 0,
            item=item,
            labels=LABELS,
            label=judge * 0,
        )
        return self._pose_problem(self.model, table)

    def _pose_problem(self, model: Model, table: Labels) -> LabelsProblem:
        """Pose the problem of a table; where judges share errors, every two are a family."""
        families = {judge: f"family-{k // 2}" for k, judge in enumerate(table.judges)}
        return encode_labels(model, table, families=families, keep_apart=True)

    @property
    def density(self) -> LabelsDensity:
        """The density of the simulating model."""
        return self.blank.density

    def draw_problem(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, LabelsProblem]:
        """Draw parameters from the prior and labels given them; as :meth:`PriorPanel.draw_problem`."""
        truth = draw_from_prior(self.density, rng)
        table = draw_labels(self.blank, self.density.values(truth, np), rng, anew=True)
        return truth, self._pose_problem(fitted, table)


@dataclass(frozen=True)
class JointPanel:
    """Panel of votes and scores: the votes of :class:`PriorPanel` and the scores of :class:`.ScorePanel`.

    Parameters
    ----------
    model : Model
        What simulates.
    judges, items, criteria : int
    ties : bool
        Whether votes may be ties, and everything is scored twice.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel = JointPanel(load_model("joint-severity"), judges=2, items=3, criteria=1, ties=False)
    >>> truth, problem = panel.draw_problem(panel.model, np.random.default_rng(0))
    >>> truth.shape, int(problem.judge_votes.sum())
    ((10,), 18)
    """

    data: ClassVar[str] = "joint"

    model: Model
    judges: int
    items: int
    criteria: int
    ties: bool

    @classmethod
    def of(cls, model: Model, shape: dict[str, int], ties: bool) -> JointPanel:
        """As :func:`panel_of`."""
        return cls(model, **shape, ties=ties)

    @property
    def _shape(self) -> tuple[int, int, int, bool]:
        return self.judges, self.items, self.criteria, self.ties

    @property
    def _contexts(self) -> int:
        """In each of which everything is asked anew; 0 for none."""
        return 0 if self.model.context is None else CONTEXTS

    @cached_property
    def _of_votes(self) -> PriorPanel:
        return PriorPanel(self.model.part("votes"), *self._shape, self._contexts)

    @cached_property
    def _of_scores(self) -> ScorePanel:
        part = replace(self.model.part("scores"), weights=None)  # of which the votes on criteria speak
        return ScorePanel(part, *self._shape)

    @cached_property
    def blank(self) -> VotesAndScoresProblem:
        """Everything that is asked, under the simulating model."""
        votes, scores = self._of_votes.blank, self._of_scores.blank
        return self._pose_problem(self.model, votes.votes, votes.criteria_votes, scores.table)

    @property
    def density(self) -> LogDensity:
        """The density of the simulating model."""
        return self.blank.density

    def draw_problem(self, fitted: Model, rng: np.random.Generator) -> tuple[Floats, VotesAndScoresProblem]:
        """Draw parameters from the prior and both tables given them; as :meth:`PriorPanel.draw_problem`."""
        values = self.density.values(draw_from_prior(self.density, rng), np)
        if self._contexts:
            drawn = JOINT.draw(self.blank, values, rng)
            votes, scores, on_criteria = drawn.votes, drawn.scores, None
        else:
            votes, on_criteria = self._of_votes.draw_tables(values, rng)
            scores, _ = self._of_scores.draw_tables(values, rng)
        problem = self._pose_problem(fitted, votes, on_criteria, scores)
        return _in_units(problem, values), problem

    def _pose_problem(
        self, model: Model, votes: Votes, on_criteria: Votes | None, scores: Scores
    ) -> VotesAndScoresProblem:
        parts = self._of_votes.density, self._of_scores.density
        how: dict[str, Any] = {"ties": parts[0].ties, "repeats": parts[1].repeats, "criteria": on_criteria}
        return encode_votes_and_scores(model, with_common_names(votes, scores), levels=LEVELS, **how, keep_empty=True)


def _in_units(problem: Problem, values: Values) -> Floats:
    """Return the flat vector of values, in the units that the table defines."""
    return np.asarray(problem.density.flat(values, np), dtype=float)


Panel: TypeAlias = PriorPanel | LabelPanel | ScorePanel | RankingPanel | JointPanel
_PANELS: dict[str, type[Panel]] = {
    panel.data: panel for panel in (PriorPanel, LabelPanel, ScorePanel, RankingPanel, JointPanel)
}


def panel_of(model: Model, shape: dict[str, int], ties: bool) -> Panel:
    """Make the panel for the calibration of a model; for scores, ``ties`` means that judges score everything twice.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> panel_of(load_model("one-coin-label"), {"judges": 2, "items": 3, "criteria": 1}, False).density.size
    4
    """
    return _PANELS[model.data].of(model, shape, ties)
