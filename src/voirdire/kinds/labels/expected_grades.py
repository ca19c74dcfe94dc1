"""Gradient of ordered labels from the expected counts of labels at each value (E step of Dempster et al. 1977).

With q_i,x the probability of the value's node x of distinct item i (times the items it stands for), judge k is expected
to have given label l at node x N_k,x,l = sum_i q_i,x n_i,k,l times. The gradient of the log likelihood is that of
sum N_k,x,l log P(l | x, k) with N held fixed (Fisher's identity), and likewise over the effects e that are summed out:
those of a judge alone beforehand, P(l | x, k) = sum_e w_e P(l | x, e, k), those of a family item by item. Of tables
without known classes.
"""

from __future__ import annotations

import numpy as np

from voirdire.kinds.labels.layout import LabelsLayout, Patterns
from voirdire.model.density import Data
from voirdire.model.terms.arrays import log_sigmoid
from voirdire.model.terms.cumulative import level_log_probabilities, log_expectation
from voirdire.model.terms.cutpoints import spread_cutpoints
from voirdire.model.terms.parameters import LogExponential, Normal
from voirdire.model.terms.shared_errors import EFFECTS, VALUES, gauss_hermite_rule
from voirdire.typing import Floats

_X, _LOG_V = gauss_hermite_rule(VALUES)
_E, _LOG_W = gauss_hermite_rule(EFFECTS)


class ExpectedGrades:
    """The log density of ``ordered-labels`` and its gradient.

    Parameters
    ----------
    density : LabelsLayout
        Of ordered labels.
    data : dict
        As :class:`voirdire.kinds.labels.problem.LabelsProblem` holds it, without known classes.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", 1), ("b", "x", 2), ("a", "y", 3), ("b", "y", 3)]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> problem = encode_labels(load_model("ordered-labels"), table)
    >>> value, slope = ExpectedGrades(problem.density, problem.data).both(np.zeros(problem.density.size))
    >>> bool(np.isclose(-value, problem.density.log_density(np.zeros(problem.density.size), problem.data, np)))
    True
    """

    def __init__(self, density: LabelsLayout, data: Data) -> None:
        self._density = density
        counts, self._weight = data["labels"]["counts"], data["labels"]["weight"]
        self._alone = np.ascontiguousarray(counts[:, density.columns(density.alone)])
        blocks = map(np.array, density.blocks)
        self._blocks = [(block, Patterns.of(counts[:, density.columns(block)])) for block in blocks]

    def both(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log density and its gradient at a flat vector."""

        density = self._density
        values = density.values(x, np)
        labels, judges = density.labels, density.judges
        sharp = np.exp(values["log_sharpness"] + values["log_sharpness_judge"])
        load = np.exp(values["log_load"])
        log_gap = values["log_gap"] + values["log_gap_judge"] if labels > 2 else None
        gap = np.zeros((judges, 0)) if log_gap is None else np.exp(log_gap)
        cuts = spread_cutpoints(values["cut_location"] + values["shift"], log_gap, labels, np)
        eta = sharp[:, None, None] * _X[:, None] + load[:, None, None] * _E
        scaled = sharp[:, None] * cuts
        logs = np.stack(level_log_probabilities(eta, scaled[:, None, None, :], labels, np), axis=1)
        log_likelihood, counts = self._likelihood_and_counts(logs)
        above = np.exp(log_sigmoid(eta[:, None] - scaled[:, :, None, None], np))
        pull = counts[:, 1:] * (1.0 - above) - counts[:, :-1] * above  # on eta, less each cutpoint
        of_eta, of_cut = pull.sum(axis=1), -pull.sum(axis=(2, 3))
        within = counts[:, 1:-1].sum(axis=(2, 3)) / np.expm1(np.maximum(sharp[:, None] * gap, 1e-300))
        of_sharp = of_eta.sum(axis=2) @ _X + (of_cut * cuts).sum(axis=1) + (within * gap).sum(axis=1)
        # a gap moves the cutpoints above it up by its half, and those below it down
        of_gap = 0.5 * of_cut.sum(axis=1, keepdims=True) - np.cumsum(of_cut, axis=1)[:, :-1] + within
        by_judge = {
            "log_sharpness_judge": of_sharp * sharp,
            "shift": sharp * of_cut.sum(axis=1),
            "log_gap_judge": sharp[:, None] * of_gap * gap,
            "log_load": load * (of_eta.sum(axis=1) @ _E),
        }
        slopes = by_judge | {
            "log_sharpness": by_judge["log_sharpness_judge"].sum(),
            "cut_location": by_judge["shift"].sum(),
            "log_gap": by_judge["log_gap_judge"].sum(axis=0),
        }
        return self._with_prior(x, log_likelihood, slopes)

    def _likelihood_and_counts(self, logs: Floats) -> tuple[float, Floats]:
        """Log likelihood, and the labels that judges are expected to have given, both of log P(label | value, effect).

        Shape (judges, labels, values, effects), of log P and of what is expected.
        """
        density, counts = self._density, self._alone
        labels, values, effects = logs.shape[1:]
        alone = density.alone
        rates = log_expectation(logs[alone], _LOG_W, np)
        log = counts @ rates.reshape(-1, values) + _LOG_V
        by_effect = []
        for block, patterns in self._blocks:
            # effects first: sums over a few of them are then sums of long rows
            nodes = np.ascontiguousarray(np.moveaxis(logs[block], 3, 0)).reshape(effects, -1, values)
            given = patterns.counts @ nodes + _LOG_W[:, None, None]
            most = given.max(axis=0)
            given -= most
            np.exp(given, out=given)
            total = given.sum(axis=0)
            given /= total
            by_effect.append(given)
            log += (most + np.log(total))[patterns.of_item]
        top = log.max(axis=1, keepdims=True)
        part = np.exp(log - top)
        total = part.sum(axis=1, keepdims=True)
        believed = part * (self._weight[:, None] / total)
        found = np.empty_like(logs)
        of_rates = (counts.T @ believed).reshape(-1, labels, values)
        found[alone] = of_rates[..., None] * np.exp(logs[alone] + _LOG_W - rates[..., None])
        for (block, patterns), effect in zip(self._blocks, by_effect, strict=True):
            expected = patterns.counts.T @ (effect * patterns.total(believed))
            found[block] = np.moveaxis(expected.reshape(effects, -1, labels, values), 0, 3)
        return float(self._weight @ (top + np.log(total))[:, 0]), found

    def _with_prior(
        self, x: Floats, log_likelihood: float, slopes: dict[str, Floats]
    ) -> tuple[float, Floats]:
        total, slope = log_likelihood, np.empty_like(x)
        for parameter in self._density.parameters:
            here, prior = self._density.parameter_slices[parameter.name], parameter.prior
            assert isinstance(prior, Normal | LogExponential)  # of every parameter of ordered labels
            total += float(prior.log_density(x[here], np).sum())
            if isinstance(prior, LogExponential):
                of_prior = 1.0 - prior.rate * np.exp(x[here])
            else:
                of_prior = -(x[here] - prior.mean) / prior.sd**2
            slope[here] = -(of_prior + np.ravel(slopes[parameter.name]))
        return -total, slope
