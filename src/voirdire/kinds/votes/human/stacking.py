"""Stacking: a Bayesian logistic regression of people's answers on the judges' answers.

For a comparison p let x_p be the judges' mean answers (+1 the one item, -1 the other, 0 neither or both). Then

    P(people prefer the one item) = sigmoid(beta' x_p),   beta ~ Normal(0, scale * S),

without an intercept, so that naming the items the other way round changes nothing. The prior covariance S is one of
several: the identity (ridge); powers of the judges' own second moment matrix over all comparisons, anchored or not,
which expect good weights along what many judges share; and equal weights within families. Scales and covariances are
averaged by their evidence (Laplace approximation; Rasmussen and Williams 2006, Gaussian Processes for Machine
Learning, section 3.4), so that nothing is tuned. Copies of a judge share a direction and so count once.

Leave-one-out probabilities come from the Laplace approximation's cavity (Vehtari et al. 2016, JMLR 17, section 3),
with the evidence of each prior divided by what the left-out answer added to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from voirdire.typing import Floats, Ints

SCALES = (1.0, 3.0, 10.0, 30.0, 100.0)  # prior variances of the log-odds of an average comparison
POWERS = (0.0, 0.5, 1.0)  # of the judges' second moments; 0 is ridge
_NEWTON_STEPS = 100


@dataclass(frozen=True, eq=False)
class Stacked:
    """Probabilities by stacking.

    Attributes
    ----------
    p : array, shape (comparisons,)
        Probability that people prefer the one item.
    left_out : array, shape (anchors,)
        The same of each anchored comparison, had it not been anchored.
    evidence : dict
        Posterior probability of each prior covariance (scales summed).
    """

    p: Floats
    left_out: Floats
    evidence: dict[str, float]


def stack(features: Floats, anchored: Ints, answers: Floats, family: Ints | None = None) -> Stacked:
    """Learn from anchored comparisons how to weigh judges, and predict all.

    Parameters
    ----------
    features : array, shape (comparisons, judges)
        Mean answers, from -1 to 1.
    anchored : int array, shape (anchors,)
        Rows of ``features`` that people answered.
    answers : array, shape (anchors,)
        +1 or -1.
    family : int array, shape (judges,), optional
        Codes of the judges' families.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> found = stack(x, np.array([0, 1, 2]), np.array([1.0, 1.0, -1.0]))
    >>> bool(found.p[3] < 0.5)
    True
    """
    found = kernels(features, family)
    names = [name for name in found for _ in SCALES]
    fits = [_laplace(scale * kernel, anchored, answers) for kernel in found.values() for scale in SCALES]
    evidence = np.array([fit[0] for fit in fits])
    p = np.stack([fit[1] for fit in fits])
    left_out = np.stack([fit[2] for fit in fits])
    weight = _normalised(evidence)
    agreed = np.where(answers > 0, left_out, 1.0 - left_out)
    without = _normalised(evidence[:, None] - np.log(agreed))
    by_name = {name: float(weight[[n == name for n in names]].sum()) for name in found}
    return Stacked(weight @ p, (without * left_out).sum(axis=0), by_name)


def kernels(features: Floats, family: Ints | None) -> dict[str, Floats]:
    """Prior covariances of the log-odds of all comparisons, each with mean variance 1."""
    u, s, _ = np.linalg.svd(features, full_matrices=False)
    found = {
        f"moment power {power:g}" if power else "ridge": (u * s ** (2 + 2 * power)) @ u.T for power in POWERS
    }
    if family is not None and len(np.unique(family)) < len(family):
        means = np.stack([features[:, family == code].mean(axis=1) for code in np.unique(family)], axis=1)
        found["families"] = means @ means.T
    return {name: kernel / max(float(np.mean(np.diag(kernel))), 1e-300) for name, kernel in found.items()}


def _laplace(kernel: Floats, anchored: Ints, y: Floats) -> tuple[float, Floats, Floats]:
    """Log evidence, probabilities of all comparisons, and leave-one-out ones of the anchored."""
    inner = kernel[np.ix_(anchored, anchored)]
    a, f, value = np.zeros(len(y)), np.zeros(len(y)), -np.inf  # f = inner a, the log-odds of the anchored
    for _ in range(_NEWTON_STEPS):
        slope, root = _slope(f, y)
        b = root**2 * f + slope
        system = np.eye(len(y)) + root[:, None] * inner * root
        step = b - root * np.linalg.solve(system, root * (inner @ b)) - a
        before = value
        for size in 0.5 ** np.arange(20):  # the objective is concave: a short enough step rises
            f = inner @ (a + size * step)
            value = float(log_expit(f * y).sum() - 0.5 * f @ (a + size * step))
            if value >= before:
                a = a + size * step
                break
        if value - before < 1e-10:
            break
    slope, root = _slope(f, y)
    system = np.eye(len(y)) + root[:, None] * inner * root
    log_evidence = log_expit(f * y).sum() - 0.5 * f @ slope - 0.5 * np.linalg.slogdet(system)[1]
    cross = root[:, None] * kernel[anchored]
    variance = np.maximum(np.diag(kernel) - (cross * np.linalg.solve(system, cross)).sum(axis=0), 0.0)
    p = _averaged(slope @ kernel[anchored], variance)
    own = np.maximum(variance[anchored], 1e-300)
    precision = np.maximum(1.0 / own - root**2, 1e-300)
    cavity = (f / own - root**2 * f - slope) / precision
    return float(log_evidence), p, _averaged(cavity, 1.0 / precision)


def _slope(f: Floats, y: Floats) -> tuple[Floats, Floats]:
    p = expit(f * y)
    return y * (1.0 - p), np.sqrt(np.maximum(p * (1.0 - p), 1e-12))


def _averaged(mean: Floats, variance: Floats) -> Floats:
    """Mean of sigmoid over a normal variable (MacKay 1992), kept off 0 and 1."""
    return np.asarray(np.clip(expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0)), 1e-12, 1.0 - 1e-12))


def _normalised(log: Floats) -> Floats:
    weight = np.exp(log - log.max(axis=0))
    return np.asarray(weight / weight.sum(axis=0))
