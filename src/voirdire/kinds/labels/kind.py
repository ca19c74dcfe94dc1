"""Labels as a kind of data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.posterior import Posterior
from voirdire.kinds.held_out import Seen
from voirdire.kinds.human import HumanAnswers
from voirdire.kinds.kind import Kind, Packed, Request, Results
from voirdire.kinds.labels import checks, results
from voirdire.kinds.labels.chances import chances, check_single
from voirdire.kinds.labels.dependence import residuals
from voirdire.kinds.labels.draw import draw
from voirdire.kinds.labels.held_out import held_out
from voirdire.kinds.labels.left_out import calibration
from voirdire.kinds.labels.predict import classify
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.kinds.packing import pack_rated, unpack_rated
from voirdire.kinds.shares import of_judges
from voirdire.model.specs import Model
from voirdire.tables.detect import read_new
from voirdire.tables.joined import joined
from voirdire.tables.labels import Labels, read_labels
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats, Ints


class LabelsKind(Kind[Labels, LabelsProblem]):
    """Judges put items into classes."""

    name = "labels"
    words = "labels"
    refused = ("criteria", "families")
    compared = ("labels",)
    results: ClassVar[Results] = {
        "items": results.items,
        "judges": results.judges,
        "shares": results.shares,
        "confusion": results.confusion,
    }

    checks = staticmethod(checks.all_checks)
    predict = staticmethod(classify)
    chances = staticmethod(chances)
    draw = staticmethod(draw)
    check_single = staticmethod(check_single)
    shares = staticmethod(of_judges)
    calibration = staticmethod(calibration)

    def default_model(self, table: Labels, criteria: object) -> tuple[str, str]:
        """``hierarchical-dawid-skene``."""
        return "hierarchical-dawid-skene", "the table has labels"

    def pose(self, model: Model, table: Labels, request: Request) -> tuple[LabelsProblem, list[str]]:
        """See :func:`.labels.problem.pose_labels`; anchors have no judges."""
        known = None
        if request.anchors is not None:
            known = read_labels(request.anchors, name="anchors", levels=table.labels, judge="people")
        return pose_labels(model, table, classes=request.classes, anchors=known), []

    def table_of(self, problem: LabelsProblem) -> Labels:
        """The labels."""
        return problem.table

    def reposed(
        self,
        problem: LabelsProblem,
        *,
        table: Labels | None = None,
        criteria: Any = None,
        answer_weight: Floats | None = None,
    ) -> LabelsProblem:
        """As in :class:`.Kind`; classes that were named stay."""
        classes = problem.labels[: problem.classes]
        every = set(classes) == set(problem.table.labels)
        known = problem.known if table is None else None
        posed = problem.table if table is None else table
        return pose_labels(problem.model, posed, classes=None if every else classes, known=known)

    def join(self, problem: LabelsProblem, new: object) -> Labels:
        """Old and new labels; where labels were declared, new ones are among them."""
        old = problem.table
        both: Labels = joined(old, read_new(new, old, levels=old.labels if old.declared else None))
        return both

    def on_criteria(self, problem: LabelsProblem, criteria: tuple[str, ...], given: object) -> Any:
        """Refused: labels under several criteria are not weighed."""
        self.check_request(Request(criteria=given))

    def has_anchors(self, problem: LabelsProblem) -> bool:
        """Whether the class of some item is known."""
        return bool((problem.known >= 0).any())

    def human(
        self, problem: LabelsProblem, families: dict[str, str] | None = None
    ) -> HumanAnswers[LabelsProblem]:
        """See :class:`.HumanLabels`."""
        from voirdire.kinds.labels.human import HumanLabels  # SciPy

        return HumanLabels(problem)

    heading: ClassVar[dict[str, str]] = {"votes": "answers"}

    def can_weigh_answers(self, problem: LabelsProblem) -> bool:
        """Never: a label counts once."""
        return False

    def residuals(self, problem: LabelsProblem, posterior: Posterior) -> Residuals:
        """See :func:`.labels.dependence.residuals`."""
        return residuals(problem, posterior, np.random.default_rng(0))

    def held_out(self, model: Model, table: Labels, fold: Ints, request: Request) -> Seen:
        """See :func:`.labels.held_out.held_out`."""
        return held_out(model, table, fold, request.classes)

    def refit_resampled(
        self, problem: LabelsProblem, mode: Floats, resamples: int, rng: np.random.Generator
    ) -> Floats:
        """See :mod:`voirdire.kinds.bootstrap`."""
        raise InputError("labels have no bootstrap; their intervals are those of the posterior")

    def pack(self, problem: LabelsProblem) -> Packed:
        """Labels, classes and which are known."""
        names, arrays = pack_rated(problem.table, "labels")
        tables = {"labels": names, "classes": problem.labels[: problem.classes]}
        return Packed({"tables": tables, "anchors": None}, arrays | {"known": problem.known})

    def unpack(self, model: Model, packed: Packed) -> LabelsProblem:
        """The problem of :meth:`pack`."""
        names, arrays = packed.sections["tables"], packed.arrays
        table = Labels(**unpack_rated(names["labels"], arrays, "labels"))
        return pose_labels(model, table, classes=names["classes"], known=arrays["known"])


LABELS = LabelsKind()
