"""Probability of labels that a model has not seen; see :mod:`voirdire.kinds.held_out`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.mode import find_mode
from voirdire.kinds.held_out import Seen, scored
from voirdire.kinds.labels.influence import codes
from voirdire.kinds.labels.problem import pose_labels
from voirdire.model.specs import Model
from voirdire.model.terms.confusion import log_softmax
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
    given, unit = codes(whole), table.criterion * len(table.items) + table.item
    out = np.zeros((table.rows, len(whole.labels)))
    for number in np.unique(fold):
        here = fold == number
        seen = pose_labels(model, table.subset(~here), classes=whole.labels[: whole.classes])
        density = seen.density
        values = density.values(find_mode(seen).x, np)
        joint = density.shares(values, np)[
            table.criterion[here]
        ]  # of an item without any label that was seen
        known = seen.unit_criterion * len(table.items) + seen.unit_item
        place = np.minimum(np.searchsorted(known, unit[here]), len(known) - 1)
        there = known[place] == unit[here]
        joint[there] = density.joint(values, seen.data, np)[seen.unit_row][place[there]]
        belief = np.exp(log_softmax(joint, whole.classes, np))
        rates = np.exp(density.rates(values, np))
        judge = table.judge[here]
        out[here] = np.einsum("rj,rjl->rl", belief, rates[judge if len(rates) > 1 else judge * 0])
    return scored(out, given)
