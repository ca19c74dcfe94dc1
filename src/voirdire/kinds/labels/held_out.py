"""Probability of labels that a model has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

import numpy as np

from voirdire.infer.mode import find_mode
from voirdire.kinds.held_out import Seen, scored
from voirdire.kinds.labels.chances import chances, check_single
from voirdire.kinds.labels.problem import LabelsProblem, pose_labels
from voirdire.typing import Ints


def held_out(whole: LabelsProblem, fold: Ints) -> Seen:
    """Log probability of each label of a problem, of fits that have not seen its fold.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    model, table = whole.model, whole.table
    check_single(whole)
    out = np.zeros((table.rows, len(whole.labels)))
    for number in np.unique(fold):
        here = fold == number
        classes, families = whole.labels[: whole.classes], whole.families
        seen = pose_labels(model, table.subset(~here), classes=classes, families=families)
        values = seen.density.values(find_mode(seen).x, np)
        rows = (table.judge[here], table.criterion[here], table.item[here])
        out[here] = chances(seen, values, rows)
    return scored(out, whole.given(table))
