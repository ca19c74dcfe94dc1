"""Probability of votes that a model of votes and scores has not seen, given the other votes and all scores."""

from __future__ import annotations

from collections.abc import Sequence

from voirdire.kinds.held_out import Seen
from voirdire.kinds.joint.problem import JointProblem, pose_joint
from voirdire.kinds.joint.tables import VotesAndScores
from voirdire.kinds.votes.held_out import of_votes
from voirdire.model.specs import Model
from voirdire.tables.counts import Votes
from voirdire.typing import Ints


def held_out(
    model: Model, tables: VotesAndScores, fold: Ints, levels: Sequence[object] | None = None
) -> Seen:
    """As :func:`voirdire.kinds.votes.held_out.held_out`; ``levels`` of the scale of scores."""
    ties = tables.votes.has_ties

    def posed(seen: Votes) -> JointProblem:
        both = VotesAndScores(seen, tables.scores)
        return pose_joint(model, both, levels=levels, ties=ties, keep_empty=True)

    return of_votes(tables.votes, fold, posed)
