"""Gradient of ordered labels from the expected counts of labels at each value (E step of Dempster et al. 1977).

Let q_i,x be the probability of node x of the value of distinct item i (times the number of such items). The expected
number of labels l by judge k at node x is N_k,x,l = sum_i q_i,x n_i,k,l. The gradient of the log likelihood is that of
sum N_k,x,l log P(l | x, k) with fixed N (Fisher's identity). Effects e are also summed out: those of a judge alone
beforehand, P(l | x, k) = sum_e w_e P(l | x, e, k), those of a family item by item. Tables have no known classes.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.labels.layout import LabelsLayout, Patterns
from voirdire.model.density import Data
from voirdire.model.terms.arrays import log_sigmoid
from voirdire.model.terms.cumulative import level_log_probabilities, log_expectation
from voirdire.model.terms.cutpoints import spread_cutpoints
from voirdire.model.terms.parameters import LogExponential, Normal
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
