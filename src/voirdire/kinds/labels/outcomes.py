"""Labels that a model generates, of items of which no more is known than by people; see :mod:`.infer.outcomes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.infer.outcomes import Outcome
from voirdire.kinds.labels.draw import draw_labels
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.arrays import Array
from voirdire.model.terms.reliability import Values
from voirdire.tables.labels import Labels
from voirdire.typing import Floats


def label_outcomes(problem: LabelsProblem) -> list[Outcome]:
    """Counts of labels by item, judge and label (of all judges together where they are alike)."""
    density, part, row = problem.density, problem.data["labels"], problem.unit_row
    each = {name: of[row] for name, of in part.items() if name != "weight"} | {"weight": np.ones(len(row))}
    judges = part["counts"].shape[1] // len(problem.labels)

    def log_probability(value: Any, values: Values, xp: Any) -> Array:
        counts = value.reshape((len(row), judges * len(problem.labels)))
        ((of, weight),) = density.log_parts(values, {"labels": each | {"counts": counts}}, xp)
        return of * weight

    def draw_counts(values: Values, rng: np.random.Generator) -> Floats:
        return _count_labels(problem, draw_labels(problem, values, rng, anew=True), judges)

    return [Outcome("labels", _count_labels(problem, problem.table, judges), log_probability, draw_counts)]


def _count_labels(problem: LabelsProblem, table: Labels, judges: int) -> Floats:
    """Counts by item (under a criterion), judge and label, shape (units, judges, labels)."""
    wide = max(len(table.items), 1)
    unit = np.unique(table.criterion * wide + table.item, return_inverse=True)[1]
    counts = np.zeros((len(problem.unit_row), judges, len(problem.labels)))
    np.add.at(counts, (unit, table.judge if judges > 1 else table.judge * 0, problem.given(table)), 1.0)
    return counts
