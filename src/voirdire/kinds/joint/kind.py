"""Votes and scores of the same items as a kind of data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import Answers
from voirdire.kinds.bootstrap import refit
from voirdire.kinds.held_out import Seen
from voirdire.kinds.joint import checks, results
from voirdire.kinds.joint.held_out import held_out
from voirdire.kinds.joint.problem import JointProblem, pose_joint
from voirdire.kinds.joint.residuals import residuals
from voirdire.kinds.joint.results import judge_values, predict
from voirdire.kinds.joint.tables import VotesAndScores, in_one_coding
from voirdire.kinds.kind import Kind, Packed, Request, Results
from voirdire.kinds.packing import unpack_rated, unpack_votes
from voirdire.kinds.preference import Preference, people_coin
from voirdire.kinds.quantities import Quantities
from voirdire.kinds.scores.bootstrap import resampled as resampled_scores
from voirdire.kinds.scores.kind import SCORES, criteria_again, unpack_criteria
from voirdire.kinds.scores.over_time import over_time as scores_over_time
from voirdire.kinds.scores.results import with_cutpoints
from voirdire.kinds.scores.weights import OnCriteria, read_criteria
from voirdire.kinds.shares import Calibration, Shares
from voirdire.kinds.unused_columns import unused_columns
from voirdire.kinds.votes import results as vote_results
from voirdire.kinds.votes.bootstrap import resampled as resampled_votes
from voirdire.kinds.votes.human.table import read_anchors
from voirdire.kinds.votes.kind import VOTES, unpack_people
from voirdire.kinds.votes.over_time import over_time as votes_over_time
from voirdire.model.density import Data
from voirdire.model.specs import Model
from voirdire.model.terms.reliability import Values
from voirdire.tables.detect import read_new
from voirdire.tables.joined import joined
from voirdire.tables.scores import Scores
from voirdire.trust.drift import OverTime
from voirdire.typing import Floats, Ints


class JointKind(Kind[VotesAndScores, JointProblem]):
    """Some judges compare items, and some score them."""

    name = "joint"
    words = "votes and scores"
    refused = (
        "classes",
        "positive",
        "anchor_mode='cut'",
        "covariates",
        "item_families",
        "by",
        "order",
    )
    compared = ("joint", "votes")
    results: ClassVar[Results] = {
        "items": results.ranking,
        "judges": results.judges,
        "criteria": vote_results.criteria,
        "groups": results.groups,
        "cutpoints": results.cutpoints,
    }

    checks = staticmethod(checks.all_checks)
    residuals = staticmethod(residuals)
    judge_values = staticmethod(judge_values)
    predict = staticmethod(predict)

    def quantities(self, problem: JointProblem, values: Values) -> Quantities:
        """Those of all kinds of data, and the cutpoints of the scores."""
        return with_cutpoints(super().quantities(problem, values), problem.of_scores, values)

    def single(self, problem: JointProblem) -> list[Answers]:
        """Votes, then scores."""
        return [one for kind, part in self.parts(problem) for one in kind.single(part)]

    def outcomes(self, problem: JointProblem) -> list[Outcome]:
        """Votes, then scores; none where one of them is not generated."""
        parts = [kind.outcomes(part) for kind, part in self.parts(problem)]
        return [one for part in parts for one in part] if all(parts) else []

    def default_model(self, table: VotesAndScores, request: Request) -> tuple[str, str]:
        """``joint-maple-position`` where criteria are weighed, else ``joint-position``."""
        if request.criteria is not None:
            return "joint-maple-position", "there are votes and scores, and criteria are weighed"
        return "joint-position", "there are votes and scores"

    def pose(self, model: Model, table: VotesAndScores, request: Request) -> tuple[JointProblem, list[str]]:
        """See :func:`.joint.problem.pose_joint`; anchors are answers to comparisons."""
        people = None if request.anchors is None else read_anchors(request.anchors, table.votes)
        how: dict[str, Any] = {"levels": request.levels, "criteria": request.criteria, "anchors": people}
        return pose_joint(model, table, **how), [] if people is None else list(people.notes)

    def over_time(self, problem: JointProblem, posterior: Posterior) -> list[OverTime | None]:
        """Of the votes and of the scores."""
        return [
            votes_over_time(problem.of_votes, posterior),
            scores_over_time(problem.of_scores, posterior),
        ]

    def preference(self, problem: JointProblem, posterior: Posterior) -> Preference:
        """As of votes, which people's answers are."""
        return Preference(people_coin(problem.model, posterior.central_values))

    def table_of(self, problem: JointProblem) -> VotesAndScores:
        """Both tables."""
        return problem.tables

    def unused(self, problem: JointProblem) -> list[str]:
        """Of both tables, those alike once."""
        both = (problem.tables.votes, problem.tables.scores)
        return list(dict.fromkeys(note for one in both for note in unused_columns(problem, one, False)))

    def reposed(
        self,
        problem: JointProblem,
        *,
        table: VotesAndScores | None = None,
        criteria: Any = None,
        answer_weight: Floats | None = None,
    ) -> JointProblem:
        """As in :class:`.Kind`; the scale and anchors stay."""
        posed = problem.tables if table is None else table
        how: dict[str, Any] = {
            "levels": problem.of_scores.scale.levels,
            "criteria": criteria_again(problem, problem.of_votes.criteria_votes, posed.criteria, criteria),
            "anchors": problem.of_votes.anchors,
        }
        return pose_joint(problem.model, posed, answer_weight=answer_weight, **how)

    def join(self, problem: JointProblem, new: object) -> VotesAndScores:
        """Both tables with new answers: votes, scores, or a list of both."""
        old: dict[str, Any] = {one.data: one for one in (problem.tables.votes, problem.tables.scores)}
        for one in new if isinstance(new, list | tuple) else [new]:
            table: Any = read_new(one, *old.values())
            old[table.data] = joined(old[table.data], table)
        return in_one_coding(**old)

    def on_criteria(self, problem: JointProblem, criteria: tuple[str, ...], given: object) -> OnCriteria:
        """Old and new votes on criteria, or the new weights."""
        return read_criteria(given, criteria).after(problem.of_votes.criteria_votes)

    def has_anchors(self, problem: JointProblem) -> bool:
        """True if people answered some comparisons."""
        return problem.of_votes.anchors is not None

    def chances(self, problem: JointProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
        """Of comparisons, which have two items, as votes; else as scores."""
        if len(rows) == 4:
            return VOTES.chances(problem.of_votes, values, rows)
        return SCORES.chances(problem.of_scores, values, rows)

    def draw(self, problem: JointProblem, values: Values, rng: np.random.Generator) -> VotesAndScores:
        """Votes, then scores."""
        votes = VOTES.draw(problem.of_votes, values, rng)
        return VotesAndScores(votes, SCORES.draw(problem.of_scores, values, rng))

    def parts(self, problem: JointProblem) -> tuple[tuple[Kind[Any, Any], Any], ...]:
        """Votes and scores."""
        return (VOTES, problem.of_votes), (SCORES, problem.of_scores)

    def check_single(self, problem: JointProblem) -> None:
        """Of both parts."""
        for kind, part in self.parts(problem):
            kind.check_single(part)

    def shares(self, problem: JointProblem, tables: Sequence[VotesAndScores]) -> Shares:
        """Those of the votes; scores have theirs by :meth:`parts`."""
        return VOTES.shares(problem.of_votes, [both.votes for both in tables])

    def calibration(self, problem: JointProblem, posterior: Posterior) -> Calibration:
        """That of the votes; scores have theirs by :meth:`parts`."""
        return VOTES.calibration(problem.of_votes, posterior)

    def held_out(self, model: Model, table: VotesAndScores, fold: Ints, request: Request) -> Seen:
        """See :func:`.joint.held_out.held_out`."""
        if VOTES.can_compare(model):
            return VOTES.held_out(model, table.votes, fold, request)
        return held_out(model, table, fold, request.levels)

    def refit_resampled(
        self, problem: JointProblem, mode: Floats, resamples: int, rng: np.random.Generator
    ) -> Floats:
        """See :mod:`voirdire.kinds.bootstrap`."""

        return refit(problem.density, lambda: self.resampled(problem, rng), resamples, mode)

    def resampled(self, problem: JointProblem, rng: np.random.Generator) -> Data:
        """As many votes and as many scores, drawn with replacement."""
        return resampled_votes(problem.of_votes, rng) | resampled_scores(problem.of_scores, rng)

    def pack(self, problem: JointProblem) -> Packed:
        """Pack both parts as :class:`.VotesKind` and :class:`.ScoresKind` store them."""
        votes, scores = VOTES.pack(problem.of_votes), SCORES.pack(problem.of_scores)
        tables = votes.sections["tables"] | scores.sections["tables"]
        return Packed(votes.sections | {"tables": tables}, scores.arrays | votes.arrays)

    def unpack(self, model: Model, packed: Packed) -> JointProblem:
        """The problem of :meth:`pack`."""
        names, arrays = packed.sections["tables"], packed.arrays
        scores = Scores(**unpack_rated(names["scores"], arrays, "scores"))
        both = VotesAndScores(unpack_votes(names, arrays, "votes"), scores)
        how: dict[str, Any] = {"levels": names["levels"], "criteria": unpack_criteria(packed)}
        return pose_joint(
            model, both, anchors=unpack_people(packed), answer_weight=arrays.get("answer_weight"), **how
        )

    def counts(self, problem: JointProblem) -> dict[str, int]:
        """Numbers of ``votes`` and ``scores``.

        Examples
        --------
        >>> import pandas as pd
        >>> import voirdire
        >>> votes = pd.DataFrame({"judge": "a", "first": ["x"], "second": "y", "winner": "x"})
        >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
        >>> JOINT.counts(voirdire.fit([votes, scores], method="map").problem)
        {'votes': 1, 'scores': 2}
        """
        return {kind.name: int(part.judge_votes.sum()) for kind, part in self.parts(problem)}


JOINT = JointKind()
