"""Labels item by item, as a class that all of an item's labels depend on is summed out."""

from __future__ import annotations

import math

import numpy as np

from voirdire.kinds.answers import Answers, map_over_draws
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.kinds.labels.sparse_counts import sum_by_item
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

LARGEST = 10**6  # numbers of the table beyond which each draw takes too long


def label_answers(problem: LabelsProblem) -> list[Answers]:
    """The labels of each item (under each criterion), of which the most frequent stands for all.

    None where the model knows no classes, or the table is large.
    """
    density, part = problem.density, problem.data["labels"]
    if not density.latent or math.prod(part["counts"].shape) > LARGEST:
        return []

    def log_probability(values: Values) -> Floats:
        return np.asarray(density.log_parts(values, problem.data, np)[0][0])

    units = np.array(problem.items)[problem.unit_item]
    about = {"item": units, "criterion": np.array(problem.criteria)[problem.unit_criterion]}
    most = sum_by_item(part["counts"], len(problem.labels)).argmax(axis=1)
    return [
        Answers("labels", map_over_draws(log_probability), problem.unit_row, most[problem.unit_row], about)
    ]
