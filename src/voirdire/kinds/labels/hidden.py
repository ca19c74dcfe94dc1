"""The Hessian of models of labels: the curvature if classes were known, less what not knowing them hides.

With s_i,j the gradient of the log probability that item i is of class j and has its labels, and q_i,j the probability
of class j given the labels (Louis 1982, JRSS B 44),

    hidden = sum_i weight_i (sum_j q_i,j s_i,j s_i,j' - s_i s_i'),   s_i = sum_j q_i,j s_i,j.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.labels.expected import Belief, Expected
from voirdire.typing import Floats, Ints

TOGETHER = 4_000_000  # numbers of gradients of items that are held at once


def negative_hessian(expected: Expected, x: Floats) -> Floats:
    """Second derivatives of minus the log density of a model with confusion matrices.

    Parameters
    ----------
    expected : Expected
        Of the table.
    x : array, shape (size,)

    Returns
    -------
    array, shape (size, size)

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "no")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> problem = encode_labels(load_model("hierarchical-dawid-skene"), table)
    >>> negative_hessian(Expected(problem.density, problem.data), np.zeros(7)).shape
    (7, 7)
    """
    found, slices = expected.expectation_step(x), expected.density.parameter_slices
    rows, shares = expected.complete(found)
    out = np.diag(expected.precision)
    _add_blocks(out, slices["class_share"].start, shares)
    if "confusion" in slices:
        _add_blocks(out, slices["confusion"].start, rows.sum(axis=0))
    if "confusion_judge" in slices:
        _add_blocks(out, slices["confusion_judge"].start, rows.reshape(-1, *rows.shape[2:]))
    if "confusion" in slices and "confusion_judge" in slices:
        panel, own, size = slices["confusion"].start, slices["confusion_judge"].start, rows.shape[-1]
        for judge, by_class in enumerate(rows):
            for j, block in enumerate(by_class):
                a, b = panel + j * size, own + (judge * len(by_class) + j) * size
                out[a : a + size, b : b + size] += block
                out[b : b + size, a : a + size] += block
    items = max(1, TOGETHER // len(x))
    for start in range(0, len(expected.weight), items):
        _take_hidden(out, expected, found, slice(start, start + items))
    return out


def _take_hidden(out: Floats, expected: Expected, found: Belief, here: slice) -> None:
    """Take what not knowing the classes of some items hides."""
    weight, counts = expected.weight[here], expected.counts.rows(here)
    counts = counts.reshape(len(weight), expected.judges, -1)
    labelled, q = counts.sum(axis=-1, keepdims=True), found.of_item[:, here] / weight
    mean = np.zeros((len(weight), expected.density.size))
    for j, chance in enumerate(q):
        of_share = (np.eye(len(q))[j] - found.shares) @ expected.of_classes  # (criteria, classes - 1)
        of_share = expected.under[:, here].T[:, :, None] * of_share
        own = (counts - labelled * found.rates[:, j]) @ expected.of_labels  # (items, judges, labels - 1)
        slope, place = _class_gradients(expected, j, of_share, own)
        mean[:, place] += chance[:, None] * slope
        slope *= np.sqrt(weight * chance)[:, None]
        out[np.ix_(place, place)] -= slope.T @ slope
    mean *= np.sqrt(weight)[:, None]
    out += mean.T @ mean


def _class_gradients(expected: Expected, j: int, of_share: Floats, own: Floats) -> tuple[Floats, Ints]:
    """Gradients given class j, shape (items, some coordinates), and which coordinates these are."""
    slices, (items, judges, size) = expected.density.parameter_slices, own.shape
    share, each = slices["class_share"], np.arange(size)
    parts, columns = [of_share.reshape(items, -1)], [np.arange(share.start, share.stop)]
    if "confusion" in slices:
        parts.append(own.sum(axis=1))
        columns.append(slices["confusion"].start + j * size + each)
    if "confusion_judge" in slices:
        parts.append(own.reshape(items, -1))
        row = np.arange(judges)[:, None] * expected.density.classes + j
        columns.append(slices["confusion_judge"].start + (row * size + each).ravel())
    return np.concatenate(parts, axis=1), np.concatenate(columns)


def _add_blocks(matrix: Floats, start: int, blocks: Floats) -> None:
    """Add square blocks, shape (blocks, n, n), along the diagonal from a place on."""
    size = blocks.shape[-1]
    for number, block in enumerate(blocks):
        here = slice(start + number * size, start + (number + 1) * size)
        matrix[here, here] += block
