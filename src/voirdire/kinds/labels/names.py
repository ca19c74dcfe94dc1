"""Classes that were found and do not carry their names.

Where judges share so much that they are worth less than half of their number, and items of a class that was found are
mostly called another, what is found is how items look to the panel. The probability of a class then is that of the
label: what a judge of the panel says of items like it.
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.posterior import Posterior
from voirdire.kinds.labels.dependence import label_residuals
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.terms.confusion import log_softmax
from voirdire.model.terms.reliability import Values
from voirdire.trust.dependence import effective_size, residual_correlations
from voirdire.trust.residuals import Residuals
from voirdire.typing import Floats

HALF = 0.5  # of the judges: fewer independent ones than that are a panel that depends on itself
FOUND = 0.01  # share of the items from which a class is one that was found


def misnamed_class_rates(problem: LabelsProblem, posterior: Posterior) -> Floats | None:
    """P(label | class) among the classes, over judges alike, where classes do not carry their names."""
    density = problem.density
    if not density.latent or density.has_grades or len(problem.judges) < 3:
        return None
    rates = _rates_if_misnamed(problem, posterior.central_values)
    if rates is None:
        return None
    centre = Posterior(density, posterior.centre, None)
    left = label_residuals(problem, centre, np.random.default_rng(0))
    return rates if _effective_judges(left) < HALF * len(left.judges) else None


def _effective_judges(left: Residuals) -> float:
    """Number of independent judges that a panel is worth: by the spread of its residuals, or by that of their mean.

    The former (:class:`voirdire.trust.dependence.Dependence`) sees few that are close, the latter,
    K / (1 + (K - 1) rho) with rho the mean correlation (Kish 1965), what all have a little of.
    """
    judges = len(left.judges)
    rho = residual_correlations(left).rho[~np.eye(judges, dtype=bool)].mean()
    return min(effective_size(left), judges / (1.0 + (judges - 1) * max(float(rho), 0.0)))


def _rates_if_misnamed(problem: LabelsProblem, values: Values) -> Floats | None:
    """P(label | class) where some class that was found is mostly called another."""
    density, part = problem.density, problem.data["labels"]
    belief = np.exp(log_softmax(density.joint(values, problem.data, np), problem.classes, np))
    size = (belief * part["weight"][:, None]).sum(axis=0)
    rates = np.exp(density.rates(values, np)).mean(axis=0)[:, : problem.classes]
    rates /= rates.sum(axis=1, keepdims=True)
    astray = (rates.argmax(axis=1) != np.arange(problem.classes)) & (size > FOUND * size.sum())
    astray[list(density.anchored)] = False  # what people named is what it is
    return rates if astray.any() else None
