"""The density of a model of votes and scores of the same items.

With strengths theta_c,i, a consistency a_k > 0 of judge k that holds for both, and the ratio m of what a vote and a
score are worth:

    vote    P(first) = sigmoid(m a_k (theta_c,first - theta_c,second) + b_k), ties as in Davidson's model
    score   P(y > level l) = sigmoid(a_k theta_c,i - severity_k - kappa_c,l)

(Bradley-Terry with a sharpness per judge, arXiv 2602.16610, and the graded response model, Samejima 1969, of judges in
the place of questions.) Given the parameters all answers are independent, so the log likelihood is the sum of that of
the votes (:class:`voirdire.kinds.votes.density.VotesDensity`) and that of the scores
(:class:`voirdire.kinds.scores.density.ScoresDensity`), which share every parameter of one name.

What identifies it: strengths sum to zero over the items of each criterion and severities over the judges, so that the
cutpoints have the location; log a sums to zero over the judges, so that the noise of the typical judge's score
(logistic, scale 1) is the unit of the strengths; m is told by items that have both votes and scores, and by the prior
alone where fewer than two have. As a_k > 0 the scores give the orientation, and there is no mirror.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voirdire.kinds.scores.density import ScoresDensity
from voirdire.kinds.scores.ordinal import LOGISTIC
from voirdire.kinds.votes.density import VotesDensity
from voirdire.kinds.votes.starts import starting_point
from voirdire.model.density import Data, LogDensity
from voirdire.model.specs import Section
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.parameters import Parameter
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

OF_VOTES = ("votes", "criteria", "anchors")
OF_SCORES = ("scores", "panel")


@dataclass(frozen=True)
class JointDensity(LogDensity):
    """The density of a model of votes and scores.

    Parameters
    ----------
    model : Model
    judges, criteria, items : int
    levels : int
        Levels of the scale.
    groups : int
        Groups of scoring judges; 1 where the table has no such column.
    ties : bool
        Whether the votes have ties.
    repeats : bool
        Whether some judge scored an item more than once.
    voted : bool
        Whether there are votes on criteria.
    anchors : bool
        Whether there are human answers.
    given : tuple of float, optional
        Weights of the criteria, where they are given; they sum to one.
    answers, runs : float
        Judges of an item under a criterion and scores of each, on average; see :class:`.ScoresLayout`.
    compared : float
        Votes on an item under a criterion, on average.

    Examples
    --------
    >>> from voirdire.model.specs import load_model
    >>> density = JointDensity(load_model("joint-position"), judges=3, criteria=1, items=4, levels=3)
    >>> sorted(density.slices)
    ['cut_location', 'log_discrimination', 'log_gap', 'log_spread', 'log_vote_scale', 'severity', 'shift', 'strength']
    """

    levels: int
    groups: int = 1
    ties: bool = False
    repeats: bool = False
    voted: bool = False
    anchors: bool = False
    given: tuple[float, ...] | None = None
    answers: float = 1.0
    runs: float = 1.0
    compared: float = 0.0

    @cached_property
    def of_votes(self) -> VotesDensity:
        """The density of the votes alone, of the same parameters."""
        part = self.model.part("votes")
        if not self.voted:
            part = replace(part, weights=Section("uniform"))
        return VotesDensity(part, self.judges, self.criteria, self.items, self.ties, self.anchors)

    @cached_property
    def of_scores(self) -> ScoresDensity:
        """The density of the scores alone, of the same parameters."""
        return ScoresDensity(
            self.model.part("scores"),
            self.judges,
            self.criteria,
            self.items,
            levels=self.levels,
            groups=self.groups,
            repeats=self.repeats,
            given=self.given,
            answers=self.answers,
            runs=self.runs,
        )

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of levels of each dimension."""
        return self.of_scores.sizes

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, in the order of the flat vector: those of the votes, then those of scores alone."""
        found = {p.name: p for p in (*self.of_scores.parameters, *self.of_votes.parameters)}
        names = dict.fromkeys(p.name for p in (*self.of_votes.parameters, *self.of_scores.parameters))
        return tuple(found[name] for name in names)

    def information(self, name: str, values: Values, xp: Any) -> Array:
        """Information of scores and votes on an item's strength, if perceptions were known; (..., criteria, 1, 1)."""
        slope = xp.exp(values["log_vote_scale"])[..., None]
        if "log_discrimination" in values:
            slope = slope * xp.exp(values["log_discrimination"])
        by_votes = self.compared * (slope * slope).mean(axis=-1) / LOGISTIC
        return self.of_scores.information(name, values, xp) + by_votes[..., None, None, None]

    @property
    def given_weights(self) -> tuple[float, ...] | None:
        """Weights of the criteria that the user gave."""
        return self.given

    @property
    def has_mirror(self) -> bool:
        """False: a_k > 0, so the scores say which way is up."""
        return False

    def mirror(self, x: Array, xp: Any) -> Array:
        """Raise ValueError: there is no mirror."""
        raise ValueError(f"model {self.model.name} has no mirror")

    def log_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """Log probability of each distinct vote and score, and how often it was given."""
        votes = self.of_votes.log_parts(values, part(data, OF_VOTES), xp)
        return votes + self.of_scores.log_parts(values, part(data, OF_SCORES), xp)

    def people_parts(self, values: Values, data: Data, xp: Any) -> list[tuple[Array, Array]]:
        """As :meth:`log_parts`, of human answers."""
        return self.of_votes.people_parts(values, part(data, OF_VOTES), xp)

    def part_names(self, data: Data) -> list[str]:
        """A name for each of :meth:`log_parts` and :meth:`people_parts`."""
        votes = replace(self.of_votes, anchors=False).part_names(part(data, OF_VOTES))
        people = self.of_votes.part_names({})
        return votes + self.of_scores.part_names(part(data, OF_SCORES)) + people

    def starts(self, data: Data) -> list[Floats]:
        """The start of the scores, and of the votes where an item has no score."""
        votes = part(data, OF_VOTES)
        x = starting_point(self.of_votes, votes, np.ones(self.judges))
        found = self.of_votes.values(x, np)
        scored = np.zeros((self.criteria, self.items), dtype=bool)
        answers = data["scores"]
        scored[answers["criterion"], answers["item"]] = answers["weight"] > 0
        by_scores = self.of_scores.form.starts(self.of_scores, part(data, OF_SCORES))[0]
        strength = np.where(scored, by_scores["strength"], found["strength"])
        spread = {"log_spread": by_scores["log_spread"]} if "log_spread" in by_scores else {}
        found = by_scores | found | spread | {"strength": strength - strength.mean(axis=1, keepdims=True)}
        return [np.asarray(self.flat(found, np), dtype=float)]


def part(data: Data, names: tuple[str, ...]) -> Data:
    """Some of the tables.

    Examples
    --------
    >>> part({"votes": {}, "scores": {}}, ("votes", "anchors"))
    {'votes': {}}
    """
    return {name: data[name] for name in names if name in data}
