"""Votes as a kind of data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import PredictionScores
from voirdire.kinds.criteria_votes import read_votes_on_criteria
from voirdire.kinds.human import CUT, HumanAnswers
from voirdire.kinds.kind import Packed, Results, TableChange
from voirdire.kinds.packing import pack_votes, unpack_votes
from voirdire.kinds.people import Preference, people_reliability
from voirdire.kinds.request import Request
from voirdire.kinds.results import contexts_note, criterion_table, refuse_scope
from voirdire.kinds.terms_kind import TermsKind
from voirdire.kinds.votes import checks, groups, position, results
from voirdire.kinds.votes.answers import (
    claimed_preferences,
    evaluate_held_out,
    predict_comparisons,
    predict_votes,
    single_vote_codes,
    vote_answers,
)
from voirdire.kinds.votes.checks import symmetrise_posterior
from voirdire.kinds.votes.comparisons import are_unconnected, unconnected_pairs
from voirdire.kinds.votes.contexts import reason_for_fixed_spreads, reason_without_contexts
from voirdire.kinds.votes.draw import draw_votes, refit_resampled, vote_outcomes
from voirdire.kinds.votes.over_time import vote_series
from voirdire.kinds.votes.people import Anchors, compared_by_people, encode_contexts, read_anchors
from voirdire.kinds.votes.problem import VotesProblem, encode_votes, refuse_constant_terms, votes_per_judge_context
from voirdire.kinds.votes.response_probabilities import refuse_pooled_models, vote_probabilities
from voirdire.kinds.votes.results import judge_values, vote_calibration, win_shares
from voirdire.kinds.votes.terms import families_terms, model_from_terms, with_terms
from voirdire.kinds.votes.trust import vote_residuals
from voirdire.model.specs import Model
from voirdire.model.target_answers import TargetAnswers
from voirdire.model.term_rows import parse_terms
from voirdire.tables.counts import Votes
from voirdire.tables.graph import constant_item_note, fixed_order_rule
from voirdire.tables.joined import joined_table
from voirdire.tables.votes import VoteRows
from voirdire.typing import Bools

SINGLE_JUDGE_MODEL = "bradley-terry"  # model for one judge whose position bias is confounded with preference
SINGLE_JUDGE_NOTE = "; and there is one judge, whose reliability cannot be estimated"


class VotesKind(TermsKind[Votes, VotesProblem]):
    """Kind of data: judges compare two items."""

    name = "votes"
    words = "votes"
    refused = ("levels", "classes", "positive")
    models_with_contexts = "crowd-bt-contexts"
    results: ClassVar[Results] = {
        "items": results.adjusted_ranking,
        "judges": results.judge_table,
        "criteria": criterion_table,
    }

    checks = staticmethod(checks.all_checks)
    residuals = staticmethod(vote_residuals)
    judge_values = staticmethod(judge_values)
    single_answers = staticmethod(single_vote_codes)
    single = staticmethod(vote_answers)
    outcomes = staticmethod(vote_outcomes)
    fixed_order = staticmethod(position.presentation_order_rule)
    predict = staticmethod(predict_votes)
    response_probabilities = staticmethod(vote_probabilities)
    claims = staticmethod(claimed_preferences)
    draw = staticmethod(draw_votes)
    check_single = staticmethod(refuse_pooled_models)
    shares = staticmethod(win_shares)
    calibration = staticmethod(vote_calibration)
    refit_resampled = staticmethod(refit_resampled)
    item_questions = staticmethod(predict_comparisons)
    time_series = staticmethod(vote_series)
    evened = staticmethod(symmetrise_posterior)

    def default_model(self, table: Votes, request: Request) -> tuple[str | Model, str]:
        """Choose ``learned-crowd-bt-position``, or ``maple-tastes`` with several criteria.

        - Items are compared in several contexts: ``crowd-bt-contexts`` or ``maple-contexts``.
        - Very large tables: ``crowd-bt-position`` or ``maple-position``, with a fixed scale.
        - The order shown is unknown, or one item is always in one position: the same with one coin a judge
          (``learned-crowd-bt``, ``unordered-maple-tastes``, ...).
        - One judge whose position bias is confounded with preference (also where all pairs are in one fixed order):
          ``bradley-terry``. Its scale is fixed, because the reliability of one judge cannot be estimated.
        - Families of judges: a sum of the same terms and of effects of family and item.
        """
        table = set_order_known(table, request)
        name, article = ("maple", "a") if table.has_criteria else ("crowd-bt", "no")
        reason = f"the table has {article} criterion column"
        constant_item = None if request.anchors is not None else constant_item_note(table)
        single_judge = len(table.judges) == 1 and not table.has_criteria and request.anchors is None
        unordered, position = "", "-position"
        if table.order_unknown or constant_item:
            order = constant_item or "which item was shown first is unknown"
            reason = f"{reason} and position cannot be told: {order}"
            if constant_item and single_judge:
                return SINGLE_JUDGE_MODEL, f"{reason}{SINGLE_JUDGE_NOTE}"
            unordered, position = "unordered-", ""
        by, no_context_reason = request.by, None if request.by is not None else reason_without_contexts(table)
        if no_context_reason is None and by is None and request.anchors is not None and request.anchor_mode == CUT:
            no_context_reason = "anchors alone say nothing of contexts (anchor mode cut)"
        comparison_words = "meet in several contexts" if by is None else f"are compared by {by}"
        context_reason = f"{reason} and items {comparison_words}" if no_context_reason is None else reason
        context_reason += f"; contexts are left out: {no_context_reason}" if no_context_reason else ""
        if not constant_item and (terms := families_terms(table, request, no_context_reason is None)):
            term_request = replace(request, terms=parse_terms(terms))
            return model_from_terms(table, term_request), f"{context_reason}; its judges are of families"
        if no_context_reason is None:
            return f"{unordered}{name}-contexts", context_reason
        reason = context_reason
        if single_judge and unordered:
            return SINGLE_JUDGE_MODEL, f"{reason}{SINGLE_JUDGE_NOTE}"
        if single_judge and (fixed := fixed_order_rule(table)):
            return SINGLE_JUDGE_MODEL, f"{reason} and position cannot be told: {fixed}{SINGLE_JUDGE_NOTE}"
        fixed_reason = reason_for_fixed_spreads(table, 0, len(table.counts), people=request.anchors is not None)
        if fixed_reason:
            return (f"{name}{position}", f"{reason}; how far items are apart is given, not learned: {fixed_reason}")
        if len(table.criteria) > 1:
            return (
                f"{unordered}maple-tastes",
                f"{reason}, and judges may have tastes under its {len(table.criteria)} criteria",
            )
        if unordered and table.has_criteria:  # of one criterion, so without tastes
            return "unordered-maple-tastes", reason
        return f"learned-{name}{position}", reason

    def model_of_terms(self, table: Votes, request: Request) -> Model:
        """See :func:`.votes.terms.model_from_terms`."""
        return model_from_terms(set_order_known(table, request), request)

    def encode_table(self, model: Model, table: Votes, request: Request) -> tuple[VotesProblem, list[str]]:
        """See :func:`.votes.problem.encode_votes`."""
        table = set_order_known(table, request)
        table, model, notes = with_terms(table, model, request)
        if request.by is not None:
            if model.context is None:
                raise InputError(
                    f"by= is for models with contexts, {model.name} has none; take crowd-bt-contexts or maple-contexts"
                )
            table, group_notes = groups.group_contexts(table, request.by)
            notes += group_notes
        if table.order_unknown and model.position_aware:
            raise InputError(
                f"model {model.name} is about positions, but which item was shown first is unknown (column order); "
                f"take {self.default_model(table, Request())[0]}, or remove the column if first was shown first"
            )
        if not table.has_rows:
            notes.append("The table was counted where it is, so the order of votes and their contexts are not known.")
        people = None if request.anchors is None else read_anchors(request.anchors, table)
        criteria_input = request.criteria
        on_criteria = None if criteria_input is None else read_votes_on_criteria(criteria_input)
        if people is not None and model.context is not None and len(table.contexts) > 1:
            people = encode_contexts(people, table)
        problem = encode_votes(model, table, on_criteria, anchors=people, over=request.over)
        refuse_constant_terms(problem)
        if problem.density.contexts:
            notes.append(contexts_note(request.over))
            habits = any(parameter.name == "tie_context" for parameter in problem.density.parameters)
            if habits and not problem.density.repeated:
                notes.append(
                    f"Judges vote {votes_per_judge_context(problem.votes):.1f} times in a context on average: too few "
                    "for tie habits of a judge in single contexts, so each has one tie habit for all contexts."
                )
        else:
            refuse_scope(request.over, "crowd-bt-contexts")
        notes += () if people is None else people.notes
        if on_criteria is not None and problem.criteria_votes is None:
            notes.append(f"The votes on criteria are not used: {model.name} takes all criteria as equally important.")
        return problem, notes

    def context_results(self, problem: VotesProblem, posterior: Posterior, prob: float) -> dict[str, Any]:
        """Add items in groups of contexts to the results of :class:`.TermsKind`."""
        tables, details = super().context_results(problem, posterior, prob), problem.votes.details
        if details is not None and details.group is not None and problem.density.contexts:
            tables["groups"] = groups.nest_groups(groups.items_by_group(problem, posterior, prob))
        return tables

    def compared_votes(self, problem: VotesProblem) -> Votes:
        """Votes of the problem."""
        return problem.votes

    def people_preference(self, problem: VotesProblem, posterior: Posterior) -> Preference:
        """Model of people's answers with their coin: that of the posterior, or the prior mean without their answers."""
        return Preference(people_reliability(problem.model, posterior.central_values))

    def table_of(self, problem: VotesProblem) -> Votes:
        """Votes of the problem."""
        return problem.votes

    def encode_again(self, problem: VotesProblem, change: TableChange) -> VotesProblem:
        """As in :class:`.Kind`; keeps the anchors."""
        on_criteria = problem.criteria_votes if change.criteria is None else change.criteria
        options: dict[str, Any] = {"anchors": problem.anchors, "answer_weight": change.answer_weight}
        return encode_votes(problem.model, change.table, on_criteria, over=problem.density.over, **options)

    def join(self, problem: VotesProblem, new: object) -> Votes:
        """Join old and new votes."""
        details = problem.votes.details
        if details is not None and details.is_informative:
            raise InputError(
                "new votes cannot be added to a fit with groups or degrees; fit old and new votes together"
            )
        return super().join(problem, new)

    def with_families_of(self, problem: VotesProblem, table: Votes) -> Votes:
        """As in :class:`.TermsKind`, for every vote."""
        if not table.has_rows:
            raise InputError(
                "votes: the new ones were only counted, not kept, and the fit has terms; give the table itself"
            )
        rows: Any = super().with_families_of(problem, VoteRows(table))
        return rows.votes  # type: ignore[no-any-return]

    def on_criteria(self, problem: VotesProblem, criteria: tuple[str, ...], importance: object) -> Votes:
        """Join old and new votes on criteria."""
        votes = read_votes_on_criteria(importance)
        return votes if problem.criteria_votes is None else joined_table(problem.criteria_votes, votes)

    def has_unlinked_pairs(self, problem: VotesProblem) -> bool:
        """As in :class:`.Kind`."""
        return unconnected_pairs(problem)

    def target_answers(self, table: Votes, anchors: object) -> tuple[TargetAnswers | None, list[str]]:
        """As in :class:`.Kind`."""
        if are_unconnected(table):
            return None, []
        people = read_anchors(anchors, table)
        return compared_by_people(people), list(people.notes)

    def human(self, problem: VotesProblem, families: dict[str, str] | None = None) -> HumanAnswers[VotesProblem]:
        """See :class:`.HumanVotes`."""
        from voirdire.kinds.votes.human import HumanVotes  # SciPy

        return HumanVotes(problem, families)

    def score_held_out(self, model: Model, table: Votes, held_out: Bools, request: Request) -> PredictionScores:
        """See :func:`.votes.answers.evaluate_held_out`."""
        table, model, _ = with_terms(table, model, request)
        return evaluate_held_out(model, table, held_out)

    def pack(self, problem: VotesProblem) -> Packed:
        """Pack votes, votes on criteria, anchors, and the weight of one answer of each judge."""
        people = problem.anchors
        people_votes = None if people is None else people.votes
        names, arrays = pack_votes(
            {"votes": problem.votes, "criteria": problem.criteria_votes, "anchors": people_votes}
        )
        arrays |= {} if problem.answer_weight is None else {"answer_weight": problem.answer_weight}
        people_options = None if people is None else {"overall": people.overall, "notes": people.notes}
        return Packed({"tables": names, "anchors": people_options, "over": problem.density.over}, arrays)

    def unpack(self, model: Model, packed: Packed) -> VotesProblem:
        """Restore the problem from :meth:`pack`."""
        names, arrays = packed.sections["tables"], packed.arrays
        on_criteria = unpack_votes(names, arrays, "criteria") if "criteria" in names else None
        options: dict[str, Any] = {"anchors": unpack_people(packed), "answer_weight": arrays.get("answer_weight")}
        options["over"] = packed.sections.get("over", "new")
        return encode_votes(model, unpack_votes(names, arrays, "votes"), on_criteria, **options)


def set_order_known(votes: Votes, request: Request) -> Votes:
    """Set if the order shown is known, as requested by ``order``.

    Raises
    ------
    InputError
        ``order`` is neither "shown" nor "unknown".
    """
    if request.order not in (None, "shown", "unknown"):
        raise InputError(f"order {request.order!r} is none of shown, unknown")
    return votes if request.order is None else votes.with_codes(order_unknown=request.order == "unknown")


def unpack_people(packed: Packed) -> Anchors | None:
    """Restore people's answers to comparisons."""
    options = packed.sections.get("anchors")
    if options is None:
        return None
    votes = unpack_votes(packed.sections["tables"], packed.arrays, "anchors")
    return Anchors(votes, options["overall"], tuple(options["notes"]))


VOTES = VotesKind()
