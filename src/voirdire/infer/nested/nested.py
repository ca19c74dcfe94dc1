"""Spreads at the maximum of their Laplace-marginal likelihood, and draws of everything.

The draws carry the spreads' own uncertainty: their logarithms are normal about the maximum, with the curvature there,
at a few points of that normal distribution the latent values are found anew, and each point is worth what the marginal
likelihood says of it beside the normal density (Rue, Martino and Chopin 2009, Journal of the Royal Statistical Society
B 71, integrate over a grid likewise).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from voirdire.infer.nested.field import Field
from voirdire.infer.nested.marginal import Given, Marginal, given, settled, tilt_of
from voirdire.typing import Floats

TOLERANCE = 0.1  # of the gradient by logarithms of spreads, in their standard deviations
SEARCHES = 60
ROUGH = 0.5  # that of a first search, before the values that stay are moved
FURTHEST = 1.0  # that a logarithm moves in one step
LOWEST, HIGHEST = -7.0, 4.0  # logarithms of spreads
STEP = 0.05  # of the differences of gradients, in standard deviations guessed
POINTS = 20  # at which latent values are found anew, at most; of many spreads as many as twice
AXES = 40  # of them
WIDEST = 1.5  # standard deviation of the logarithm of a spread, at most
HEAVIEST = 3.0  # times its share that a point may weigh


@dataclass(frozen=True, eq=False)
class Nested:
    """Where the search of the spreads ended.

    Attributes
    ----------
    model : Field
    found : Given
        Spreads and latent values at the maximum.
    slope : float
        Largest component of the gradient there, in standard deviations.
    evaluations : int
    inverse : array, shape (hypers, hypers)
        The search's own estimate of the inverse curvature.
    value : float
        Log density of the spreads there, up to a constant.
    """

    model: Field
    found: Given
    slope: float
    evaluations: int
    inverse: Floats
    value: float


def maximise(model: Field, x: Floats, hyper: Floats) -> Nested:
    """Search for the spreads, from latent values ``x``, by quasi-Newton steps (BFGS).

    In turns with the values that stay (see :func:`.marginal.settled`), which are at the mode of the others integrated
    out, not at the joint one: there judges seem better than they are, as noise in what is latent is taken for nothing.
    """
    here = np.clip(hyper, LOWEST, HIGHEST)
    inverse = np.diag(1.0 / (1.0 + 0.5 * _sizes(model)))
    marginal = Marginal(model, given(model, here, x))
    if not model.few.any():
        return _searched(marginal, here, inverse, TOLERANCE)
    rough = _searched(marginal, here, inverse, ROUGH)
    moved = settled(model, rough.found)
    found = _searched(Marginal(model, moved), moved.hyper, rough.inverse, TOLERANCE)
    return replace(
        found, found=settled(model, found.found), evaluations=rough.evaluations + found.evaluations
    )


def _searched(marginal: Marginal, here: Floats, inverse: Floats, tolerance: float) -> Nested:
    value, slope = marginal(here)
    known = marginal.last, marginal.moves
    for _ in range(SEARCHES):
        step = -inverse @ slope
        if math.sqrt(max(-float(slope @ step), 0.0)) < tolerance or not len(here):
            break
        step *= min(1.0, FURTHEST / max(np.abs(step).max(), 1e-300))
        for _ in range(8):
            there = np.clip(here + step, LOWEST, HIGHEST)
            # where latent values have several modes, from that of the last step
            marginal.last, marginal.moves = known
            new_value, new_slope = marginal(there)
            if new_value < value + 1e-4 * slope @ (there - here):
                break
            step *= 0.3
        else:
            break
        moved, turned = there - here, new_slope - slope
        inverse = _updated(inverse, moved, turned)
        here, value, slope = there, new_value, new_slope
        known = marginal.last, marginal.moves
    best = marginal.best
    assert best is not None  # it was evaluated once at least
    size = math.sqrt(max(float(slope @ inverse @ slope), 0.0))
    return Nested(marginal.model, best, size, marginal.evaluations, inverse, -marginal.best_value)


def _sizes(model: Field) -> Floats:
    """Number of latent values that tell each spread."""
    names = [hyper.name for hyper in model.hypers]
    total = np.zeros(len(names))
    for group in model.groups:
        for of in (group.spread, group.mean):
            if of in names:
                total[names.index(of)] += group.size
    return total if model.scales is None else total + abs(model.scales).sum(axis=0)


def _updated(inverse: Floats, moved: Floats, turned: Floats) -> Floats:
    along = float(moved @ turned)
    if along <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(turned)):
        return inverse
    left = np.eye(len(moved)) - np.outer(moved, turned) / along
    return np.asarray(left @ inverse @ left.T + np.outer(moved, moved) / along)


def spread_covariance(nested: Nested) -> Floats:
    """Covariance of the logarithms of the spreads, by differences of the gradient at the maximum."""
    centre, size = nested.found.hyper, len(nested.found.hyper)
    if not size:
        return np.zeros((0, 0))
    marginal = Marginal(nested.model, nested.found)
    base = marginal(centre)[1]
    start, moves = marginal.last, marginal.moves
    widths = np.clip(np.sqrt(np.maximum(nested.inverse.diagonal(), 0.0)), 0.02, 1.0)
    curvature = np.empty((size, size))
    for a in range(size):
        step = np.zeros(size)
        step[a] = STEP * widths[a] * (-1.0 if centre[a] > HIGHEST - 0.5 else 1.0)
        marginal.last, marginal.moves = start, moves
        curvature[a] = (marginal(centre + step)[1] - base) / step[a]
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    values = np.maximum(values, WIDEST**-2)
    return np.asarray((vectors / values) @ vectors.T)


def draws(nested: Nested, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws of latent values, shape (count, size), and of logarithms of spreads, shape (count, hypers)."""
    covariance = spread_covariance(nested)
    size = len(covariance)
    # along both directions of every axis, so far that the variance is that of the normal distribution
    axes = np.linalg.qr(rng.standard_normal((size, size)))[0][: max(POINTS // 2, min(size, AXES))]
    normal = math.sqrt(size) * np.concatenate([axes, -axes]) if size else np.zeros((1, 0))
    points = len(normal)
    root = np.linalg.cholesky(covariance) if size else covariance
    hypers = np.clip(nested.found.hyper + normal @ root.T, LOWEST, HIGHEST)
    marginal = Marginal(nested.model, nested.found)
    marginal(nested.found.hyper)
    at = [marginal.latent(hyper) for hyper in hypers]
    log = np.array([g.log_marginal + nested.model.hyper_prior(g.hyper)[0] for g in at])
    weights = np.exp(log - log.max())
    weights = np.minimum(weights / weights.sum(), HEAVIEST / points)
    weights /= weights.sum()
    shares = np.diff(np.round(np.append(0.0, np.cumsum(weights)) * count)).astype(int)
    x, spreads = [], []
    for g, share in zip(at, shares, strict=True):
        if share:
            x.append(
                g.x + _mean_shift(nested.model, g) + g.factor.draws(rng.standard_normal((len(g.x), share))).T
            )
            spreads.append(np.repeat(g.hyper[None], share, axis=0))
    order = rng.permutation(count)
    return np.concatenate(x)[order], np.concatenate(spreads)[order]


def _mean_shift(model: Field, g: Given) -> Floats:
    """How far the mean of the latent values is from the mode: to first order, a standard deviation at most."""
    sd = np.sqrt(g.factor.marginals()[0])
    return np.clip(tilt_of(model, g).shift, -sd, sd)
