"""Ours, pairs being items and sides their labels: what was said of this very pair, nothing of its sides elsewhere."""

from __future__ import annotations

from benchmarks.aggregators.methods import CannotError
from benchmarks.aggregators.methods.voirdire_default import of_labels

NAME = "voirdire, pairs as labels"
USES_KNOWN = True


def answer(task):
    if task.votes is None:
        raise CannotError("the same as voirdire here")
    if task.labels.empty:
        raise CannotError("nobody has labelled these items")
    return of_labels(task)
