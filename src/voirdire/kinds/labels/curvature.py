"""The Hessian of models of labels, and products with it for tables too large for a dense matrix.

The Hessian of minus the log density is the complete-data information (with known classes) minus the missing
information. With s_i,j the gradient of log P(class j and labels of item i), and q_i,j the probability of class j given
the labels (Louis 1982, JRSS B 44),

    missing = sum_i weight_i (sum_j q_i,j s_i,j s_i,j' - s_i s_i'),   s_i = sum_j q_i,j s_i,j.

In a product with a direction v of rates and shares, let t_i,j be the change of log P(class j and labels of item i):

    H v = (complete information) v - sum_i weight_i sum_j q_i,j (t_i,j - sum_b q_i,b t_i,b) s_i,j.

It takes two sums over the given labels for each direction.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.labels.expected import ExpectedLabels
from voirdire.typing import Floats

MAX_DIRECTIONS = 500  # largest number of directions that are multiplied at once by a whole matrix


def negative_hessian(expected: ExpectedLabels, x: Floats) -> Floats:
    """Second derivatives of minus the log density of a model with confusion matrices.

    Parameters
    ----------
    expected : ExpectedLabels
        Expected counts of the table.
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
    >>> negative_hessian(ExpectedLabels(problem.density, problem.data), np.zeros(7)).shape
    (7, 7)
    """
    curvature, blocks = Curvature(expected, x), -(-len(x) // MAX_DIRECTIONS)
    return np.concatenate([curvature.multiply(directions) for directions in np.array_split(np.eye(len(x)), blocks)])


class Curvature:
    """Second derivatives of minus a log density of labels at a point.

    Parameters
    ----------
    expected : ExpectedLabels
        Expected counts of a table.
    x : array, shape (size,)
    """

    def __init__(self, expected: ExpectedLabels, x: Floats) -> None:
        self._expected, self.found = expected, expected.expectation_step(x)
        self._chance = np.ascontiguousarray((self.found.of_item / expected.weight).T)  # (items, classes)

    def multiply(self, directions: Floats) -> Floats:
        """Multiply directions, shape (directions, size), by the second derivatives."""
        expected, belief, slices = self._expected, self.found, self._expected.density.parameter_slices
        rate_changes, share_changes = self._log_changes(directions)
        share_sums, by_label = np.zeros_like(share_changes), np.zeros_like(rate_changes)
        number, classes = directions.shape[0], belief.rates.shape[1]
        flat = np.ascontiguousarray(rate_changes.transpose(1, 3, 0, 2).reshape(-1, number * classes))
        label_sums, criteria = np.zeros_like(flat), expected.under.argmax(axis=0)
        for batch, counts in expected.counts.parts(flat.shape[1]):
            change = (counts @ flat).reshape(-1, number, classes) + share_changes[:, criteria[batch]].swapaxes(0, 1)
            q = self._chance[batch][:, None]
            change -= (q * change).sum(axis=-1, keepdims=True)
            change *= q * expected.weight[batch][:, None, None]
            label_sums += counts.T @ change.reshape(len(change), -1)
            for criterion in range(len(belief.shares)):
                share_sums[:, criterion] += change[criteria[batch] == criterion].sum(axis=0)
        by_label = label_sums.reshape(len(belief.rates), -1, number, classes).transpose(2, 0, 3, 1)
        label_counts, items = (belief.counts.sum(axis=-1, keepdims=True), belief.of_class.sum(axis=-1, keepdims=True))
        rate_pull = (
            label_counts * belief.rates * rate_changes - by_label + by_label.sum(axis=-1, keepdims=True) * belief.rates
        )
        share_pull = (
            items * belief.shares * share_changes - share_sums + share_sums.sum(axis=-1, keepdims=True) * belief.shares
        )
        out = expected.precision * directions
        if "confusion" in slices:
            out[:, slices["confusion"]] += (rate_pull.sum(axis=1) @ expected.of_labels).reshape(number, -1)
        if "confusion_judge" in slices:
            out[:, slices["confusion_judge"]] += (rate_pull @ expected.of_labels).reshape(number, -1)
        out[:, slices["class_share"]] += (share_pull @ expected.of_classes).reshape(number, -1)
        return out

    def _log_changes(self, directions: Floats) -> tuple[Floats, Floats]:
        """Changes of log rates (directions, judges, classes, labels) and log shares (directions, criteria, classes)."""
        expected, belief, slices = self._expected, self.found, self._expected.density.parameter_slices
        number, (judges, classes, _) = len(directions), belief.rates.shape
        logits = np.zeros((number, *belief.rates.shape))
        if "confusion" in slices:
            panel = directions[:, slices["confusion"]].reshape(number, classes, -1) @ expected.of_labels.T
            logits += panel[:, None]
        if "confusion_judge" in slices:
            judge_logits = directions[:, slices["confusion_judge"]].reshape(number, judges, classes, -1)
            logits += judge_logits @ expected.of_labels.T
        shares = directions[:, slices["class_share"]].reshape(number, len(belief.shares), -1)
        shares = shares @ expected.of_classes.T
        logits -= (belief.rates * logits).sum(axis=-1, keepdims=True)
        return logits, shares - (belief.shares * shares).sum(axis=-1, keepdims=True)

    def judge_blocks(self) -> Floats:
        """Second derivatives by the values of each judge, shape (judges, n, n), n = classes x (labels - 1).

        Exact for judges who label no item twice, approximate for others.
        """
        expected, belief = self._expected, self.found
        judges, classes, labels = belief.rates.shape
        size = classes * (labels - 1)
        q, weight = self._chance, expected.weight[:, None]
        pairs = [(a, b) for a in range(classes) for b in range(a, classes)]
        hidden_weight = np.stack([weight[:, 0] * (q[:, a] * (a == b) - q[:, a] * q[:, b]) for a, b in pairs])
        pair_counts = expected.counts.by_label(hidden_weight).reshape(len(pairs), judges, labels)
        plane = expected.of_labels
        # gradient of each label in the row of each class
        slope = (np.eye(labels)[None, None] - belief.rates[:, :, None, :]) @ plane
        rows, _ = expected.complete_information(belief)
        out = np.zeros((judges, classes, labels - 1, classes, labels - 1))
        for (a, b), counts in zip(pairs, pair_counts, strict=True):
            hidden = np.einsum("kl,kla,klb->kab", counts, slope[:, a], slope[:, b], optimize=True)
            out[:, a, :, b] -= hidden
            if a == b:
                out[:, a, :, a] += rows[:, a]
            else:
                out[:, b, :, a] -= hidden.swapaxes(1, 2)
        prior = float(expected.precision[expected.density.parameter_slices["confusion_judge"]][0])
        return out.reshape(judges, size, size) + prior * np.eye(size)
