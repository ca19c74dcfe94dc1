"""How sure a fit of labels may be of classes: as sure as judges who were left out bear out.

Judges who share mistakes are counted as witnesses many times over. The belief in classes

    P(j | labels of i) ~ (share_j prod_k,l rate_k,j,l ^ n_i,k,l) ^ (w ^ a)

is weighed down the more, the less the panel is worth: w, up to 1, predicts best, in log loss, what each judge says of
an item by the others' labels, as if a person agreed with the panel as its judges do with each other; and a grows
evenly from 0, where the panel is worth at least 0.8 of its judges, to 1, where it is worth half of them or less. Of
judges who err independently a is 0: each errs by itself, and their agreement with each other says too little of the
class. Where they share what an item looks like, w alone would do, but how much they share is known only roughly. And
where a panel is worth less than half and the classes found do not carry their names, as items of one are mostly
called another, the probability of a class is that of the label: what a judge of the panel says of items like it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.dependence import residuals
from voirdire.kinds.labels.influence import Given, labels_given, without
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.trust.dependence import correlations, effective_size
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats

LEAST = 1e-3  # weight of labels
LARGEST = 2_000_000  # pairs of items and judges times classes that are looked at
HALF = 0.5  # of the judges: fewer independent ones than that are a panel that depends on itself
MOST = 0.8  # of the judges: as many independent ones may be by chance where all are
FOUND = 0.01  # share of the items from which a class is one that was found


class Stated(NamedTuple):
    """How beliefs are stated: the weight of labels, and P(label | class) where classes do not carry their names."""

    weight: float = 1.0
    named: Floats | None = None

    def of(self, joint: Floats) -> Floats:
        """P(class) from log P(class, labels), shape (items, classes)."""
        belief = np.exp(log_softmax(self.weight * joint, joint.shape[1], np))
        if self.named is None:
            return np.asarray(belief)
        sure = belief.max(axis=1, keepdims=True) > 1.0 - 1e-12
        known = (joint < -1e8).any(axis=1, keepdims=True) & sure
        return np.asarray(np.where(known, belief, belief @ self.named))


def stated(problem: LabelsProblem, posterior: Posterior) -> Stated:
    """How a fit states its beliefs."""
    density = problem.density
    if not density.latent or density.graded or len(problem.judges) < 3:
        return Stated()
    values, rng = posterior.central_values, np.random.default_rng(0)
    left = residuals(problem, Posterior(density, posterior.centre, None), rng)
    share = _worth(left) / len(left.judges)
    if not share < MOST:
        return Stated()
    named = _unnamed(problem, values) if share < HALF else None
    if named is not None:
        return Stated(1.0, named)
    return Stated(_weight(problem, values) ** min(1.0, (MOST - share) / (MOST - HALF)))


def _worth(left: Residuals) -> float:
    """How many independent judges a panel is worth: by the spread of its residuals, or by that of their mean.

    The former (:class:`voirdire.trust.dependence.Dependence`) sees few that are close, the latter,
    K / (1 + (K - 1) rho) with rho the mean correlation (Kish 1965), what all have a little of.
    """
    judges = len(left.judges)
    rho = correlations(left).rho[~np.eye(judges, dtype=bool)].mean()
    return min(effective_size(left), judges / (1.0 + (judges - 1) * max(float(rho), 0.0)))


def _unnamed(problem: LabelsProblem, values: Values) -> Floats | None:
    """P(label | class) among the classes, over judges alike, where some class found is mostly called another."""
    density, part = problem.density, problem.data["labels"]
    belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
    size = (belief * part["weight"][:, None]).sum(axis=0)
    rates = np.exp(density.rates(values, np)).mean(axis=0)[:, : problem.classes]
    rates /= rates.sum(axis=1, keepdims=True)
    astray = (rates.argmax(axis=1) != np.arange(problem.classes)) & (size > FOUND * size.sum())
    astray[list(density.anchored)] = False  # what people named is what it is
    return rates if astray.any() else None


def _weight(problem: LabelsProblem, values: Values) -> float:
    """The weight of labels by which what judges say is best predicted by the others' labels of the item."""
    from scipy.optimize import minimize_scalar

    pairs = labels_given(problem)
    kept = slice(None, None, max(1, -(-len(pairs.unit) * problem.classes // LARGEST)))
    pairs = Given(pairs.unit[kept], pairs.judge[kept], pairs.counts[kept])
    others = without(problem, values, pairs)[0]
    said = pairs.counts[:, : problem.classes]

    def loss(log_weight: float) -> float:
        log = log_softmax(np.exp(log_weight) * others, problem.classes, np)
        return -float((said * np.maximum(log, -50.0)).sum())

    best = minimize_scalar(loss, bounds=(np.log(LEAST), 0.0), method="bounded", options={"xatol": 1e-3})
    return 1.0 if loss(0.0) <= best.fun else float(np.exp(best.x))
