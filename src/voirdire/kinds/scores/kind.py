"""Scores as a kind of data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds import results as shared_results
from voirdire.kinds.answers import PredictionScores, answer_shares
from voirdire.kinds.columns import to_records
from voirdire.kinds.further_terms import ONE_FAMILY_REASON, attach_terms, reason_families_unknown
from voirdire.kinds.human import HumanAnswers
from voirdire.kinds.kind import Entrants, Packed, Results, TableChange
from voirdire.kinds.packing import pack_rated_problem, unpack_people, unpack_rated
from voirdire.kinds.people import Preference
from voirdire.kinds.quantities import Quantities, Quantity
from voirdire.kinds.request import Request
from voirdire.kinds.results import contexts_note
from voirdire.kinds.scores import checks, continuous, halo, results, systems, terms, weights
from voirdire.kinds.scores.answers import score_answers, score_calibration, score_held_out
from voirdire.kinds.scores.density import log_odds_unit, score_form_module
from voirdire.kinds.scores.draw import draw_scores, resample_scores, score_outcomes
from voirdire.kinds.scores.human import items_scored_by_people, scored_by_people
from voirdire.kinds.scores.judge_checks import informative_judge_probability
from voirdire.kinds.scores.over_time import score_series
from voirdire.kinds.scores.predict import (
    check_answer_probabilities,
    claimed_scores,
    item_score_questions,
    predict_scores,
    score_probabilities,
)
from voirdire.kinds.scores.problem import ScoresProblem, encode_scores, uses_families
from voirdire.kinds.scores.residuals import residuals_by_scale
from voirdire.kinds.scores.results import judge_values, score_quantities
from voirdire.kinds.scores.scale import falls_between_levels, scale_with_people
from voirdire.kinds.systems import check_context_scope, system_entrants, systems_and_contexts, systems_note
from voirdire.kinds.terms_kind import TermsKind
from voirdire.model.specs import Model, load_model
from voirdire.model.target_answers import TargetAnswers
from voirdire.model.term_rows import parse_terms
from voirdire.tables.families import read_families
from voirdire.tables.scores import MAX_LEVELS, Scores
from voirdire.typing import Bools


class ScoresKind(TermsKind[Scores, ScoresProblem]):
    """Judges score items."""

    name = "scores"
    words = "scores"
    refused = ("classes", "positive", "order")
    predicts_families = False
    models_with_contexts = "rating-contexts or rating-continuous-contexts"
    results: ClassVar[Results] = {
        "items": results.ranking_on_scale,
        "judges": results.judge_table,
        "criteria": shared_results.criterion_table,
        "groups": results.judge_group_table,
        "cutpoints": results.cutpoint_table,
        "people": results.people_table,
    }

    checks = staticmethod(checks.all_checks)
    residuals = staticmethod(residuals_by_scale)
    judge_values = staticmethod(judge_values)
    single = staticmethod(score_answers)
    outcomes = staticmethod(score_outcomes)
    quantities = staticmethod(score_quantities)
    predict = staticmethod(predict_scores)
    response_probabilities = staticmethod(score_probabilities)
    claims = staticmethod(claimed_scores)
    draw = staticmethod(draw_scores)
    check_single = staticmethod(check_answer_probabilities)
    shares = staticmethod(answer_shares)
    levels_with_people = staticmethod(scale_with_people)
    chance_of_use = staticmethod(informative_judge_probability)
    calibration = staticmethod(score_calibration)
    item_questions = staticmethod(item_score_questions)
    resampled = staticmethod(resample_scores)
    time_series = staticmethod(score_series)

    def default_model(self, table: Scores, request: Request) -> tuple[str | Model, str]:
        """Choose the default model, ``rating-learned`` for most tables, and give the reason.

        ``rating-severity`` for large tables; ``rating-contexts`` if items recur in several contexts; ``rating-halo`` if
        judges score items under several criteria; ``rating-families`` if families of judges are named, or a sum of
        terms if items also recur in contexts or scores are continuous. ``rating-continuous``,
        ``rating-continuous-halo`` and ``rating-continuous-contexts`` for scores that are not whole numbers, or have too
        many different values.
        """
        reason, is_continuous = "the table has scores", falls_between_levels(table.score, request.levels)
        if is_continuous:
            all_whole = (table.score % 1 == 0).all()
            reason += f" {f'of more than {MAX_LEVELS} different' if all_whole else 'that are not whole'} numbers"
        families = {} if request.families is None else read_families(request.families, table.judges)
        shared_reason = halo.reason_without_shared_errors(table, families)
        omission = halo.reason_without_contexts(table, learns_noise=is_continuous)
        reason += f"{',' if is_continuous else ''} of families of judges" if shared_reason is None else ""
        reason += f"; errors that families share are left out: {shared_reason}" if shared_reason else ""
        reason += ", of the same items in several contexts" if omission is None else ""
        reason += f"; contexts are left out: {omission}" if omission else ""
        if shared_reason is None and (is_continuous or omission is None):
            rows = parse_terms(terms.families_terms(table, omission is None))
            return terms.model_from_terms(table, replace(request, terms=rows)), reason
        if omission is None:
            return "rating-continuous-contexts" if is_continuous else "rating-contexts", reason
        if shared_reason is None:
            return "rating-families", reason
        halo_reason = halo.reason_without_continuous_halo if is_continuous else halo.reason_without_halo
        omission = halo_reason(table, items_scored_by_people(table, request.anchors))
        if omission is None:
            name = "rating-continuous-halo" if is_continuous else "rating-halo"
            return name, f"{reason}, of the same items under several criteria"
        reason = f"{reason}; tastes are left out: {omission}" if omission else reason
        if is_continuous:
            return "rating-continuous", reason
        spread_reason = None if request.asks_terms else halo.reason_for_fixed_spread(table)
        if spread_reason is None:
            return "rating-learned", reason
        if (omission := terms.reason_spread_not_learned(table)) is not None:
            return (
                "rating-severity",
                f"{reason}; how far items are apart is given, not learned: {spread_reason}, and {omission}",
            )
        model = terms.with_learned_spread(load_model("rating-severity"), table, request.levels)
        return model, f"{reason}; how far items are apart is learned from some of them: {spread_reason}"

    def model_of_terms(self, table: Scores, request: Request) -> Model:
        """See :func:`.scores.terms.model_from_terms`."""
        return terms.model_from_terms(table, request)

    def encode_table(self, model: Model, table: Scores, request: Request) -> tuple[ScoresProblem, list[str]]:
        """See :func:`.scores.problem.encode_scores`."""
        options: dict[str, Any] = {"levels": request.levels, "criteria": request.criteria, "over": request.over}
        table, model, notes = attach_terms(table, model, request, ("family", "group"), unit=log_odds_unit(model))
        if model.terms:
            terms.check_terms(model)
        system_contexts = systems_and_contexts(table)
        if request.families is not None and uses_families(model):
            options["families"] = read_families(request.families, table.judges)
            if len(set(options["families"].values())) == 1 < len(table.judges):
                raise InputError(
                    f"families: {ONE_FAMILY_REASON}; name judges of another, or take rating-severity or rating-halo"
                )
        if model.context is None or halo.reason_contexts_unknown(table) is not None:
            check_context_scope(
                system_contexts,
                request.over,
                "scores",
                ", or of items in several contexts by rating-contexts and rating-continuous-contexts",
            )
        problem = encode_scores(model, table, anchors=request.anchors, **options)
        notes += [] if problem.anchors is None else list(problem.anchors.notes)
        if problem.density.contexts:
            notes.append(contexts_note(request.over))
        elif model.context is not None:
            notes.append(f"Model {model.name} is fitted without contexts: {halo.reason_contexts_unknown(table)}.")
        if model.families is not None and not problem.density.families:
            reason = reason_families_unknown(table, request)
            notes.append(f"Model {model.name} is fitted without errors that families share: {reason}.")
        if system_contexts is not None:
            notes.append(systems_note(table, request.over))
        notes += [] if problem.density.has_mirror else weights.weighed_note(problem.criteria_votes)
        return problem, notes

    def context_results(self, problem: ScoresProblem, posterior: Posterior, prob: float) -> dict[str, Any]:
        """As in :class:`.TermsKind`, with the scores of systems if the table is about systems."""
        tables = super().context_results(problem, posterior, prob)
        if systems_and_contexts(problem.table) is None or posterior.values is None:
            return tables
        rows = to_records(systems.system_table(problem, posterior, prob))
        return {"over": problem.over, "systems": rows} | tables

    def board_entrants(self, problem: ScoresProblem, posterior: Posterior, prob: float) -> Entrants:
        """Systems if the table is about systems, else items."""
        if systems_and_contexts(problem.table) is None or posterior.values is None:
            entrants = super().board_entrants(problem, posterior, prob)
            origin, unit_size = problem.unit
            return entrants._replace(draws=origin + unit_size * entrants.draws)
        draws = systems.system_draws_about_subject(problem, posterior)
        return system_entrants(problem, draws, systems.system_table(problem, posterior, prob))

    def board_names(self, problem: ScoresProblem) -> tuple[str, ...]:
        """Names of systems if the table is about systems, else of items."""
        return problem.items if systems_and_contexts(problem.table) is None else problem.table.systems

    def of_systems(self, problem: ScoresProblem, posterior: Posterior) -> Quantities:
        """Scores of systems; empty if the table is not about systems."""
        if systems_and_contexts(problem.table) is None:
            return {}
        return {"system_score": Quantity(systems.system_draws_about_subject(problem, posterior), ("system",))}

    def people_preference(self, problem: ScoresProblem, posterior: Posterior) -> Preference | None:
        """Preference between two scores of a person; see :func:`.scores.results.person_preference`."""
        return results.person_preference(problem, posterior.central_values)

    def context_difference_variance(
        self, problem: ScoresProblem, posterior: Posterior, items: tuple[str, str]
    ) -> float:
        """As in :class:`.Kind`; for systems, from the differences of their answers in each context."""
        if systems_and_contexts(problem.table) is None:
            return problem.unit[1] ** 2 * super().context_difference_variance(problem, posterior, items)
        return systems.difference_variance_over_contexts(problem, posterior, items)

    def encode_again(self, problem: ScoresProblem, change: TableChange) -> ScoresProblem:
        """As in :class:`.Kind`; the scale stays the same."""
        options: dict[str, Any] = {"levels": problem.scale.levels, "over": problem.over}
        options |= {"families": problem.families, "anchors": problem.anchors if change.is_own_table else None}
        options["criteria"] = weights.given_or_stored_criteria(problem, problem.criteria_votes, change)
        return encode_scores(problem.model, change.table, answer_weight=change.answer_weight, **options)

    def on_criteria(
        self, problem: ScoresProblem, criteria: tuple[str, ...], importance: object
    ) -> weights.CriterionImportance:
        """Old and new votes on criteria, or the new weights."""
        return weights.read_criterion_importance(importance, criteria).join_earlier(problem.criteria_votes)

    def items_called(self, problem: ScoresProblem) -> str:
        """As in :class:`.Kind`; "answers" if systems are scored in contexts."""
        return "items" if systems_and_contexts(problem.table) is None else "answers"

    def target_answers(self, table: Scores, anchors: object) -> tuple[TargetAnswers | None, list[str]]:
        """As in :class:`.Kind`; people's scores may be on any scale."""
        answers, notes = scored_by_people(anchors, table)
        return answers, list(notes)

    def human(self, problem: ScoresProblem, families: dict[str, str] | None = None) -> HumanAnswers[ScoresProblem]:
        """See :class:`.HumanScores`."""
        from voirdire.kinds.scores.cut import HumanScores  # SciPy

        return HumanScores(problem)

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({"votes": "answers"})

    def unit(self, problem: ScoresProblem) -> str:
        """Unit of results: points of the scale if the model takes scores as numbers, else log-odds.

        Examples
        --------
        >>> import pandas as pd
        >>> import voirdire
        >>> scores = pd.DataFrame({"judge": "b", "item": ["x", "y"], "score": [1, 2]})
        >>> SCORES.unit(voirdire.fit(scores, model="mean-score", method="map").problem)
        'points'
        """
        return "points" if problem.in_points else "log-odds"

    def middle(self, problem: ScoresProblem) -> float:
        """The middle of the scale, or 0 for log-odds."""
        return problem.unit[0]

    def can_weigh_answers(self, problem: ScoresProblem) -> bool:
        """True if the model is one of single scores and has no term for errors that judges share."""
        return problem.model.pool == "none" and not problem.density.families

    def uses_families(self, problem: ScoresProblem) -> bool:
        """True if the model has errors that families share, or another term of families."""
        return uses_families(problem.model)

    def predicts_density(self, model: Model) -> bool:
        """True if the scale is continuous."""
        return score_form_module(model) is continuous

    def score_held_out(self, model: Model, table: Scores, held_out: Bools, request: Request) -> PredictionScores:
        """See :func:`.scores.answers.score_held_out`."""
        table, model, _ = attach_terms(table, model, request, ("family", "group"), unit=log_odds_unit(model))
        if model.terms:
            terms.check_terms(model)
        families = None if request.families is None else read_families(request.families, table.judges)
        return score_held_out(model, table, held_out, request.levels, families)

    def pack(self, problem: ScoresProblem) -> Packed:
        """Pack scores, scale, votes on criteria or their weights, human scores, and weights of judges' answers."""
        names: dict[str, Any] = {"levels": problem.scale.levels, "weights": problem.density.fixed_weights}
        names |= {"families": problem.families} if problem.families else {}
        packed = pack_rated_problem(problem, "scores", **names)
        if problem.answer_weight is not None:
            packed.arrays["answer_weight"] = problem.answer_weight
        return packed

    def unpack(self, model: Model, packed: Packed) -> ScoresProblem:
        """Restore the problem from the result of :meth:`pack`."""
        names, arrays = packed.sections["tables"], packed.arrays
        anchors = unpack_people(Scores, names, arrays)
        table = Scores(**unpack_rated(names["scores"], arrays, "scores"))
        options = {"levels": names["levels"], "criteria": weights.unpack_criteria(packed), "anchors": anchors}
        options["families"] = names.get("families")
        options["over"] = packed.sections.get("over", "new")
        return encode_scores(model, table, answer_weight=arrays.get("answer_weight"), **options)


SCORES = ScoresKind()
