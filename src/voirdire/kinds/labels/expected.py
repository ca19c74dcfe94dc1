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

Gradient of ordered labels from the expected counts of labels at each value (E step of Dempster et al. 1977).

Let q_i,x be the probability of node x of the value of distinct item i (times the number of such items). The expected
number of labels l by judge k at node x is N_k,x,l = sum_i q_i,x n_i,k,l. The gradient of the log likelihood is that of
sum N_k,x,l log P(l | x, k) with fixed N (Fisher's identity). Effects e are also summed out: those of a judge alone
beforehand, P(l | x, k) = sum_e w_e P(l | x, e, k), those of a family item by item. Tables have no known classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.kinds.labels.layout import LabelCounts, LabelsLayout, Patterns
from voirdire.model.density import Data
from voirdire.model.terms.arrays import log_sigmoid, zero_sum
from voirdire.model.terms.cutpoints import spread_cutpoints
from voirdire.model.terms.parameters import LogExponential, Normal
from voirdire.model.terms.score_probabilities import level_log_probabilities, log_expectation
from voirdire.model.terms.shared_errors import EFFECT_NODES, VALUE_NODES, gauss_hermite_rule
from voirdire.typing import Floats

_VALUE_NODES, _VALUE_LOG_WEIGHTS = gauss_hermite_rule(VALUE_NODES)
_EFFECT_NODES, _EFFECT_LOG_WEIGHTS = gauss_hermite_rule(EFFECT_NODES)


class ExpectedGrades:
    """The log density of ``ordered-labels`` and its gradient.

    Parameters
    ----------
    density : LabelsLayout
        A density of ordered labels.
    data : dict
        The ``data`` of a :class:`voirdire.kinds.labels.problem.LabelsProblem`, without known classes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", 1), ("b", "x", 2), ("a", "y", 3), ("b", "y", 3)]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> problem = encode_labels(load_model("ordered-labels"), table)
    >>> value, slope = ExpectedGrades(problem.density, problem.data).value_gradient(np.zeros(problem.density.size))
    >>> bool(np.isclose(-value, problem.density.log_density(np.zeros(problem.density.size), problem.data, np)))
    True
    """

    def __init__(self, density: LabelsLayout, data: Data) -> None:
        self._density = density
        counts, self._weight = data["labels"]["counts"], data["labels"]["weight"]
        self._alone = np.ascontiguousarray(counts[:, density.judge_columns(density.unblocked_judges)])
        blocks = map(np.array, density.blocks)
        self._blocks = [(block, Patterns.from_counts(counts[:, density.judge_columns(block)])) for block in blocks]

    def value_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient at a flat vector."""

        density = self._density
        values = density.values(x, np)
        labels, judges = density.labels, density.judges
        sharp = np.exp(values["log_sharpness"] + values["log_sharpness_judge"])
        load = np.exp(values["log_load"])
        log_gap = values["log_gap"] + values["log_gap_judge"] if labels > 2 else None
        gap = np.zeros((judges, 0)) if log_gap is None else np.exp(log_gap)
        cuts = spread_cutpoints(values["cut_location"] + values["shift"], log_gap, labels, np)
        eta = sharp[:, None, None] * _VALUE_NODES[:, None] + load[:, None, None] * _EFFECT_NODES
        scaled = sharp[:, None] * cuts
        logs = np.stack(level_log_probabilities(eta, scaled[:, None, None, :], labels, np), axis=1)
        log_likelihood, counts = self._likelihood_and_counts(logs)
        above = np.exp(log_sigmoid(eta[:, None] - scaled[:, :, None, None], np))
        pull = counts[:, 1:] * (1.0 - above) - counts[:, :-1] * above  # gradient by eta minus each cutpoint
        of_eta, of_cut = pull.sum(axis=1), -pull.sum(axis=(2, 3))
        gap_pull = counts[:, 1:-1].sum(axis=(2, 3)) / np.expm1(np.maximum(sharp[:, None] * gap, 1e-300))
        of_sharp = of_eta.sum(axis=2) @ _VALUE_NODES + (of_cut * cuts).sum(axis=1) + (gap_pull * gap).sum(axis=1)
        # a gap moves the cutpoints above it up by half of it, and those below it down by half
        of_gap = 0.5 * of_cut.sum(axis=1, keepdims=True) - np.cumsum(of_cut, axis=1)[:, :-1] + gap_pull
        by_judge = {
            "log_sharpness_judge": of_sharp * sharp,
            "shift": sharp * of_cut.sum(axis=1),
            "log_gap_judge": sharp[:, None] * of_gap * gap,
            "log_load": load * (of_eta.sum(axis=1) @ _EFFECT_NODES),
        }
        slopes = by_judge | {
            "log_sharpness": by_judge["log_sharpness_judge"].sum(),
            "cut_location": by_judge["shift"].sum(),
            "log_gap": by_judge["log_gap_judge"].sum(axis=0),
        }
        return self._with_prior(x, log_likelihood, slopes)

    def _likelihood_and_counts(self, logs: Floats) -> tuple[float, Floats]:
        """Log likelihood, and expected counts of labels, from log P(label | value, effect).

        Log probabilities and counts have shape (judges, labels, values, effects).
        """
        density, counts = self._density, self._alone
        labels, values, effects = logs.shape[1:]
        alone = density.unblocked_judges
        rates = log_expectation(logs[alone], _EFFECT_LOG_WEIGHTS, np)
        log = counts @ rates.reshape(-1, values) + _VALUE_LOG_WEIGHTS
        by_effect = []
        for block, patterns in self._blocks:
            # effects first: sums over few effects are then sums of long rows
            nodes = np.ascontiguousarray(np.moveaxis(logs[block], 3, 0)).reshape(effects, -1, values)
            joint_log = patterns.counts @ nodes + _EFFECT_LOG_WEIGHTS[:, None, None]
            effect_max = joint_log.max(axis=0)
            joint_log -= effect_max
            np.exp(joint_log, out=joint_log)
            total = joint_log.sum(axis=0)
            joint_log /= total
            by_effect.append(joint_log)
            log += (effect_max + np.log(total))[patterns.of_item]
        top = log.max(axis=1, keepdims=True)
        part = np.exp(log - top)
        total = part.sum(axis=1, keepdims=True)
        belief = part * (self._weight[:, None] / total)
        expected_counts = np.empty_like(logs)
        of_rates = (counts.T @ belief).reshape(-1, labels, values)
        expected_counts[alone] = of_rates[..., None] * np.exp(logs[alone] + _EFFECT_LOG_WEIGHTS - rates[..., None])
        for (block, patterns), effect in zip(self._blocks, by_effect, strict=True):
            expected = patterns.counts.T @ (effect * patterns.sum_by_pattern(belief))
            expected_counts[block] = np.moveaxis(expected.reshape(effects, -1, labels, values), 0, 3)
        return float(self._weight @ (top + np.log(total))[:, 0]), expected_counts

    def _with_prior(self, x: Floats, log_likelihood: float, slopes: dict[str, Floats]) -> tuple[float, Floats]:
        total, slope = log_likelihood, np.empty_like(x)
        for parameter in self._density.parameters:
            span, prior = self._density.parameter_slices[parameter.name], parameter.prior
            assert isinstance(prior, Normal | LogExponential)  # all parameters of ordered labels
            total += float(prior.log_density(x[span], np).sum())
            if isinstance(prior, LogExponential):
                prior_slope = 1.0 - prior.rate * np.exp(x[span])
            else:
                prior_slope = -(x[span] - prior.mean) / prior.sd**2
            slope[span] = -(prior_slope + np.ravel(slopes[parameter.name]))
        return -total, slope


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
