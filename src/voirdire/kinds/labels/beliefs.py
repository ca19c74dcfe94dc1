"""Beliefs about the classes of items, averaged over draws of the posterior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voirdire.kinds.labels.density import LabelsDensity
from voirdire.kinds.labels.states import panel_class_probabilities
from voirdire.model.density import Data
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

FEW = 25  # draws that the classes of ordered labels are averaged over
TOGETHER = 4_000_000  # numbers of draws, items and classes that are held at once


def class_probabilities(
    density: LabelsDensity,
    draws: Sequence[Values],
    data: Data,
) -> Floats:
    """P(class | labels) of each distinct item, averaged over draws, shape (distinct, classes).

    Of ordered labels, whose items have no class but a value, it is what a judge of the panel says if asked anew.
    Without latent classes (``majority-label``) it is the share of draws in which the class is the item's most probable
    label; ties of that share it.
    """
    if density.latent and not density.shares_errors:
        return _average_probabilities(density, draws, data)
    total = np.zeros((len(data["labels"]["counts"]), density.classes))
    if density.has_grades and len(draws) > FEW:
        draws = draws[:: -(-len(draws) // FEW)]
    for values in draws:
        if density.has_grades:
            total += panel_class_probabilities(density, values, data)
        elif density.latent:
            joint = density.joint(values, data, np)
            total += np.exp(log_softmax(joint, density.classes, np))
        else:
            tendency = values["tendency"][:, : density.classes]
            # at the mode items with equally many labels are tied up to the search's tolerance
            best = tendency > tendency.max(axis=1, keepdims=True) - 1e-4
            total += best / best.sum(axis=1, keepdims=True)
    return total / len(draws)


def _average_probabilities(density: LabelsDensity, draws: Sequence[Values], data: Data) -> Floats:
    """As :func:`class_probabilities`, of judges who err independently, of many draws at once."""
    part, classes = data["labels"], density.classes
    items, cells = part["counts"].shape
    total = np.zeros((items, classes))
    each = max(1, TOGETHER // max(1, classes * max(items, cells)))
    for start in range(0, len(draws), each):
        some = draws[start : start + each]
        values = {name: np.stack([one[name] for one in some]) for name in some[0]}
        rates = density.rates(values, np).swapaxes(-3, -2).reshape(len(some) * classes, -1)
        joint = (part["counts"] @ rates.T).reshape(items, len(some), classes).swapaxes(0, 1)
        joint = (joint + density.shares(values, np)[:, part["criterion"]] + part["known"]).reshape(
            -1, classes
        )
        belief = np.exp(log_softmax(joint, classes, np))
        total += belief.reshape(len(some), items, classes).sum(axis=0)
    return total / len(draws)
