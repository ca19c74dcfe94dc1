"""Gradient and information of models of labels from expected counts of classes (E step of Dempster et al. 1977).

Let q_i,j be the probability of class j of distinct item i (times the number of such items), and
N_k,j,l = sum_i q_i,j n_i,k,l the expected number of labels l by judge k on items of class j. The gradient of the log
likelihood is that of the multinomials of N (Fisher's identity): in the logits of row j of judge k it is
N_k,j,. - N_k,j r_k,j,., with r the rates and N_k,j the row's sum.

Minus the Hessian of these multinomials, N_k,j (diag r - r r'), plus the prior's precision is positive definite, and an
upper bound of the information of the posterior; the difference is the missing information (Louis 1982, JRSS B 44). It
has a block of size (labels - 1) for each row of each judge, bordered by the panel's row, so that its inverse costs as
much as one gradient. EM uses it for its steps; here it is the metric of a quasi-Newton search, which learns the
difference (:mod:`.labels.curvature`). If most judges labelled few of the items, sums run over the given labels only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.kinds.labels.layout import LabelCounts, LabelsLayout
from voirdire.model.density import Data
from voirdire.model.terms.arrays import zero_sum
from voirdire.model.terms.parameters import Normal
from voirdire.typing import Floats


class Belief(NamedTuple):
    """Expectations at a point.

    Attributes
    ----------
    log_likelihood : float
    of_item : array, shape (classes, items)
        P(class | labels), times the items' weight.
    counts : array, shape (judges, classes, labels)
        Expected number of labels by a judge on items of a class.
    rates : array, shape (judges, classes, labels)
        P(label | class).
    of_class : array, shape (criteria, classes)
        Expected number of items of a class.
    shares : array, shape (criteria, classes)
        P(class).
    """

    log_likelihood: float
    of_item: Floats
    counts: Floats
    rates: Floats
    of_class: Floats
    shares: Floats


class ExpectedLabels:
    """The log density of a model with confusion matrices, its gradient and its complete-data curvature.

    Parameters
    ----------
    density : LabelsLayout
        A density with confusion matrices.
    data : dict
        The ``data`` of a :class:`voirdire.kinds.labels.problem.LabelsProblem`.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "no")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> problem = encode_labels(load_model("hierarchical-dawid-skene"), table)
    >>> value, slope = ExpectedLabels(problem.density, problem.data).value_gradient(np.zeros(problem.density.size))
    >>> bool(np.isclose(-value, problem.density.log_density(np.zeros(7), problem.data, np)))
    True
    """

    def __init__(self, density: LabelsLayout, data: Data) -> None:
        part = data["labels"]
        self.density = density
        self._known = part["known"].T
        self.weight = np.asarray(part["weight"], dtype=float)
        self.under = (part["criterion"] == np.arange(density.criteria)[:, None]).astype(float)
        self.counts = LabelCounts(part["counts"])
        self.judges = part["counts"].shape[1] // density.labels
        self.of_labels, self.of_classes = _zero_sum_basis(density.labels), _zero_sum_basis(density.classes)
        self._lean = density.model.reliability.numbers["lean"] * np.eye(density.classes, density.labels)
        self.precision = np.empty(density.size)
        self._constant = 0.0
        for parameter in density.parameters:
            span, prior = density.parameter_slices[parameter.name], parameter.prior
            assert isinstance(prior, Normal)  # every parameter of labels has this prior
            self.precision[span] = prior.sd**-2
            self._constant += float(prior.log_density(np.zeros(span.stop - span.start), np).sum())

    def value_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient at a flat vector."""
        belief, slices = self.expectation_step(x), self.density.parameter_slices
        pull = belief.counts - belief.counts.sum(axis=-1, keepdims=True) * belief.rates
        slope = self.precision * x
        if "confusion" in slices:
            slope[slices["confusion"]] -= (pull.sum(axis=0) @ self.of_labels).ravel()
        if "confusion_judge" in slices:
            slope[slices["confusion_judge"]] -= (pull @ self.of_labels).ravel()
        share_pull = belief.of_class - belief.of_class.sum(axis=-1, keepdims=True) * belief.shares
        slope[slices["class_share"]] -= (share_pull @ self.of_classes).ravel()
        log_prior = self._constant - 0.5 * float(self.precision @ (x * x))
        return -(belief.log_likelihood + log_prior), slope

    def inverse_information(self, x: Floats) -> Callable[[Floats], Floats]:
        """Function that multiplies by the inverse of the complete-data information at a flat vector."""
        slices, (rows, shares) = self.density.parameter_slices, self.complete_information(self.expectation_step(x))
        share = _invert_matrices(shares + self._prior_precision("class_share", shares.shape[-1]))
        if "confusion_judge" in slices:
            judge_inverse = _invert_matrices(rows + self._prior_precision("confusion_judge", rows.shape[-1]))
        if "confusion" in slices:
            panel = rows.sum(axis=0) + self._prior_precision("confusion", rows.shape[-1])
            if "confusion_judge" in slices:
                shared = rows @ judge_inverse
                panel = panel - (shared @ rows).sum(axis=0)
            panel = _invert_matrices(panel)

        def apply_metric(slope: Floats) -> Floats:
            step = np.empty_like(slope)
            share_slope = slope[slices["class_share"]].reshape(share.shape[:-1])
            step[slices["class_share"]] = _multiply_vectors(share, share_slope).ravel()
            judge_slope = (
                slope[slices["confusion_judge"]].reshape(rows.shape[:-1]) if "confusion_judge" in slices else None
            )
            if "confusion" in slices:
                panel_slope = slope[slices["confusion"]].reshape(panel.shape[:-1])
                if judge_slope is not None:
                    panel_slope = panel_slope - _multiply_vectors(shared, judge_slope).sum(axis=0)
                panel_step = _multiply_vectors(panel, panel_slope)
                step[slices["confusion"]] = panel_step.ravel()
                if judge_slope is not None:
                    judge_slope = judge_slope - _multiply_vectors(rows, panel_step[None])
            if judge_slope is not None:
                step[slices["confusion_judge"]] = _multiply_vectors(judge_inverse, judge_slope).ravel()
            return step

        return apply_metric

    def complete_information(self, belief: Belief) -> tuple[Floats, Floats]:
        """Complete-data information (with known classes) of rows and shares, in free coordinates.

        Shapes (judges, classes, labels - 1, labels - 1) and (criteria, classes - 1, classes - 1).
        """
        rows = _multinomial_information(belief.counts.sum(axis=-1), belief.rates, self.of_labels)
        return rows, _multinomial_information(belief.of_class.sum(axis=-1), belief.shares, self.of_classes)

    def _prior_precision(self, name: str, size: int) -> Floats:
        return float(self.precision[self.density.parameter_slices[name]][0]) * np.eye(size)

    def expectation_step(self, x: Floats) -> Belief:
        """Compute the E step at a flat vector."""
        density, slices = self.density, self.density.parameter_slices
        classes, labels, judges = density.classes, density.labels, self.judges
        logits = self._lean[None]
        if "confusion" in slices:
            logits = logits + x[slices["confusion"]].reshape(classes, -1) @ self.of_labels.T
        if "confusion_judge" in slices:
            logits = logits + x[slices["confusion_judge"]].reshape(judges, classes, -1) @ self.of_labels.T
        log_rates = logits - _log_sum(logits)
        shares = x[slices["class_share"]].reshape(density.criteria, -1) @ self.of_classes.T
        log_shares = shares - _log_sum(shares)
        # classes first: sums over few classes are then sums of long rows
        joint = self.counts.by_item(log_rates.transpose(1, 0, 2).reshape(classes, judges * labels))
        joint = joint + (log_shares.T @ self.under + self._known)
        top = joint.max(axis=0)
        parts = np.exp(joint - top)
        total = parts.sum(axis=0)
        belief = parts * (self.weight / total)
        expected = self.counts.by_label(belief).reshape(classes, judges, labels).transpose(1, 0, 2)
        log_likelihood = float(self.weight @ (top + np.log(total)))
        of_class = self.under @ belief.T
        return Belief(log_likelihood, belief, expected, np.exp(log_rates), of_class, np.exp(log_shares))


def _zero_sum_basis(size: int) -> Floats:
    """Matrix that maps free coordinates to values of zero sum, shape (size, size - 1)."""
    return np.asarray(zero_sum(np.eye(size - 1), size, np)).T


def _multinomial_information(total: Floats, rates: Floats, plane: Floats) -> Floats:
    """Information of multinomials with totals (...) and rates (..., n) on the free coordinates of their logits."""
    projected = rates @ plane
    size = plane.shape[1]
    outer = (plane[:, :, None] * plane[:, None, :]).reshape(len(plane), -1)
    square = (rates @ outer).reshape((*rates.shape[:-1], size, size))
    return np.asarray(total[..., None, None] * (square - projected[..., :, None] * projected[..., None, :]))


def _invert_matrices(matrices: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrices), dtype=float)


def _multiply_vectors(matrices: Floats, vectors: Floats) -> Floats:
    """Multiply matrices (..., n, n) by vectors (..., n)."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])


def _log_sum(x: Floats) -> Floats:
    top = x.max(axis=-1, keepdims=True)
    return np.asarray(top + np.log(np.exp(x - top).sum(axis=-1, keepdims=True)))
