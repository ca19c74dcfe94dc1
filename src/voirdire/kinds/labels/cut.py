"""The cut posterior of labels: judges' matrices from items of known class alone, then shares and classes given these.

In the joint posterior, a clique of judges with the same mistakes can outvote a few items of known class: it defines the
classes, and appears reliable. The cut posterior (Plummer 2015, Statistics and Computing 25; Jacob, Murray, Holmes and
Robert 2017, arXiv 1708.08719) removes that feedback. With A the items of known class z_i,

    p_cut(rates, shares) = p(rates | A) p(shares | rates, all labels, A),
    p(rates | A) = p(rates) prod_{i in A} prod_k,l rate_k,z_i,l ^ n_i,k,l / constant,

with the prior of the model (judges pooled towards the panel's matrix), and the second factor as below. The distribution
of an item's class is that of the model, averaged over draws, so that it includes the uncertainty about judges. A judge
without labels of known items has the rates of the panel.

Rates are drawn from the first factor. Coins are exact: given r right labels of r + w, a coin's density is a mixture of
Beta(a + r, b + w) and Beta(b + r, a + w). Matrices use the corrected Laplace approximation of
:mod:`voirdire.infer.refine` (the density is log-concave). A class without a known item keeps the prior's row. Renaming
such classes changes p_cut by the ratio of priors, as in the joint posterior, so their names are chosen in the same way.

Given the rates, P(labels of i | class j) =: L_i,j is a number, and the shares of criterion c have the density

    p(s_c | rates, labels) = p(s_c) prod_{i under c} sum_j s_c,j L_i,j

in (classes - 1) dimensions, for any number of judges. Newton steps in the free coordinates of the log shares find the
mode; where the density is not log-concave they use the complete-data information, an upper bound of the observed one
(Louis 1982, JRSS B 44). Draws come from the multivariate t distribution at the mode by sampling importance resampling
(Rubin 1988). Many sets of rates are computed together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, expit, log_softmax, logit

from voirdire.infer.laplace import laplace_approximation
from voirdire.infer.mode import find_mode
from voirdire.infer.posterior import Mode
from voirdire.infer.refine import laplace_draws
from voirdire.kinds.labels.density import LabelsDensity
from voirdire.kinds.labels.problem import LabelsProblem
from voirdire.model.density import Data
from voirdire.model.terms.arrays import zero_sum
from voirdire.model.terms.term import Values
from voirdire.typing import Floats

PROPOSALS_PER_DRAW = 16
DEGREES_OF_FREEDOM = 10.0  # of the t distribution of proposals
MAX_STEPS, MAX_HALVINGS = 100, 30
GRADIENT_TOLERANCE = 1e-8  # largest gradient at a mode, per item


class Likelihoods(NamedTuple):
    """Scaled P(labels | class) under one criterion, shape (rates, distinct, classes), and item counts, (distinct,)."""

    of_class: Floats
    weight: Floats


class ShareModes(NamedTuple):
    """Modes, shape (rates, classes - 1), roots of inverse Hessians there, and the largest component of a gradient."""

    x: Floats
    root: Floats
    gradient: float


def class_likelihoods(density: LabelsDensity, values: Values, data: Data) -> list[Likelihoods]:
    """Likelihood of the classes of each distinct item, by criterion.

    Parameters
    ----------
    values : dict
        Named values with a leading axis of draws; only the rates are used.
    """
    part = data["labels"]
    log_rates = density.rates(values, np).swapaxes(-3, -2)  # (rates, classes, judges, labels)
    flat = log_rates.reshape((*log_rates.shape[:2], -1))
    log = np.einsum("nl,djl->dnj", part["counts"], flat, optimize=True) + part["known"]
    lik = np.exp(log - log.max(axis=-1, keepdims=True))
    rows = [np.flatnonzero(part["criterion"] == c) for c in range(density.criteria)]
    return [Likelihoods(lik[:, row], part["weight"][row]) for row in rows]


def share_modes(likelihoods: Likelihoods, sd: float) -> ShareModes:
    """Modes of the log shares in free coordinates, for every set of rates.

    Parameters
    ----------
    sd : float
        Standard deviation of the prior of the log shares.

    Examples
    --------
    Three items certain to be of the second class and one of the first, under a wide prior:

    >>> certain = Likelihoods(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([3.0, 1.0]))
    >>> np.exp(log_shares(share_modes(certain, 1e3).x, 2)).round(3).tolist()
    [[0.25, 0.75]]
    """
    size, classes = len(likelihoods.of_class), likelihoods.of_class.shape[-1]
    plane, total = np.asarray(zero_sum(np.eye(classes - 1), classes, np)).T, likelihoods.weight.sum()
    x = np.zeros((size, classes - 1))
    value = log_density(x, likelihoods, sd)
    for _ in range(MAX_STEPS):
        shares = np.exp(log_shares(x, classes))
        belief = likelihoods.of_class * shares[:, None]
        belief /= belief.sum(axis=-1, keepdims=True)
        weighted = belief * likelihoods.weight[:, None]
        expected = weighted.sum(axis=1)
        slope = (expected - total * shares) @ plane - x / sd**2
        complete = _projected_covariance(total * shares, total**0.5 * shares, plane) + np.eye(classes - 1) / sd**2
        hidden = np.einsum("dj,ja,jb->dab", expected, plane, plane)
        hidden -= (weighted @ plane).swapaxes(1, 2) @ (belief @ plane)
        observed = complete - hidden
        is_proper = np.linalg.eigvalsh(observed)[:, 0] > 1e-9 * (1.0 + total)
        metric = np.where(is_proper[:, None, None], observed, complete)
        gradient = float(np.abs(slope).max(initial=0.0))
        if gradient <= GRADIENT_TOLERANCE * (1.0 + total):
            break
        step, length = np.linalg.solve(metric, slope[..., None])[..., 0], np.ones((size, 1))
        for _ in range(MAX_HALVINGS):
            new_value = log_density(x + length * step, likelihoods, sd)
            is_worse = new_value < value - 1e-12 * np.abs(value)
            if not is_worse.any():
                break
            length[is_worse] *= 0.5
        x, value = x + length * step, new_value
    root = np.linalg.inv(np.linalg.cholesky(metric)).swapaxes(1, 2)
    return ShareModes(x, np.asarray(root, dtype=float), gradient)


def draw_shares(likelihoods: Likelihoods, modes: ShareModes, sd: float, count: int, rng: np.random.Generator) -> Floats:
    """Draw log shares in free coordinates, shape (rates, each, classes - 1)."""
    size, width = modes.x.shape
    z = rng.standard_normal((PROPOSALS_PER_DRAW, size, width))
    z /= np.sqrt(rng.chisquare(DEGREES_OF_FREEDOM, (PROPOSALS_PER_DRAW, size, 1)) / DEGREES_OF_FREEDOM)
    proposed = modes.x + np.einsum("dab,pdb->pda", modes.root, z)
    log_proposal = -0.5 * (DEGREES_OF_FREEDOM + width) * np.log1p((z * z).sum(axis=-1) / DEGREES_OF_FREEDOM)
    weight = np.stack([log_density(x, likelihoods, sd) for x in proposed]) - log_proposal
    # the argmax of log weights plus Gumbel noise is a draw by the weights
    chosen = (weight[..., None] + rng.gumbel(size=(PROPOSALS_PER_DRAW, size, count))).argmax(axis=0)
    return np.asarray(proposed[chosen, np.arange(size)[:, None]])


def log_density(x: Floats, likelihoods: Likelihoods, sd: float) -> Floats:
    """Log density of log shares in free coordinates, shape (rates,), up to a constant for each set of rates."""
    shares = np.exp(log_shares(x, likelihoods.of_class.shape[-1]))
    mixed = (likelihoods.of_class @ shares[..., None])[..., 0]
    return np.asarray(np.log(np.maximum(mixed, 1e-300)) @ likelihoods.weight - 0.5 * (x * x).sum(axis=-1) / sd**2)


def log_shares(x: Floats, classes: int) -> Floats:
    """Log shares from free coordinates, shape (..., classes)."""
    return np.asarray(log_softmax(np.asarray(zero_sum(x, classes, np)), axis=-1))


def _projected_covariance(diagonal: Floats, outer: Floats, plane: Floats) -> Floats:
    """plane' (diag a - b b') plane, for every row a of ``diagonal`` and b of ``outer``."""
    projected = outer @ plane
    square = np.einsum("dj,ja,jb->dab", diagonal, plane, plane)
    return np.asarray(square - projected[:, :, None] * projected[:, None, :])


MAX_RATE_DRAWS = 1000  # draws of the rates, each with several of the shares
BATCH_SIZE = 4_000_000  # largest number of entries in memory


def restrict_to_anchors(problem: LabelsProblem) -> LabelsProblem:
    """Restrict a problem to the items of known class: its posterior of the rates is p(rates | A).

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.kinds.labels.problem import encode_labels
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.labels import read_labels
    >>> rows = [("a", "x", "yes"), ("b", "x", "no"), ("a", "y", "yes"), ("b", "y", "yes")]
    >>> table = read_labels(pd.DataFrame(rows, columns=["judge", "item", "label"]))
    >>> posed = encode_labels(load_model("hierarchical-dawid-skene"), table, known=np.array([1, -1]))
    >>> restrict_to_anchors(posed).data["labels"]["counts"].tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    rows = np.unique(problem.unit_row[problem.known >= 0])
    part = {name: column[rows] for name, column in problem.data["labels"].items()}
    return replace(problem, data={"labels": part})


