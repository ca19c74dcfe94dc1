"""Votes and scores of the same items as a kind of data, which uses the kinds of votes and of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from voirdire.infer.outcomes import Outcome
from voirdire.infer.posterior import Posterior
from voirdire.kinds import further_terms
from voirdire.kinds import results as shared_results
from voirdire.kinds.answers import Answers, Calibration, PredictionScores, Shares
from voirdire.kinds.checks import CheckBasis
from voirdire.kinds.column_checks import unused_columns
from voirdire.kinds.columns import Columns
from voirdire.kinds.kind import Kind, Packed, Results, TableChange
from voirdire.kinds.packing import unpack_rated, unpack_votes
from voirdire.kinds.people import Preference
from voirdire.kinds.quantities import Quantities
from voirdire.kinds.request import Request
from voirdire.kinds.results import contexts_note, refuse_scope
from voirdire.kinds.scores import results as score_results
from voirdire.kinds.scores import weights
from voirdire.kinds.scores.draw import resample_scores
from voirdire.kinds.scores.halo import reason_without_contexts as score_context_reason
from voirdire.kinds.scores.halo import reason_without_halo
from voirdire.kinds.scores.kind import SCORES
from voirdire.kinds.scores.predict import item_score_questions
from voirdire.kinds.scores.residuals import score_residuals
from voirdire.kinds.target_predictions import ItemQuestions
from voirdire.kinds.terms_kind import TermsKind
from voirdire.kinds.votes.answers import evaluate_held_out_votes, predict_comparisons
from voirdire.kinds.votes.contexts import reason_without_contexts as vote_context_reason
from voirdire.kinds.votes.draw import resample_votes
from voirdire.kinds.votes.kind import VOTES, unpack_people
from voirdire.kinds.votes.people import encode_contexts, read_anchors
from voirdire.kinds.votes.trust import vote_residuals
from voirdire.kinds.votes_and_scores.density import attach_terms_to_both, model_from_terms, model_with_families
from voirdire.kinds.votes_and_scores.problem import (
    VotesAndScoresProblem,
    all_checks,
    encode_votes_and_scores,
    reason_too_large,
)
from voirdire.model.density import Data
from voirdire.model.problem import Check
from voirdire.model.specs import Model, load_model
from voirdire.model.terms.term import Values
from voirdire.notices import give_notice
from voirdire.tables.detect import read_new
from voirdire.tables.families import read_families, shared_families
from voirdire.tables.joined import joined_table
from voirdire.tables.problems import Problems
from voirdire.tables.read import columns_among
from voirdire.tables.scores import Scores
from voirdire.tables.votes import VoteRows
from voirdire.tables.votes_and_scores import VotesAndScores, with_common_names
from voirdire.trust.residuals import Residuals
from voirdire.typing import Bools, Floats, Ints

_VOTE_QUANTITIES = ("position_bias", "first_rate", "tie_rate")  # missing for judges that never voted

_NO_CONTEXTS_NOTE = (
    "the votes of this fit name no contexts, so the column context of comparisons is ignored: they are taken as about "
    "items over all contexts; add a column context to the votes."
)


def votes_and_scores_judge_table(problem: VotesAndScoresProblem, posterior: Posterior, prob: float) -> Columns:
    """Table of judges: numbers of ``votes`` and ``scores``, and quantities of judges in both parts of the model.

    ``reliability`` is the probability of being right in a vote on a typical pair, and ``p_right_score`` the probability
    of giving the better item of such a pair the higher score. Both follow from ``discrimination``, which votes and
    scores of a judge share. The other columns are those of :func:`.votes.results.judge_table` and
    :func:`.scores.results.judge_table`. Position bias and tie habit are missing for judges that never voted, severity
    for judges that never scored.
    """
    voted, scored = (kind.results["judges"](part, posterior, prob) for kind, part in JOINT.parts(problem))
    columns = _rename_p_right(scored) | voted | {"scores": scored["votes"]}
    for name in (f"{kind}{end}" for kind in _VOTE_QUANTITIES for end in ("", "_low", "_high")):
        if name in columns:
            columns[name] = np.where(voted["votes"] > 0, columns[name], np.nan)
    order = ("judge", "votes", "scores", "group", *voted)
    return {name: columns[name] for name in (*order, *columns) if name in columns}


def _rename_p_right(columns: Columns) -> Columns:
    return {name.replace("p_right", "p_right_score", 1): column for name, column in columns.items()}


class VotesAndScoresKind(TermsKind[VotesAndScores, VotesAndScoresProblem]):
    """Kind of data: judges compare items or score them."""

    name = "joint"
    words = "votes and scores"
    refused = ("classes", "positive", "anchor_mode='cut'", "order")
    compared = ("joint", "votes")
    models_with_contexts = "joint-contexts"
    results: ClassVar[Results] = {
        "items": shared_results.ranking_table,
        "judges": votes_and_scores_judge_table,
        "criteria": shared_results.criterion_table,
        "groups": lambda problem, *how: score_results.judge_group_table(problem.of_scores, *how),
        "cutpoints": lambda problem, *how: score_results.cutpoint_table(problem.of_scores, *how),
    }

    def parts(self, problem: VotesAndScoresProblem) -> tuple[tuple[Kind[Any, Any], Any], ...]:
        """Votes and scores."""
        return (VOTES, problem.of_votes), (SCORES, problem.of_scores)

    def checks(self, problem: VotesAndScoresProblem, basis: CheckBasis) -> list[Check]:
        """See :func:`.votes_and_scores_problem.all_checks`."""
        votes = vote_residuals(problem.of_votes, basis.posterior)
        all_residuals = votes.combined_with(score_residuals(problem.of_scores, basis.posterior))
        return [*basis.of_method, *all_checks(problem, basis, votes, all_residuals)]

    def residuals(self, problem: VotesAndScoresProblem, posterior: Posterior) -> Residuals:
        """Compute residuals of votes and scores, with the comparisons of the votes alone."""
        votes = vote_residuals(problem.of_votes, posterior)
        return votes.combined_with(score_residuals(problem.of_scores, posterior))

    def judge_values(self, problem: VotesAndScoresProblem, values: Values) -> dict[str, Floats]:
        """Compute the values of :func:`votes_and_scores_judge_table`, shape (..., judges)."""
        voted, scored = (kind.judge_values(part, values) for kind, part in self.parts(problem))
        return _rename_p_right(scored) | voted

    def quantities(self, problem: VotesAndScoresProblem, values: Values) -> Quantities:
        """As in :class:`.Kind`, with the cutpoints of the scores."""
        return score_results.with_cutpoints(super().quantities(problem, values), problem.of_scores, values)

    def single(self, problem: VotesAndScoresProblem) -> list[Answers]:
        """Single votes, then single scores."""
        return [answers for kind, part in self.parts(problem) for answers in kind.single(part)]

    def outcomes(self, problem: VotesAndScoresProblem) -> list[Outcome]:
        """Outcomes of votes, then of scores; none if one part of the model generates none."""
        parts = [kind.outcomes(part) for kind, part in self.parts(problem)]
        return [outcome for part in parts for outcome in part] if all(parts) else []

    def default_model(self, table: VotesAndScores, request: Request) -> tuple[str | Model, str]:
        """Choose ``joint-contexts`` for items in several contexts or under several criteria, else ``joint-position``.

        With families of judges it is ``joint-contexts`` with a term of family and item. If this would take many
        minutes, it is ``joint-position``, or ``joint-maple-position`` if criteria have weights.
        """
        reason = "there are votes and scores"
        contexts = [vote_context_reason(table.votes), score_context_reason(table.scores)]
        halo = reason_without_halo(table.scores)
        families: tuple[str, ...] = ()
        if table.votes.has_rows and further_terms.reason_families_unknown(table, request) is None:
            families = shared_families(read_families(request.families, table.judges), table.judges)[1]
        features = {
            "items are in several contexts": None in contexts,
            "judges may have tastes under criteria": halo is None and None not in contexts,
            "judges are of families": bool(families),
            "further effects are asked for": request.asks_terms,
        }
        omissions = [f"contexts are left out: {context_reason}" for context_reason in contexts if context_reason]
        omissions = [] if None in contexts else omissions + [f"tastes are left out: {halo}"] * bool(halo)
        if any(features.values()):
            large_reason = reason_too_large(table, None in contexts, len(families))
            if not large_reason or request.asks_terms:
                model = load_model("joint-contexts")
                reason = " and ".join([f"{reason},", *(feature for feature, holds in features.items() if holds)])
                if not families and not request.asks_terms:
                    return model.name, reason
                model = model if None in contexts else replace(model, context=None)
                model = model_with_families(model) if families else model
                return model, "; ".join([reason, *omissions[:1]])
            left_out = "contexts, tastes and families" if families else "contexts and tastes"
            omissions = [f"{left_out} are left out: {large_reason}"]
        reason = "; ".join([reason, *omissions[:1]])
        if request.criteria is not None:
            return "joint-maple-position", f"{reason}, and criteria are weighed"
        return "joint-position", reason

    def model_of_terms(self, table: VotesAndScores, request: Request) -> Model:
        """See :func:`.votes_and_scores_terms.model_from_terms`."""
        return model_from_terms(table, request)

    def encode_table(
        self, model: Model, table: VotesAndScores, request: Request
    ) -> tuple[VotesAndScoresProblem, list[str]]:
        """See :func:`.votes_and_scores_problem.encode_votes_and_scores`; anchors are people's comparisons."""
        table, model, notes = attach_terms_to_both(table, model, request)
        people = None if request.anchors is None else read_anchors(request.anchors, table.votes)
        notes += [] if people is None else list(people.notes)
        if people is not None and model.context is not None and len(table.votes.contexts) > 1:
            people = encode_contexts(people, table.votes)
        options: dict[str, Any] = {"levels": request.levels, "criteria": request.criteria, "anchors": people}
        options["families"] = _families_of(model, table, request)
        problem = encode_votes_and_scores(model, table, **options, over=request.over)
        if problem.density.contexts:
            notes.append(contexts_note(request.over))
            if people is not None and people.votes.row_context is not None and table.votes.row_context is None:
                notes.append(f"Anchors: {_NO_CONTEXTS_NOTE}")
        else:
            refuse_scope(request.over, "joint-contexts")
        return problem, notes

    def people_preference(self, problem: VotesAndScoresProblem, posterior: Posterior) -> Preference:
        """As for votes: people's answers are votes."""
        return VOTES.people_preference(problem.of_votes, posterior)

    def table_of(self, problem: VotesAndScoresProblem) -> VotesAndScores:
        """Both tables."""
        return problem.tables

    def note_unused_columns(self, problem: VotesAndScoresProblem) -> list[str]:
        """Write the notes for both tables, without repetition."""
        tables = (kind.table_of(part) for kind, part in self.parts(problem))
        return list(dict.fromkeys(note for table in tables for note in unused_columns(problem, table, False)))

    def encode_again(self, problem: VotesAndScoresProblem, change: TableChange) -> VotesAndScoresProblem:
        """As in :class:`.Kind`; keeps the scale and the anchors."""
        votes = problem.of_votes
        options: dict[str, Any] = {"levels": problem.of_scores.scale.levels, "anchors": votes.anchors}
        options |= {"over": problem.density.over, "families": problem.of_scores.families}
        options["criteria"] = weights.given_or_stored_criteria(problem, votes.criteria_votes, change)
        return encode_votes_and_scores(problem.model, change.table, answer_weight=change.answer_weight, **options)

    def join(self, problem: VotesAndScoresProblem, new: object) -> VotesAndScores:
        """Join both tables with new answers: votes, scores, or a list of both."""
        parts: dict[str, Any] = {kind.name: (kind, part) for kind, part in self.parts(problem)}
        old = {name: kind.table_of(part) for name, (kind, part) in parts.items()}
        self.refuse_without_columns(problem, "answers")
        for new_table in new if isinstance(new, list | tuple) else [new]:
            table: Any = read_new(new_table, *old.values())
            kind, part = parts[table.data]
            kind.check_new_answers(part, table)
            old[table.data] = joined_table(old[table.data], table)
        return with_common_names(**old)

    def on_criteria(
        self, problem: VotesAndScoresProblem, criteria: tuple[str, ...], importance: object
    ) -> weights.CriterionImportance:
        """Join old and new votes on criteria, or take the new weights."""
        return weights.read_criterion_importance(importance, criteria).join_earlier(problem.of_votes.criteria_votes)

    def has_anchors(self, problem: VotesAndScoresProblem) -> bool:
        """True if people answered some comparisons."""
        return VOTES.has_anchors(problem.of_votes)

    def predict(self, problem: VotesAndScoresProblem, posterior: Posterior, table: object) -> Columns:
        """Predict votes if rows have two items, else scores."""
        kind, part = self.parts(problem)[0 if _has_pairs(table) else 1]
        if problem.density.contexts and not part.density.contexts and _has_columns(table, "context"):
            give_notice(_NO_CONTEXTS_NOTE)
        return kind.predict(part, posterior, table)

    def item_questions(self, problem: VotesAndScoresProblem, table: object) -> ItemQuestions:
        """Questions as for votes if rows have two items, else as for scores."""
        if _has_pairs(table):
            return predict_comparisons(problem.of_votes, table)
        return item_score_questions(problem.of_scores, table)

    def response_probabilities(self, problem: VotesAndScoresProblem, values: Values, rows: tuple[Ints, ...]) -> Floats:
        """As for votes if rows have two items, else as for scores."""
        kind, part = self.parts(problem)[0 if len(rows) == 4 else 1]
        return kind.response_probabilities(part, values, rows)

    def draw(self, problem: VotesAndScoresProblem, values: Values, rng: np.random.Generator) -> VotesAndScores:
        """Draw votes, then scores."""
        return VotesAndScores(*(kind.draw(part, values, rng) for kind, part in self.parts(problem)))

    def check_single(self, problem: VotesAndScoresProblem) -> None:
        """Check both parts."""
        for kind, part in self.parts(problem):
            kind.check_single(part)

    def shares(self, problem: VotesAndScoresProblem, tables: Sequence[VotesAndScores]) -> Shares:
        """Shares of the votes; those of scores are found by :meth:`parts`."""
        return VOTES.shares(problem.of_votes, [pair.votes for pair in tables])

    def calibration(self, problem: VotesAndScoresProblem, posterior: Posterior) -> Calibration:
        """Calibration of the votes; that of scores is found by :meth:`parts`."""
        return VOTES.calibration(problem.of_votes, posterior)

    def score_held_out(
        self, model: Model, table: VotesAndScores, held_out: Bools, request: Request
    ) -> PredictionScores:
        """As for votes, given the other votes and all scores."""
        if VOTES.predicts_answers(model):
            return VOTES.score_held_out(model, table.votes, held_out, request)
        table, model, _ = attach_terms_to_both(table, model, request)
        options: dict[str, Any] = {"levels": request.levels, "ties": table.votes.has_ties, "keep_empty": True}
        options["families"] = families = _families_of(model, table, request)
        votes, added = table.votes, further_terms.NO_TERMS
        if model.terms:
            rows = VoteRows(votes) if families is None else further_terms.with_families(VoteRows(votes), families)
            votes, added = rows.votes, further_terms.resolve_terms(model.part("votes"), rows, {})
        return evaluate_held_out_votes(
            votes,
            held_out,
            lambda seen: encode_votes_and_scores(model, VotesAndScores(seen, table.scores), **options),
            added,
        )

    def resampled(self, problem: VotesAndScoresProblem, rng: np.random.Generator) -> Data:
        """Draw as many votes and as many scores with replacement."""
        return resample_votes(problem.of_votes, rng) | resample_scores(problem.of_scores, rng)

    def pack(self, problem: VotesAndScoresProblem) -> Packed:
        """Pack both parts as their kinds store them."""
        votes, scores = (kind.pack(part) for kind, part in self.parts(problem))
        tables = votes.sections["tables"] | scores.sections["tables"]
        return Packed(votes.sections | {"tables": tables}, scores.arrays | votes.arrays)

    def unpack(self, model: Model, packed: Packed) -> VotesAndScoresProblem:
        """Restore the problem from :meth:`pack`."""
        names, arrays = packed.sections["tables"], packed.arrays
        scores = Scores(**unpack_rated(names["scores"], arrays, "scores"))
        tables = VotesAndScores(unpack_votes(names, arrays, "votes"), scores)
        options: dict[str, Any] = {"levels": names["levels"], "criteria": weights.unpack_criteria(packed)}
        options |= {"anchors": unpack_people(packed), "answer_weight": arrays.get("answer_weight")}
        options |= {"over": packed.sections.get("over", "new"), "families": names.get("families")}
        return encode_votes_and_scores(model, tables, **options)

    def counts(self, problem: VotesAndScoresProblem) -> dict[str, int]:
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


JOINT = VotesAndScoresKind()


def _families_of(model: Model, table: VotesAndScores, request: Request) -> dict[str, str] | None:
    """Read the family of each judge if the model has a term of families, else None."""
    return read_families(request.families, table.judges) if further_terms.has_family_terms(model) else None


def _has_pairs(table: object) -> bool:
    return _has_columns(table, "first", "second")


def _has_columns(table: object, *names: str) -> bool:
    return bool(columns_among(table, names, Problems("table")))
