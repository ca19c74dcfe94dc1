"""Shares of the classes given the judges' rates: mode and draws.

With the rates given, P(labels of i | class j) =: L_i,j is a number, and the shares of criterion c have the density

    p(s_c | rates, labels) = p(s_c) prod_{i under c} sum_j s_c,j L_i,j

in as many dimensions as there are classes less one, whatever the number of judges. The mode is found by Newton steps in
the free coordinates of the log shares; where the density is not log-concave the complete-data curvature, which bounds
the observed one (Louis 1982, JRSS B 44), takes its place. Draws are chosen, by their importance weights, from a few of
the multivariate t distribution there (sampling, importance resampling: Rubin 1988). Many rates are done at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voirdire.kinds.labels.density import LabelsDensity
from voirdire.model.density import Data
from voirdire.model.terms.arrays import zero_sum
from voirdire.model.terms.reliability import Values
from voirdire.typing import Floats

PROPOSALS = 16
FREEDOM = 10.0  # of their t distribution
STEPS, HALVINGS = 100, 30
TOLERANCE = 1e-8  # on the gradient, per item


class Likelihoods(NamedTuple):
    """P(labels | class) under one criterion, shape (rates, distinct, classes), scaled; how many items are alike."""

    of_class: Floats
    weight: Floats


class Modes(NamedTuple):
    """Modes (rates, classes - 1), roots of their inverse curvatures, and the largest component of a gradient."""

    x: Floats
    root: Floats
    gradient: float


def class_likelihoods(density: LabelsDensity, values: Values, data: Data) -> list[Likelihoods]:
    """Likelihood of the class of each distinct item by its labels, criterion by criterion.

    Parameters
    ----------
    values : dict
        Named values with a leading axis, of which only the rates are used.
    """
    part = data["labels"]
    log_rates = density.rates(values, np).swapaxes(-3, -2)  # (rates, classes, judges, labels)
    flat = log_rates.reshape((*log_rates.shape[:2], -1))
    log = np.einsum("nl,djl->dnj", part["counts"], flat, optimize=True) + part["known"]
    lik = np.exp(log - log.max(axis=-1, keepdims=True))
    rows = [np.flatnonzero(part["criterion"] == c) for c in range(density.criteria)]
    return [Likelihoods(lik[:, row], part["weight"][row]) for row in rows]


def share_modes(found: Likelihoods, sd: float) -> Modes:
    """Modes of the log shares in free coordinates, for every set of rates.

    Parameters
    ----------
    sd : float
        Of the prior of the log shares.

    Examples
    --------
    Three items that are surely of the second class and one of the first, under a wide prior:

    >>> certain = Likelihoods(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([3.0, 1.0]))
    >>> np.exp(log_shares(share_modes(certain, 1e3).x, 2)).round(3).tolist()
    [[0.25, 0.75]]
    """
    size, classes = len(found.of_class), found.of_class.shape[-1]
    plane, total = np.asarray(zero_sum(np.eye(classes - 1), classes, np)).T, found.weight.sum()
    x = np.zeros((size, classes - 1))
    value = log_density(x, found, sd)
    for _ in range(STEPS):
        shares = np.exp(log_shares(x, classes))
        belief = found.of_class * shares[:, None]
        belief /= belief.sum(axis=-1, keepdims=True)
        weighed = belief * found.weight[:, None]
        expected = weighed.sum(axis=1)
        slope = (expected - total * shares) @ plane - x / sd**2
        complete = (
            _projected_covariance(total * shares, total**0.5 * shares, plane) + np.eye(classes - 1) / sd**2
        )
        hidden = np.einsum("dj,ja,jb->dab", expected, plane, plane)
        hidden -= (weighed @ plane).swapaxes(1, 2) @ (belief @ plane)
        observed = complete - hidden
        proper = np.linalg.eigvalsh(observed)[:, 0] > 1e-9 * (1.0 + total)
        metric = np.where(proper[:, None, None], observed, complete)
        gradient = float(np.abs(slope).max(initial=0.0))
        if gradient <= TOLERANCE * (1.0 + total):
            break
        step, length = np.linalg.solve(metric, slope[..., None])[..., 0], np.ones((size, 1))
        for _ in range(HALVINGS):
            there = log_density(x + length * step, found, sd)
            worse = there < value - 1e-12 * np.abs(value)
            if not worse.any():
                break
            length[worse] *= 0.5
        x, value = x + length * step, there
    root = np.linalg.inv(np.linalg.cholesky(metric)).swapaxes(1, 2)
    return Modes(x, np.asarray(root, dtype=float), gradient)


def draw_shares(found: Likelihoods, at: Modes, sd: float, each: int, rng: np.random.Generator) -> Floats:
    """Draws of the log shares in free coordinates, shape (rates, each, classes - 1)."""
    size, wide = at.x.shape
    z = rng.standard_normal((PROPOSALS, size, wide))
    z /= np.sqrt(rng.chisquare(FREEDOM, (PROPOSALS, size, 1)) / FREEDOM)
    proposed = at.x + np.einsum("dab,pdb->pda", at.root, z)
    log_proposal = -0.5 * (FREEDOM + wide) * np.log1p((z * z).sum(axis=-1) / FREEDOM)
    weight = np.stack([log_density(x, found, sd) for x in proposed]) - log_proposal
    # the largest of log weights with Gumbel noise is a draw by the weights
    chosen = (weight[..., None] + rng.gumbel(size=(PROPOSALS, size, each))).argmax(axis=0)
    return np.asarray(proposed[chosen, np.arange(size)[:, None]])


def log_density(x: Floats, found: Likelihoods, sd: float) -> Floats:
    """Log density of log shares in free coordinates, shape (rates,), up to a constant of each set of rates."""
    shares = np.exp(log_shares(x, found.of_class.shape[-1]))
    mixed = (found.of_class @ shares[..., None])[..., 0]
    return np.asarray(np.log(np.maximum(mixed, 1e-300)) @ found.weight - 0.5 * (x * x).sum(axis=-1) / sd**2)


def log_shares(x: Floats, classes: int) -> Floats:
    """Log shares from free coordinates, shape (..., classes)."""
    logits = np.asarray(zero_sum(x, classes, np))
    top = logits.max(axis=-1, keepdims=True)
    return np.asarray(logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True)))


def _projected_covariance(diagonal: Floats, outer: Floats, plane: Floats) -> Floats:
    """plane' (diag a - b b') plane / scale, for every row of a and b."""
    leaned = outer @ plane
    square = np.einsum("dj,ja,jb->dab", diagonal, plane, plane)
    return np.asarray(square - leaned[:, :, None] * leaned[:, None, :])