def cut_mode(problem: LabelsProblem) -> Mode:
    """Mode of the rates given the known items, and of the shares given these rates."""
    rate_mode = find_mode(restrict_to_anchors(problem))
    x, slope = rate_mode.x[None].copy(), rate_mode.gradient
    likelihoods = class_likelihoods(problem.density, problem.density.values(x, np), problem.data)
    share_results = [share_modes(part, _share_sd(problem)) for part in likelihoods]
    share_slice = problem.density.parameter_slices["class_share"]
    x[:, share_slice] = np.concatenate([modes.x for modes in share_results], axis=1)
    return replace(rate_mode, x=x[0], gradient=max([slope, *(modes.gradient for modes in share_results)]))


def cut_draws(problem: LabelsProblem, mode: Mode, count: int, rng: np.random.Generator) -> tuple[Floats, float | None]:
    """Draws of the cut posterior, shape (count, size), and the tail shape of the rates' importance weights, if any.

    Parameters
    ----------
    mode : Mode
        The result of :func:`cut_mode`.
    """
    size = min(MAX_RATE_DRAWS, count)
    x, k = _rate_draws(problem, mode, size, rng)
    draws_per_rate = -(-count // size)
    out = np.repeat(x, draws_per_rate, axis=0)
    density, sd, share_slice = (problem.density, _share_sd(problem), problem.density.parameter_slices["class_share"])
    batch = max(1, BATCH_SIZE // max(1, len(problem.data["labels"]["counts"]) * problem.classes))
    for start in range(0, size, batch):
        part = x[start : start + batch]
        likelihoods = class_likelihoods(density, density.values(part, np), problem.data)
        draws = [draw_shares(lik, share_modes(lik, sd), sd, draws_per_rate, rng) for lik in likelihoods]
        rows = slice(start * draws_per_rate, (start + len(part)) * draws_per_rate)
        out[rows, share_slice] = np.concatenate(draws, axis=-1).reshape(len(part) * draws_per_rate, -1)
    return out[:count], k


def _rate_draws(
    problem: LabelsProblem, mode: Mode, count: int, rng: np.random.Generator
) -> tuple[Floats, float | None]:
    anchored, slices = restrict_to_anchors(problem), problem.density.parameter_slices
    if "reliability" in slices:
        x = np.tile(mode.x, (count, 1))
        x[:, slices["reliability"]] = _draw_reliability_logits(anchored, count, rng)
        return x, None
    draws, k = laplace_draws(anchored, laplace_approximation(anchored, mode), count, rng)
    return draws, k


def _draw_reliability_logits(anchored: LabelsProblem, count: int, rng: np.random.Generator) -> Floats:
    """Exact draws of the log-odds of judges' coins, shape (count, judges)."""
    part, labels, prior = anchored.data["labels"], anchored.density.labels, anchored.model.reliability.numbers
    counts = part["counts"].reshape(len(part["counts"]), -1, labels) * part["weight"][:, None, None]
    right = counts[np.arange(len(counts)), :, part["known"].argmax(axis=1)].sum(axis=0)
    wrong = counts.sum(axis=(0, 2)) - right
    a, b, reversed_share = prior["a"], prior["b"], prior["reversed"]
    with np.errstate(divide="ignore"):
        log_odds = (
            np.log(reversed_share)
            - np.log1p(-reversed_share)
            + betaln(b + right, a + wrong)
            - betaln(a + right, b + wrong)
        )
    is_reversed = rng.random((count, len(right))) < expit(log_odds)
    coins = np.where(
        is_reversed,
        rng.beta(b + right, a + wrong, is_reversed.shape),
        rng.beta(a + right, b + wrong, is_reversed.shape),
    )
    edge = 1e-12  # the log-odds of a coin must be finite
    return np.asarray(logit(np.clip(coins, edge, 1.0 - edge)))


def _share_sd(problem: LabelsProblem) -> float:
    assert problem.model.classes is not None  # every model file of labels has this section
    return problem.model.classes.numbers["sd"]
