"""Distances between sets of labels: 0 for the same set, 1 for sets without a label in common.

With J(A, B) = |A and B| / |A or B| (Jaccard 1901; J of two empty sets is 1):

- jaccard   1 - J
- masi      1 - J M, where M is 1 for the same set, 2/3 where one holds the other, 1/3 where they overlap, else 0

Passonneau, Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation, LREC 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from voirdire.agreement.engine.statistic import FloatArray

SetDistance: TypeAlias = Literal["jaccard", "masi"]


def set_distances(members: Sequence[Sequence[str]], distance: SetDistance) -> FloatArray:
    """Distances between sets of labels, two by two.

    Parameters
    ----------
    members : sequence of sequences of str
        The labels of each set, each once.
    distance : {"jaccard", "masi"}

    Returns
    -------
    float array, shape (sets, sets)
        Symmetric, between 0 and 1.

    Examples
    --------
    >>> set_distances([("a", "b"), ("a", "b", "c", "d")], "masi").round(4).tolist()
    [[0.0, 0.6667], [0.6667, 0.0]]
    >>> set_distances([("a",), ("a", "b"), ()], "jaccard").tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    vocabulary = {label: place for place, label in enumerate(sorted({one for of in members for one in of}))}
    holds = np.zeros((len(members), len(vocabulary)))
    for row, of in enumerate(members):
        holds[row, [vocabulary[label] for label in of]] = 1.0
    size = holds.sum(axis=1)
    common = holds @ holds.T
    either = size[:, None] + size - common
    alike: FloatArray = np.divide(common, either, out=np.ones_like(common), where=either > 0)
    if distance == "masi":
        smaller = np.minimum(size[:, None], size)
        kinds = [alike == 1, common == smaller, common > 0]
        alike = alike * np.select(kinds, [1.0, 2 / 3, 1 / 3], 0.0)
    return 1 - alike
