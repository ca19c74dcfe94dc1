"""Spreads at the maximum of their Laplace-marginal likelihood, and draws of everything.

The draws carry the spreads' own uncertainty: their logarithms are normal about the maximum, with the curvature there,
at a few points of that normal distribution the latent values are found anew, and each point is worth what the marginal
likelihood says of it beside the normal density (Rue, Martino and Chopin 2009, Journal of the Royal Statistical Society
B 71, integrate over a grid likewise).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.evidence import Evidence
from voirdire.infer.latent_gaussian.few_observations import is_sparse, search_by_evidence
from voirdire.infer.latent_gaussian.marginal import (
    ConditionalMode,
    Marginal,
    find_conditional_mode,
    log_det_gradient,
    refine_fixed_effects,
)
from voirdire.infer.latent_gaussian.model import LatentGaussianModel
from voirdire.infer.latent_gaussian.propagation import MAX_SWEEPS, NotConverged, Propagated
from voirdire.infer.latent_gaussian.search import (
    MAX_LOG_SPREAD,
    MAX_LOG_SPREAD_SD,
    MIN_LOG_SPREAD,
    ROUGH_TOLERANCE,
    SPREAD_TOLERANCE,
    SpreadSearch,
    bounded_inverse,
    search_spreads,
    values_per_spread,
)
from voirdire.infer.threads import map_in_two_threads
from voirdire.typing import Floats

DIFFERENCE_STEP = 0.05  # of the differences of gradients, in standard deviations guessed
MAX_POINTS = 20  # at which latent values are found anew, at most; of many spreads as many as twice
MAX_AXES = 40  # of them
MAX_SHELL_SPREADS = 3  # spreads, at points of several distances from the centre
LARGE_TABLE_SWEEPS = 2  # at each of them, of tables so large that little is done again
MAX_HALVINGS = 4  # times that a point is brought nearer to the centre, at most
MAX_WEIGHT_RATIO = 3.0  # times its share that a point may weigh


def maximise_spreads(
    model: LatentGaussianModel, x: Floats, hyper: Floats, *, roughly: bool = False
) -> SpreadSearch:
    """Search for the spreads, from latent values ``x``, by quasi-Newton steps (BFGS); ``roughly``, the first few.

    Where answers say little of each latent value by their evidence (:mod:`.few_observations`), and by their
    Laplace-marginal likelihood where they say much, or where expectation propagation does not converge.

    That is in turns with the values that stay (see :func:`.marginal.refine_fixed_effects`), which are at the mode of
    the others integrated out, not at the joint one: there judges seem better than they are, as noise in what is
    latent is taken for nothing.
    """
    start = np.clip(hyper, MIN_LOG_SPREAD, MAX_LOG_SPREAD)
    if is_sparse(model):
        try:
            return search_by_evidence(model, x, start)
        except NotConverged as error:
            return replace(_search_by_laplace(model, x, start), amiss=str(error))
    return _search_by_laplace(model, x, start, roughly=roughly)


def _search_by_laplace(
    model: LatentGaussianModel, x: Floats, here: Floats, *, roughly: bool = False
) -> SpreadSearch:
    inverse = np.diag(1.0 / (1.0 + 0.5 * values_per_spread(model)))
    marginal = Marginal(model, find_conditional_mode(model, here, x))
    if not model.kept.any():
        search = search_spreads(marginal, here, inverse, ROUGH_TOLERANCE if roughly else SPREAD_TOLERANCE)
        return replace(search, is_rough=roughly)
    rough = search_spreads(marginal, here, inverse, ROUGH_TOLERANCE)
    if roughly:
        return replace(rough, is_rough=True)
    refined = refine_fixed_effects(model, rough.mode)
    search = search_spreads(Marginal(model, refined), refined.hyper, rough.inverse, SPREAD_TOLERANCE)
    return replace(
        search,
        mode=refine_fixed_effects(model, search.mode),
        evaluations=rough.evaluations + search.evaluations,
    )


def spread_covariance(search: SpreadSearch) -> Floats:
    """Covariance of the logarithms of the spreads, by differences of the gradient at the maximum.

    Of spreads that were learned from some of the blocks, or roughly, it is what that search found.
    """
    centre, size = search.mode.hyper, len(search.mode.hyper)
    if not size:
        return np.zeros((0, 0))
    if search.by_part or search.is_rough:
        return np.asarray(0.5 * (search.inverse + search.inverse.T))
    at_centre = _maximised_function(search)
    base = at_centre(centre)[1]
    widths = np.clip(np.sqrt(np.maximum(search.inverse.diagonal(), 0.0)), 0.02, 1.0)

    def gradient_difference(a: int) -> Floats:
        marginal, step = _maximised_function(search), np.zeros(size)
        marginal.last, marginal.moves = at_centre.last, at_centre.moves
        step[a] = DIFFERENCE_STEP * widths[a] * (-1.0 if centre[a] > MAX_LOG_SPREAD - 0.5 else 1.0)
        value, slope = marginal(centre + step)
        return np.asarray(
            (slope - base) / step[a] if np.isfinite(value) else np.linalg.inv(search.inverse)[a]
        )

    curvature = np.stack(list(map_in_two_threads(gradient_difference, range(size))))
    return bounded_inverse(curvature, MAX_LOG_SPREAD_SD)


def _maximised_function(search: SpreadSearch, sweeps: int = MAX_SWEEPS) -> Marginal:
    """The function that was maximised."""
    if isinstance(search.mode, Propagated):
        return Evidence(search.model, search.mode, sweeps=sweeps, missing=search.missing)
    return Marginal(search.model, search.mode)


def draw_posterior(search: SpreadSearch, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws of latent values, shape (count, size), and of logarithms of spreads, shape (count, hypers)."""
    covariance = spread_covariance(search)
    size = len(covariance)
    normal = _spherical_points(size, 1 if search.by_part else MAX_POINTS, rng)
    root = np.linalg.cholesky(covariance) if size else covariance
    hypers = np.clip(search.mode.hyper + normal @ root.T, MIN_LOG_SPREAD, MAX_LOG_SPREAD)
    parts = (
        _equal_share_draws(search, hypers, count, rng)
        if search.by_part
        else _weighted_draws(search, hypers, 0.5 * (normal**2).sum(axis=1), count, rng)
    )
    x, spreads = zip(*parts, strict=True)
    order = rng.permutation(count)
    return np.concatenate(x)[order], np.concatenate(spreads)[order]


