"""Sensitivity of a posterior to its prior, by power-scaling with importance weights.

With a component of the density (a prior) raised to the power a, draws of the posterior have the importance weights
component^(a - 1), Pareto-smoothed. How far a quantity's distribution moves is the cumulative Jensen-Shannon distance

    D = sqrt([CJS(P || Q) + CJS(Q || P)] / integral of P + Q),
    CJS(P || Q) = integral of P log2(2 P / (P + Q)) + integral of (Q - P) / (2 log 2),

of the distribution functions P of the draws and Q of the weighted draws, the larger of those of x and -x, and the
sensitivity its slope by log2(a) at a = 1 (Kallioinen, Paananen, Bürkner and Vehtari 2024, Statistics and Computing 34;
the distance: Nguyen and Vreeken 2015).
"""

from __future__ import annotations

import numpy as np

from voirdire.infer.importance import pareto_smoothed
from voirdire.typing import Floats

DELTA = 0.01  # a = 1 + DELTA and its inverse
BAD_K = 0.7  # Pareto shape above which weights are not to be trusted
INFORMATIVE = 0.05  # sensitivity from which a prior informs, as the paper has it


def power_sensitivity(quantity: Floats, log_component: Floats) -> float:
    """Sensitivity of a quantity to the power of a component; 0 where nothing moves, NaN if weights are too uneven.

    Parameters
    ----------
    quantity, log_component : array, shape (draws,)

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=4_000)
    >>> round(power_sensitivity(x, -0.5 * x**2), 2)  # a normal prior, and nothing else
    0.09
    >>> round(power_sensitivity(x, -0.05 * x**2), 3)  # a tenth of what is known is the prior's
    0.009
    """
    if np.ptp(quantity) == 0.0 or np.ptp(log_component) == 0.0:
        return 0.0
    order = np.argsort(quantity, kind="stable")
    found = 0.0
    for alpha in (1.0 / (1.0 + DELTA), 1.0 + DELTA):
        weights, k = pareto_smoothed((alpha - 1.0) * log_component)
        if k > BAD_K:
            return float("nan")
        found += 0.5 * symmetric_distance(quantity[order], weights[order])
    return found / float(np.log2(1.0 + DELTA))


def symmetric_distance(ordered: Floats, weights: Floats) -> float:
    """Distance of draws to weighted ones, the larger of those of x and -x.

    Parameters
    ----------
    ordered, weights : array, shape (draws,)
        Draws in ascending order; weights that sum to one.
    """
    return max(
        _jensen_shannon_distance(ordered, weights), _jensen_shannon_distance(-ordered[::-1], weights[::-1])
    )


def _jensen_shannon_distance(ordered: Floats, weights: Floats) -> float:
    width = np.diff(ordered)
    p = np.arange(1, len(ordered)) / len(ordered)
    q = np.cumsum(weights)[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log2(0.5 * (p + q))
        of_p = np.where(p > 0.0, p * (np.log2(p) - middle), 0.0)
        of_q = np.where(q > 0.0, q * (np.log2(q) - middle), 0.0)
    # the terms of Q - P and P - Q add up to nothing
    return float(np.sqrt(max(float(width @ (of_p + of_q)), 0.0) / float(width @ (p + q))))
