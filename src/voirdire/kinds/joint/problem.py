"""Votes and scores in the form a density needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from voirdire.kinds.joint.density import JointDensity
from voirdire.kinds.joint.tables import VotesAndScores, in_one_coding
from voirdire.kinds.scores.problem import ScoresProblem, pose_scores
from voirdire.kinds.scores.weights import OnCriteria, read_criteria
from voirdire.kinds.votes.human.table import Anchors
from voirdire.kinds.votes.problem import VotesProblem, pose
from voirdire.model.problem import Problem
from voirdire.model.specs import Model
from voirdire.typing import Floats


@dataclass(frozen=True, eq=False)
class JointProblem(Problem):
    """One model and two tables of the same items, ready for inference; ``data`` has the tables of both parts.

    Attributes
    ----------
    of_votes : VotesProblem
        The votes, in the coding of both tables; what is asked of votes is asked of it.
    of_scores : ScoresProblem
        The scores, likewise.
    """

    density: JointDensity
    of_votes: VotesProblem
    of_scores: ScoresProblem

    def part(self, data: str) -> Any:
        """The votes, the scores, or both."""
        return {self.of_votes.model.data: self.of_votes, self.of_scores.model.data: self.of_scores}.get(
            data, super().part(data)
        )

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names of the levels of each dimension."""
        return self.of_scores.coords

    @property
    def tables(self) -> VotesAndScores:
        """The two tables."""
        return VotesAndScores(self.of_votes.votes, self.of_scores.table)


def pose_joint(
    model: Model,
    tables: VotesAndScores,
    *,
    levels: Sequence[object] | None = None,
    criteria: object = None,
    anchors: Anchors | None = None,
    answer_weight: Floats | None = None,
    ties: bool | None = None,
    repeats: bool | None = None,
    keep_empty: bool = False,
) -> JointProblem:
    """Bring votes and scores into the form of a model.

    Parameters
    ----------
    levels : sequence, optional
        The levels of the scale of the scores.
    criteria : path, dataframe, Votes or OnCriteria, optional
        Weights of the criteria or votes on them, as for scores.
    anchors : Anchors, optional
        Human answers to comparisons.
    answer_weight : array, shape (judges,), optional
        What one answer of each judge counts for; judges sorted by name.
    ties, repeats, keep_empty
        As of :func:`voirdire.kinds.votes.problem.pose` and :func:`voirdire.kinds.scores.problem.pose_scores`.

    Raises
    ------
    InputError
        What the two of them raise.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.joint.tables import read_votes_and_scores
    >>> from voirdire.model.specs import load_model
    >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
    >>> scores = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "z"], "score": [1, 2]})
    >>> problem = pose_joint(load_model("joint-position"), read_votes_and_scores([votes, scores]))
    >>> problem.items, problem.judge_votes.tolist()
    (('x', 'y', 'z'), [2, 1])
    """
    on_criteria, weights = read_criteria(criteria, tables.scores.criteria, ties=model.ties is not None).check(
        model
    )
    if on_criteria is not None:
        tables = in_one_coding(tables.votes, tables.scores, on_criteria.judges)
    scores = pose_scores(
        model.part("scores"),
        tables.scores,
        levels=levels,
        criteria=OnCriteria(weights=weights),
        repeats=repeats,
        complete=False,
        answer_weight=answer_weight,
    )
    votes = pose(
        model.part("votes"),
        tables.votes,
        on_criteria,
        anchors=anchors,
        answer_weight=answer_weight,
        ties=ties,
        keep_empty=keep_empty,
    )
    density = JointDensity(
        model,
        len(tables.judges),
        len(tables.criteria),
        len(tables.items),
        levels=scores.density.levels,
        groups=scores.density.groups,
        ties=votes.density.ties,
        repeats=scores.density.repeats,
        voted=on_criteria is not None,
        anchors=anchors is not None,
        given=scores.density.given,
        answers=scores.density.answers,
        runs=scores.density.runs,
        compared=round(
            2.0 * float(tables.votes.counts.sum()) / (len(tables.criteria) * len(tables.items)), 1
        ),
    )
    return JointProblem(
        density,
        votes.data | scores.data,
        tables.judges,
        tables.criteria,
        tables.items,
        votes.judge_votes + scores.judge_votes,
        replace(votes, density=density.of_votes, beside_scores=True),
        replace(scores, density=density.of_scores),
    )