def _spherical_points(size: int, most: int, rng: np.random.Generator) -> Floats:
    """Points whose covariance is that of a standard normal distribution, shape (points, size).

    Along both directions of the axes of a rotation; of up to three dimensions of several rotations, each as far from
    the centre as one part in so many of all draws is, which are equally likely.
    """
    if not size:
        return np.zeros((1, 0))
    from scipy.stats import chi2

    shells = max(most // (2 * size), 1) if size <= MAX_SHELL_SPREADS else 1
    edges = chi2.ppf(np.linspace(0.0, 1.0, shells + 1), size)
    radii = np.sqrt(
        size * shells * np.diff(chi2.cdf(edges, size + 2))
    )  # of chi-squared variables within these edges
    points = []
    for radius in radii:
        axes = np.linalg.qr(rng.standard_normal((size, size)))[0][:MAX_AXES]
        points += [radius * axes, -radius * axes]
    return np.concatenate(points)


SpreadDraws = list[tuple[Floats, Floats]]


def _weighted_draws(
    search: SpreadSearch, hypers: Floats, beside: Floats, count: int, rng: np.random.Generator
) -> SpreadDraws:
    """Draws at points, as many as their density by the marginal likelihood says ``beside`` the normal one."""
    marginal, points = _maximised_function(search), len(hypers)
    marginal(search.mode.hyper)
    # each point is found from the centre
    modes = list(map_in_two_threads(lambda hyper: _settle_latent(marginal, hyper, search.mode), hypers))
    log = np.array([g.log_marginal + search.model.hyper_prior(g.hyper)[0] for g in modes]) + beside
    weights = np.exp(log - log.max())
    weights = np.minimum(weights / weights.sum(), MAX_WEIGHT_RATIO / points)
    weights /= weights.sum()
    shares = np.diff(np.round(np.append(0.0, np.cumsum(weights)) * count)).astype(int)
    chosen = [point for point in zip(modes, shares, rng.spawn(points), strict=True) if point[1]]
    shifts = map_in_two_threads(lambda point: _mean_shift(search.model, point[0]), chosen)
    return [
        _draw_at_point(g, shift, share, generator)
        for (g, share, generator), shift in zip(chosen, shifts, strict=True)
    ]


def _equal_share_draws(
    search: SpreadSearch, hypers: Floats, count: int, rng: np.random.Generator
) -> SpreadDraws:
    """Draws at points, of each as many: of tables so large that one factor is kept at a time."""
    marginal = _maximised_function(search, LARGE_TABLE_SWEEPS)
    marginal(search.mode.hyper)
    shares = np.diff(np.round(np.linspace(0, count, len(hypers) + 1))).astype(int)
    draws = []
    for hyper, share, generator in zip(hypers, shares, rng.spawn(len(hypers)), strict=True):
        g = _settle_latent(marginal, hyper, search.mode)
        draws.append(_draw_at_point(g, _mean_shift(search.model, g), share, generator))
    return draws


def _settle_latent(marginal: Marginal, hyper: Floats, centre: ConditionalMode) -> ConditionalMode:
    """The latent values given spreads, half as far from the centre as often as propagation does not settle there."""
    for _ in range(MAX_HALVINGS):
        with suppress(NotConverged):
            return marginal.find_latent(hyper)
        hyper = 0.5 * (hyper + centre.hyper)
    return centre


def _draw_at_point(
    g: ConditionalMode, shift: Floats, share: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    # the first draws of a point are the same whatever its share, and those of others
    x = g.x + shift + g.factor.to_draws(rng.standard_normal((share, len(g.x))).T).T
    return x, np.repeat(g.hyper[None], share, axis=0)


def _mean_shift(model: LatentGaussianModel, g: ConditionalMode) -> Floats:
    """Distance of the mean of the latent values from where they were found.

    From the mode, to first order, a standard deviation at most; propagation is about the mean.
    """
    if isinstance(g, Propagated):
        return np.zeros(len(g.x))
    sd = np.sqrt(g.factor.marginal_variances())
    return np.clip(log_det_gradient(model, g).shift, -sd, sd)
