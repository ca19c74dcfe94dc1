"""Rankings as a kind of data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds import page_words
from voirdire.kinds import results as shared_results
from voirdire.kinds.answers import PredictionScores
from voirdire.kinds.further_terms import (
    attach_terms,
    has_family_terms,
    model_with_terms,
    reason_families_unknown,
)
from voirdire.kinds.kind import Packed, Results, TableChange
from voirdire.kinds.packing import pack_people, pack_rated, pack_votes, unpack_people, unpack_rated
from voirdire.kinds.rankings import checks, results
from voirdire.kinds.rankings.density import reason_contexts_unknown, reason_tastes_unknown
from voirdire.kinds.rankings.predict import draw_rankings, predict_rankings, ranked_items, ranking_outcomes
from voirdire.kinds.rankings.problem import RankingsProblem, check_covariates_vary, encode_rankings
from voirdire.kinds.rankings.results import judge_values, ranking_answers, score_held_out
from voirdire.kinds.request import Request
from voirdire.kinds.scores.weights import (
    CriterionImportance,
    given_or_stored_criteria,
    read_criterion_importance,
    unpack_criteria,
    weighed_note,
)
from voirdire.kinds.terms_kind import TermsKind
from voirdire.model.problem import TARGET
from voirdire.model.specs import Model, load_model
from voirdire.model.term_rows import parse_terms
from voirdire.tables.families import read_families
from voirdire.tables.rankings import Rankings
from voirdire.typing import Bools

#: Sections of models of rankings, by what their values are of, and what every model has.
TERM_SECTIONS = {"context": frozenset({"item", "context"}), "taste": frozenset({"judge", "item"})}
REQUIRED_TERMS = (frozenset({"item"}), frozenset({"item", "criterion"}))
VOTES_ADVICE = "read the rankings as votes (--table votes, or voirdire.read(..., table='votes'))"


def _refuse_single(*about: Any, **named: Any) -> NoReturn:
    """Refuse: there are too many possible rankings."""
    raise InputError(
        "a ranking has too many possible answers to list; predict() gives probabilities of first places, and ranks; "
        f"{VOTES_ADVICE}"
    )


class RankingsKind(TermsKind[Rankings, RankingsProblem]):
    """Judges put items in order."""

    name = "rankings"
    page_words = page_words.RANKINGS
    words = "rankings"
    refused = ("levels", "classes", "positive", "order", "anchor_mode='cut'")
    needs_contexts = (
        "contexts need a model with contexts, such as plackett-luce-contexts, and a table in which items are ranked in "
        "several; the model here is {model}"
    )
    results: ClassVar[Results] = {
        "items": shared_results.ranking_table,
        "judges": results.judge_table,
        "criteria": shared_results.criterion_table,
    }

    checks = staticmethod(checks.all_checks)
    judge_values = staticmethod(judge_values)
    single = staticmethod(ranking_answers)
    outcomes = staticmethod(ranking_outcomes)
    predict = staticmethod(predict_rankings)
    draw = staticmethod(draw_rankings)
    item_questions = staticmethod(ranked_items)
    response_probabilities = check_single = shares = calibration = staticmethod(_refuse_single)

    def default_model(self, table: Rankings, request: Request) -> tuple[str | Model, str]:
        """``plackett-luce-tastes`` where some judge ranks an item several times, else ``plackett-luce-contexts``.

        ``plackett-luce`` where neither that can be told, nor what items are worth in each context. With families a sum
        of the same terms and of what each family makes of an item.
        """
        contexts, tastes = reason_contexts_unknown(table), reason_tastes_unknown(table)
        families = reason_families_unknown(table, request)
        if families is None:
            table_terms = ["item:context"] * (contexts is None) + ["judge:item"] * (tastes is None)
            term_request = replace(
                request, terms=parse_terms(" + ".join(["item", *table_terms, "family:item"]))
            )
            missing = (("contexts", contexts), ("tastes", tastes))
            omissions = [f"{effect} are left out: {reason}" for effect, reason in missing if reason]
            return self.model_of_terms(table, term_request), "; ".join(
                ["judges of families rank items", *omissions]
            )
        if tastes is None:
            context_words = ", some of them in several contexts" if contexts is None else ""
            return "plackett-luce-tastes", f"judges rank items several times{context_words}"
        if contexts is None:
            return (
                "plackett-luce-contexts",
                f"items are ranked in several contexts; tastes are left out: {tastes}",
            )
        return "plackett-luce", f"the table has rankings; contexts are left out: {contexts}; tastes: {tastes}"

    def model_of_terms(self, table: Rankings, request: Request) -> Model:
        """The sections of ``plackett-luce-tastes`` that a sum names, and its other terms.

        Raises
        ------
        InputError
            A sum without items, or with what the table tells nothing of.
        """
        missing = {"context": reason_contexts_unknown(table), "taste": reason_tastes_unknown(table)}
        return model_with_terms(
            load_model("plackett-luce-tastes"), request.terms, TERM_SECTIONS, REQUIRED_TERMS, missing
        )

    def encode_table(
        self, model: Model, table: Rankings, request: Request
    ) -> tuple[RankingsProblem, list[str]]:
        """See :func:`.rankings.problem.encode_rankings`; with what the model has and the table says nothing of."""
        table, model, term_notes = attach_terms(table, model, request)
        if request.families is not None and request.item_families is None and not has_family_terms(model):
            _check_no_families(table, model, request)
        criteria = read_criterion_importance(request.criteria, table.criteria, answers="rankings")
        problem = encode_rankings(model, table, over=request.over, criteria=criteria, anchors=request.anchors)
        check_covariates_vary(problem)
        notes = term_notes + (
            [] if problem.anchors is None else [*problem.anchors.notes, _describe_people(problem)]
        )
        notes += [
            f"Model {model.name} is fitted without {effect}: {reason}."
            for effect, section, reason in (
                ("contexts", model.context, reason_contexts_unknown(table)),
                ("tastes", model.taste, reason_tastes_unknown(table)),
            )
            if section is not None and reason is not None and table.context is not None
        ]
        sizes = np.bincount(table.ranking)
        if single_items := int((sizes < 2).sum()):
            notes.append(f"{single_items:,} rankings of a single item say nothing.")
        if "context" in {factor for term in problem.density.terms for factor in term.factors}:
            over = "contexts like these" if request.over == "new" else "these contexts alone"
            notes.append(f"Scores are over {over}.")
        return problem, notes + weighed_note(problem.criteria_votes)

    def result_subject(self, problem: RankingsProblem, request: Request) -> str | None:
        """As in :class:`.Kind`; the target where people rank."""
        return super().result_subject(problem, request) or (None if problem.anchors is None else TARGET)

    def encode_again(self, problem: RankingsProblem, change: TableChange) -> RankingsProblem:
        """As in :class:`.Kind`."""
        criteria = given_or_stored_criteria(problem, problem.criteria_votes, change)
        options: dict[str, Any] = {
            "over": problem.density.over,
            "anchors": problem.anchors if change.is_own_table else None,
        }
        return encode_rankings(problem.model, change.table, criteria=criteria, **options)

    def on_criteria(
        self, problem: RankingsProblem, criteria: tuple[str, ...], importance: object
    ) -> CriterionImportance:
        """Old and new votes on criteria, or the new weights."""
        return read_criterion_importance(importance, criteria, answers="rankings").after(
            problem.criteria_votes
        )

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({"votes": "rankings"})

    def residuals(self, problem: RankingsProblem, posterior: Posterior) -> NoReturn:
        """Refused: what judges share beyond the model is looked at in votes."""
        raise InputError(
            f"what judges' answers have in common beyond the model is told of votes; {VOTES_ADVICE}"
        )

    def can_weigh_answers(self, problem: RankingsProblem) -> bool:
        """False: a ranking counts once."""
        return False

    def score_held_out(
        self, model: Model, table: Rankings, held_out: Bools, request: Request
    ) -> PredictionScores:
        """See :func:`.rankings.answers.score_held_out`."""
        table, model, _ = attach_terms(table, model, request)
        return score_held_out(model, table, held_out)

    def pack(self, problem: RankingsProblem) -> Packed:
        """Rankings, votes on criteria or their weights, people's rankings."""
        tables, arrays = pack_votes({"criteria": problem.criteria_votes})
        tables["rankings"], codes = pack_rated(problem.table, "rankings")
        tables["weights"] = problem.density.weights
        people, people_arrays = pack_people(problem.anchors)
        sections = {"tables": tables | people, "anchors": None, "over": problem.density.over}
        return Packed(sections, arrays | codes | people_arrays)

    def unpack(self, model: Model, packed: Packed) -> RankingsProblem:
        """The problem of :meth:`pack`."""
        names = packed.sections["tables"]
        table = Rankings(**unpack_rated(names["rankings"], packed.arrays, "rankings"))
        anchors = unpack_people(Rankings, names, packed.arrays)
        options: dict[str, Any] = {"over": packed.sections["over"], "criteria": unpack_criteria(packed)}
        return encode_rankings(model, table, anchors=anchors, **options)


def _check_no_families(table: Rankings, model: Model, request: Request) -> None:
    """Raise where families are named and a model has no term of them, unless each judge is one."""
    reason = reason_families_unknown(table, request)
    if reason is None:
        raise InputError(
            f"families: model {model.name} has no term of them; name no model, or a sum of terms with family:item "
            "(terms=, --terms)"
        )
    if len(set(read_families(request.families, table.judges).values())) < len(table.judges):
        raise InputError(f"families: {reason}; leave families out, or name judges of another")


def _describe_people(problem: RankingsProblem) -> str:
    """Describe what people's rankings do."""
    assert problem.anchors is not None
    table = problem.anchors.table
    ranked = len(np.unique(table.item))
    return (
        f"People ranked {ranked:,} of {len(problem.items):,} items ({table.count:,} rankings): items are worth what "
        "they are to people, and what all judges see in them beside that is an error of the panel, whose spread is "
        "learned."
    )


RANKINGS = RankingsKind()
