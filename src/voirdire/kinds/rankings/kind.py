"""Rankings as a kind of data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds import results as shared_results
from voirdire.kinds.answers import PredictionScores
from voirdire.kinds.further_terms import attach_terms, build_sum_model, has_family_terms, reason_families_unknown
from voirdire.kinds.kind import Packed, Results, TableChange
from voirdire.kinds.packing import pack_rated_problem, unpack_people, unpack_rated
from voirdire.kinds.rankings import checks, results
from voirdire.kinds.rankings.density import reason_contexts_unknown, reason_tastes_unknown
from voirdire.kinds.rankings.problem import RankingsProblem, check_covariates_vary, encode_rankings
from voirdire.kinds.rankings.results import (
    draw_rankings,
    judge_values,
    predict_rankings,
    ranked_items,
    ranking_answers,
    ranking_outcomes,
    score_held_out,
)
from voirdire.kinds.request import Request
from voirdire.kinds.scores import weights
from voirdire.kinds.terms_kind import TermsKind
from voirdire.model.problem import TARGET
from voirdire.model.specs import Model, load_model
from voirdire.model.term_rows import parse_terms
from voirdire.tables.families import read_families
from voirdire.tables.rankings import Rankings
from voirdire.typing import Bools

#: Sections of models of rankings with the factors of their values, and factors of the terms of every model.
TERM_SECTIONS = {"context": frozenset({"item", "context"}), "taste": frozenset({"judge", "item"})}
REQUIRED_TERMS = (frozenset({"item"}), frozenset({"item", "criterion"}))
VOTES_ADVICE = "read the rankings as votes (--table votes, or voirdire.read(..., table='votes'))"


def _refuse_single(*about: Any, **named: Any) -> NoReturn:
    """Refuse, because there are too many possible rankings."""
    raise InputError(
        "a ranking has too many possible answers to list; predict() gives probabilities of first places, and ranks; "
        f"{VOTES_ADVICE}"
    )


class RankingsKind(TermsKind[Rankings, RankingsProblem]):
    """Kind of data: judges rank items."""

    name = "rankings"
    words = "rankings"
    refused = ("levels", "classes", "positive", "order", "anchor_mode='cut'")
    models_with_contexts = "plackett-luce-contexts"
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
        """Choose ``plackett-luce-tastes`` if some judge ranks an item several times, else ``plackett-luce-contexts``.

        It is ``plackett-luce`` if neither tastes nor effects of contexts are identified. With families of judges it is
        a sum of the same terms and of effects of family and item.
        """
        contexts, tastes = reason_contexts_unknown(table), reason_tastes_unknown(table)
        families = reason_families_unknown(table, request)
        if families is None:
            table_terms = ["item:context"] * (contexts is None) + ["judge:item"] * (tastes is None)
            term_request = replace(request, terms=parse_terms(" + ".join(["item", *table_terms, "family:item"])))
            missing = (("contexts", contexts), ("tastes", tastes))
            omissions = [f"{effect} are left out: {reason}" for effect, reason in missing if reason]
            return self.model_of_terms(table, term_request), "; ".join(["judges of families rank items", *omissions])
        if tastes is None:
            context_words = ", some of them in several contexts" if contexts is None else ""
            return "plackett-luce-tastes", f"judges rank items several times{context_words}"
        if contexts is None:
            return ("plackett-luce-contexts", f"items are ranked in several contexts; tastes are left out: {tastes}")
        return "plackett-luce", f"the table has rankings; contexts are left out: {contexts}; tastes: {tastes}"

    def model_of_terms(self, table: Rankings, request: Request) -> Model:
        """Make the model of a sum of terms from the sections of ``plackett-luce-tastes`` and its other terms.

        Raises
        ------
        InputError
            A sum without items, or with a term that the table does not identify.
        """
        missing = {"context": reason_contexts_unknown(table), "taste": reason_tastes_unknown(table)}
        base = load_model("plackett-luce-tastes")
        return build_sum_model(base, request.terms, TERM_SECTIONS, REQUIRED_TERMS, missing)

    def encode_table(self, model: Model, table: Rankings, request: Request) -> tuple[RankingsProblem, list[str]]:
        """See :func:`.rankings.problem.encode_rankings`; notes name sections that the table does not identify."""
        table, model, term_notes = attach_terms(table, model, request)
        if request.families is not None and request.item_families is None and not has_family_terms(model):
            _check_no_families(table, model, request)
        criteria = weights.read_criterion_importance(request.criteria, table.criteria, answers="rankings")
        problem = encode_rankings(model, table, over=request.over, criteria=criteria, anchors=request.anchors)
        check_covariates_vary(problem)
        notes = term_notes + ([] if problem.anchors is None else [*problem.anchors.notes, _describe_people(problem)])
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
            notes.append(f"{single_items:,} rankings of a single item have no information.")
        if "context" in {factor for term in problem.density.terms for factor in term.factors}:
            notes.append(f"Scores are over {shared_results.scope_words(request.over)}.")
        return problem, notes + weights.weighed_note(problem.criteria_votes)

    def result_subject(self, problem: RankingsProblem, request: Request) -> str | None:
        """As in :class:`.Kind`, but the target by default if people rank."""
        return super().result_subject(problem, request) or (None if problem.anchors is None else TARGET)

    def encode_again(self, problem: RankingsProblem, change: TableChange) -> RankingsProblem:
        """As in :class:`.Kind`."""
        criteria = weights.given_or_stored_criteria(problem, problem.criteria_votes, change)
        anchors = problem.anchors if change.is_own_table else None
        over = problem.density.over
        return encode_rankings(problem.model, change.table, over=over, criteria=criteria, anchors=anchors)

    def on_criteria(self, problem: RankingsProblem, criteria: tuple[str, ...], importance: object) -> Any:
        """Join old and new votes on criteria, or take the new weights."""
        given = weights.read_criterion_importance(importance, criteria, answers="rankings")
        return given.join_earlier(problem.criteria_votes)

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({"votes": "rankings"})

    def residuals(self, problem: RankingsProblem, posterior: Posterior) -> NoReturn:
        """Refuse residuals: dependence of judges is checked in votes only."""
        raise InputError(f"the dependence of judges is estimated from votes only; {VOTES_ADVICE}")

    def can_weigh_answers(self, problem: RankingsProblem) -> bool:
        """False: every ranking has weight 1."""
        return False

    def score_held_out(self, model: Model, table: Rankings, held_out: Bools, request: Request) -> PredictionScores:
        """See :func:`.rankings.results.score_held_out`."""
        table, model, _ = attach_terms(table, model, request)
        return score_held_out(model, table, held_out)

    def pack(self, problem: RankingsProblem) -> Packed:
        """Pack rankings, votes on criteria or their weights, and people's rankings."""
        return pack_rated_problem(problem, "rankings", weights=problem.density.weights)

    def unpack(self, model: Model, packed: Packed) -> RankingsProblem:
        """Restore the problem from :meth:`pack`."""
        names = packed.sections["tables"]
        table = Rankings(**unpack_rated(names["rankings"], packed.arrays, "rankings"))
        anchors = unpack_people(Rankings, names, packed.arrays)
        options: dict[str, Any] = {"over": packed.sections["over"], "criteria": weights.unpack_criteria(packed)}
        return encode_rankings(model, table, anchors=anchors, **options)


def _check_no_families(table: Rankings, model: Model, request: Request) -> None:
    """Raise if families are named and the model has no term of them, unless each judge is its own family."""
    reason = reason_families_unknown(table, request)
    if reason is None:
        raise InputError(
            f"families: model {model.name} has no term of them; name no model, or a sum of terms with family:item "
            "(terms=, --terms)"
        )
    if len(set(read_families(request.families, table.judges).values())) < len(table.judges):
        raise InputError(f"families: {reason}; leave families out, or name judges of another")


def _describe_people(problem: RankingsProblem) -> str:
    """Write a note on the use of people's rankings."""
    assert problem.anchors is not None
    table = problem.anchors.table
    ranked = len(np.unique(table.item))
    return (
        f"People ranked {ranked:,} of {len(problem.items):,} items ({table.count:,} rankings): scores are people's, "
        "and common deviations of all judges are an error of the panel, with a learned spread."
    )


RANKINGS = RankingsKind()
