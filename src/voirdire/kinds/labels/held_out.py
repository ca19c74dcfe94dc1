"""Probability of labels that a model has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.kinds.held_out import Seen, scored
from voirdire.kinds.labels.chances import chances
from voirdire.kinds.labels.problem import pose_labels
from voirdire.model.specs import Model
from voirdire.tables.labels import Labels
from voirdire.typing import Ints


def held_out(model: Model, table: Labels, fold: Ints, classes: Sequence[object] | None = None) -> Seen:
    """Log probability of each label, of fits that have not seen its fold.

    Raises
    ------
    InputError
        The model knows no classes, from which labels could be predicted.
    """
    whole = pose_labels(model, table, classes=classes)
    if not whole.density.latent:
        raise InputError(f"model {model.name} gives no probability of single labels; leave it out")
    out = np.zeros((table.rows, len(whole.labels)))
    for number in np.unique(fold):
        here = fold == number
        seen = pose_labels(model, table.subset(~here), classes=whole.labels[: whole.classes])
        values = seen.density.values(find_mode(seen).x, np)
        rows = (table.judge[here], table.criterion[here], table.item[here])
        out[here] = chances(seen, values, rows)
    return scored(out, whole.given(table))
