"""Classes that a fit of labels claims."""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.claims import Claims
from voirdire.kinds.labels.about import shown_probabilities
from voirdire.kinds.labels.problem import LabelsProblem


def claimed_classes(problem: LabelsProblem, posterior: Posterior) -> Claims:
    """The most probable class of every item under each criterion; its probability is the confidence."""
    chance = shown_probabilities(problem, posterior)[0]
    about = {
        "criterion": np.array(problem.criteria)[problem.unit_criterion],
        "item": np.array(problem.items)[problem.unit_item],
    }
    answer = np.array(problem.labels, dtype=object)[chance.argmax(axis=1)]
    return Claims(about, answer, chance.max(axis=1), problem.known >= 0)
