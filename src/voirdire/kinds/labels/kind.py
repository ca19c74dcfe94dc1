"""Labels as a kind of data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.answers import PredictionScores, answer_shares
from voirdire.kinds.columns import to_records
from voirdire.kinds.human import HumanAnswers
from voirdire.kinds.kind import Entrants, Kind, Packed, Results, TableChange
from voirdire.kinds.labels import results, systems
from voirdire.kinds.labels.answers import (
    check_answer_probabilities,
    draw_labels,
    label_answers,
    label_calibration,
    label_outcomes,
    label_probabilities,
    score_held_out,
)
from voirdire.kinds.labels.class_names import symmetrise_posterior
from voirdire.kinds.labels.class_probabilities import claimed_classes, describe_agreement, describe_thinning
from voirdire.kinds.labels.default import default_model
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.families import families_by_answers, find_families
from voirdire.kinds.labels.over_time import label_series
from voirdire.kinds.labels.predict import predict_labels, predict_target
from voirdire.kinds.labels.problem import LabelsProblem, encode_labels
from voirdire.kinds.labels.results import all_checks, judge_values
from voirdire.kinds.labels.success import success_class, unknown_success_error
from voirdire.kinds.labels.success import success_note as taken_for_success
from voirdire.kinds.packing import pack_rated, unpack_rated
from voirdire.kinds.quantities import Quantities
from voirdire.kinds.request import Request
from voirdire.kinds.systems import check_context_scope, system_entrants, systems_and_contexts, systems_note
from voirdire.model.problem import TARGET, list_names
from voirdire.model.specs import Model
from voirdire.model.terms import SHARED_ERRORS
from voirdire.model.terms.term import Values
from voirdire.tables.detect import read_new
from voirdire.tables.families import read_families
from voirdire.tables.joined import joined_table
from voirdire.tables.label_questions import as_questions, labels_to_questions, read_labels_like
from voirdire.tables.labels import Labels
from voirdire.trust.residuals import Residuals
from voirdire.typing import Bools


class LabelsKind(Kind[Labels, LabelsProblem]):
    """Judges put items into classes."""

    name = "labels"
    words = "labels"
    refused = ("criteria", "covariates", "item_families", "by", "order", "judges")
    results: ClassVar[Results] = {
        "items": results.item_table,
        "judges": results.judge_table,
        "shares": results.class_share_table,
        "confusion": results.confusion_table,
    }

    checks = staticmethod(all_checks)
    judge_values = staticmethod(judge_values)
    single = staticmethod(label_answers)
    outcomes = staticmethod(label_outcomes)
    predict = staticmethod(predict_labels)
    predict_target = staticmethod(predict_target)
    response_probabilities = staticmethod(label_probabilities)
    claims = staticmethod(claimed_classes)
    default_model = staticmethod(default_model)
    draw = staticmethod(draw_labels)
    check_single = staticmethod(check_answer_probabilities)
    evened = staticmethod(symmetrise_posterior)
    shares = staticmethod(answer_shares)
    calibration = staticmethod(label_calibration)
    answers_to_fit = staticmethod(as_questions)
    families_by_answers = staticmethod(families_by_answers)
    of_systems = staticmethod(systems.system_quantities)
    time_series = staticmethod(label_series)
    context_difference_variance = staticmethod(systems.difference_variance_over_contexts)

    def guessing_probability(self, problem: LabelsProblem) -> float:
        """Reliability of a guessing judge, 1 / classes, as reliability is the mean over classes."""
        return 1.0 / problem.classes

    def quantities(self, problem: LabelsProblem, values: Values) -> Quantities:
        """Quantities, with confusion matrices instead of their parameters."""
        quantities = super().quantities(problem, values)
        matrices = results.class_quantities(problem, values)
        parts = {"confusion", "confusion_judge"} if matrices else set()
        return {name: quantity for name, quantity in quantities.items() if name not in parts} | matrices

    def check_board(self, table: Labels, request: Request) -> None:
        """Refuse a board unless labels are about systems over contexts, with a success class or possible grades."""
        systems.check_columns(table)
        classes = table.labels if request.classes is None else tuple(map(str, request.classes))
        numbers = all(name.isdecimal() for name in classes)
        if success_class(classes, request.positive) is None and not numbers:
            raise unknown_success_error(classes)

    def encode_table(self, model: Model, table: Labels, request: Request) -> tuple[LabelsProblem, list[str]]:
        """See :func:`.labels.problem.encode_labels`; anchors have no judges."""
        anchor_labels, shares_errors = None, model.reliability.kind in SHARED_ERRORS
        if request.anchors is not None:
            anchor_labels = read_labels_like(table, request.anchors, name="anchors", judge="people")
        families = None if request.families is None else read_families(request.families, table.judges)
        if families and not shares_errors and len(set(families.values())) < len(families):
            raise InputError(
                f"families= is for models with errors that families share; model {model.name} has none: take "
                "family-dawid-skene, or ordered-labels where labels have an order"
            )
        notes = []
        if families is None and shares_errors:
            families = find_families(table)
            notes += _describe_families(families)
        layout = systems_and_contexts(table)
        check_context_scope(layout, request.over, "labels")
        if layout is not None:
            notes.append(systems_note(table, request.over))
        options: dict[str, Any] = {"classes": request.classes, "anchors": anchor_labels, "positive": request.positive}
        encoded = encode_labels(model, table, families=families, **options)
        if layout is not None:
            systems.check_size(encoded)
        if request.board:
            systems.known_grades(encoded)
        classes = encoded.labels[: encoded.classes]
        if (
            encoded.positive is not None
            and not table.vocabulary
            and request.positive is None
            and (layout is not None or len(classes) == 2)
        ):
            notes.append(taken_for_success(classes, encoded.positive))
        return replace(encoded, over=request.over), notes

    def result_subject(self, problem: LabelsProblem, request: Request) -> str:
        """The subject that the user named, by default the target."""
        return request.about or TARGET

    def outcome(self, problem: LabelsProblem, posterior: Posterior) -> list[str]:
        """See :func:`.labels.class_probabilities.describe_agreement`."""
        return [*describe_agreement(problem, posterior), *describe_thinning(problem, posterior)]

    def context_results(self, problem: LabelsProblem, posterior: Posterior, prob: float) -> dict[str, Any]:
        """Subject and, if the table is about systems, shares of each system's answers in each class."""
        result = {"about": problem.about} if problem.density.latent else {}
        if systems_and_contexts(problem.table) is None or posterior.values is None:
            return result
        return result | {"over": problem.over, "systems": to_records(systems.system_table(problem, posterior, prob))}

    def board_entrants(self, problem: LabelsProblem, posterior: Posterior, prob: float) -> Entrants:
        """Systems with draws of their scores.

        Raises
        ------
        InputError
            The table is not about systems, no class is known to be better, or there are no draws.
        """
        systems.check_columns(problem.table)
        grades = systems.known_grades(problem)
        shares = systems.system_shares(problem, posterior)
        table = systems.system_table(problem, posterior, prob, shares)
        return system_entrants(problem, np.asarray(shares @ grades), table)

    def board_names(self, problem: LabelsProblem) -> tuple[str, ...]:
        """Names of systems if the table is about systems, else of items."""
        return problem.items if systems_and_contexts(problem.table) is None else problem.table.systems

    def unit(self, problem: LabelsProblem) -> str:
        """Unit of results; for tables about systems that of their scores."""
        if systems_and_contexts(problem.table) is None:
            return super().unit(problem)
        return systems.score_unit(problem)

    def uses_families(self, problem: LabelsProblem) -> bool:
        """True if the model has errors that families share."""
        return problem.density.shares_errors

    def encode_again(self, problem: LabelsProblem, change: TableChange) -> LabelsProblem:
        """As in :class:`.Kind`; named classes stay."""
        classes = problem.labels[: problem.classes]
        options: dict[str, Any] = {"classes": None if set(classes) == set(problem.table.labels) else classes}
        options |= {"known": problem.known if change.is_own_table else None, "positive": problem.positive}
        encoded = encode_labels(problem.model, change.table, families=problem.families, **options)
        return replace(encoded, over=problem.over, about=problem.about)

    def join(self, problem: LabelsProblem, new: object) -> Labels:
        """Join old and new labels; if labels were declared, new ones must be among them."""
        old = problem.table
        added = read_new(new, old, levels=old.vocabulary or (old.labels if old.declared else None))
        joined: Labels = joined_table(old, labels_to_questions(added, old.vocabulary) if old.vocabulary else added)
        return joined

    def on_criteria(self, problem: LabelsProblem, criteria: tuple[str, ...], importance: object) -> Any:
        """Refuse: criteria of labels have no weights."""
        self.check_request(Request(criteria=importance))

    def has_anchors(self, problem: LabelsProblem) -> bool:
        """True if some item has a known class."""
        return bool((problem.known >= 0).any())

    def human(self, problem: LabelsProblem, families: dict[str, str] | None = None) -> HumanAnswers[LabelsProblem]:
        """See :class:`.HumanLabels`."""
        from voirdire.kinds.labels.human import HumanLabels  # SciPy

        return HumanLabels(problem)

    heading: ClassVar[MappingProxyType[str, str]] = MappingProxyType({"votes": "answers"})

    def can_weigh_answers(self, problem: LabelsProblem) -> bool:
        """False: every label counts once."""
        return False

    def residuals(self, problem: LabelsProblem, posterior: Posterior) -> Residuals:
        """See :func:`.labels.dependence.label_residuals`."""
        return label_residuals(problem, posterior, np.random.default_rng(0))

    def score_held_out(self, model: Model, table: Labels, held_out: Bools, request: Request) -> PredictionScores:
        """See :func:`.labels.answers.score_held_out`."""
        return score_held_out(self.encode_table(model, table, replace(request, anchors=None))[0], held_out)

    def pack(self, problem: LabelsProblem) -> Packed:
        """Pack labels, classes, families, and known classes of items."""
        names, arrays = pack_rated(problem.table, "labels")
        tables = {"labels": names, "classes": problem.labels[: problem.classes]}
        if problem.families:
            tables["families"] = problem.families
        arrays |= {"known": problem.known}
        if problem.answered is not None:
            arrays["answered"] = problem.answered
        sections = {"tables": tables, "anchors": None, "over": problem.over, "positive": problem.positive}
        return Packed(sections, arrays)

    def unpack(self, model: Model, packed: Packed) -> LabelsProblem:
        """Restore the problem from the result of :meth:`pack`."""
        names, arrays, positive = packed.sections["tables"], packed.arrays, packed.sections.get("positive")
        table = Labels(**unpack_rated(names["labels"], arrays, "labels"))
        options = {"classes": names["classes"], "known": arrays["known"], "families": names.get("families")}
        encoded = encode_labels(model, table, positive=positive, **options)
        return replace(encoded, answered=arrays.get("answered"), over=packed.sections.get("over", "new"))


def _describe_families(families: dict[str, str]) -> list[str]:
    """Note on estimated families of judges; empty without families."""
    groups: dict[str, list[str]] = {}
    for judge, family in families.items():
        groups.setdefault(family, []).append(judge)
    found_groups = [list_names(judges) for judges in groups.values() if len(judges) > 1]
    if not found_groups:
        return []
    return [
        f"Families found: {'; '.join(found_groups)}. Each agrees more than the items explain, and shares errors. "
        "Name families (families=, --families) to say who belongs together."
    ]


LABELS = LabelsKind()
