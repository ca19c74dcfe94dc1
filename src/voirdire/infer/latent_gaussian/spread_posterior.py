"""Spreads at the maximum of their Laplace-marginal likelihood, and draws of all values.

The draws include the uncertainty of the spreads. Log spreads are normal about the maximum, with the curvature there. At
some points of that distribution the latent values are found again, and each point is weighted by its marginal
likelihood over the normal density (Rue, Martino and Chopin 2009, Journal of the Royal Statistical Society B 71,
integrate over a grid in the same way).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from voirdire.infer.latent_gaussian.few_observations import Evidence, is_sparse, search_by_evidence
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

DIFFERENCE_STEP = 0.05  # step of differences of gradients, in estimated standard deviations
MAX_POINTS = 20  # largest number of points at which latent values are found again, or twice the number of spreads
MAX_AXES = 40  # spreads with points along their axes, at most
MAX_SHELL_SPREADS = 3  # spreads up to which points have several distances from the centre
LARGE_TABLE_SWEEPS = 2  # sweeps at each point of very large tables
MAX_HALVINGS = 4  # times that a point is moved half of the way to the centre, at most
MAX_WEIGHT_RATIO = 3.0  # largest weight of a point over the mean weight


def maximise_spreads(model: LatentGaussianModel, x: Floats, hyper: Floats, *, roughly: bool = False) -> SpreadSearch:
    """Search for the spreads, from latent values ``x``, by quasi-Newton steps (BFGS); ``roughly``, only the first few.

    Sparse answers use the evidence (:mod:`.few_observations`). Others use the Laplace-marginal likelihood, as do sparse
    ones if expectation propagation does not converge.

    Laplace's method alternates with updates of the kept values (see :func:`.marginal.refine_fixed_effects`). These are
    at their mode with the others integrated out, not at the joint mode, where judges seem better than they are because
    noise is explained by latent values.
    """
    start = np.clip(hyper, MIN_LOG_SPREAD, MAX_LOG_SPREAD)
    if is_sparse(model):
        try:
            return search_by_evidence(model, x, start)
        except NotConverged as error:
            return replace(_search_by_laplace(model, x, start), amiss=str(error))
    return _search_by_laplace(model, x, start, roughly=roughly)


def _search_by_laplace(model: LatentGaussianModel, x: Floats, start: Floats, *, roughly: bool = False) -> SpreadSearch:
    inverse = np.diag(1.0 / (1.0 + 0.5 * values_per_spread(model)))
    marginal = Marginal(model, find_conditional_mode(model, start, x))
    if not model.kept.any():
        search = search_spreads(marginal, start, inverse, ROUGH_TOLERANCE if roughly else SPREAD_TOLERANCE)
        return replace(search, is_rough=roughly)
    rough = search_spreads(marginal, start, inverse, ROUGH_TOLERANCE)
    if roughly:
        return replace(rough, is_rough=True)
    refined = refine_fixed_effects(model, rough.mode)
    search = search_spreads(Marginal(model, refined), refined.hyper, rough.inverse, SPREAD_TOLERANCE)
    return replace(
        search, mode=refine_fixed_effects(model, search.mode), evaluations=rough.evaluations + search.evaluations
    )


def spread_covariance(search: SpreadSearch) -> Floats:
    """Compute the covariance of the log spreads, by differences of the gradient at the maximum.

    For spreads learned from some of the blocks, or roughly, it is the estimate of the search.
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
        return np.asarray((slope - base) / step[a] if np.isfinite(value) else np.linalg.inv(search.inverse)[a])

    curvature = np.stack(list(map_in_two_threads(gradient_difference, range(size))))
    return bounded_inverse(curvature, MAX_LOG_SPREAD_SD)


def _maximised_function(search: SpreadSearch, sweeps: int = MAX_SWEEPS) -> Marginal:
    """Build the function that the search maximised."""
    if isinstance(search.mode, Propagated):
        return Evidence(search.model, search.mode, sweeps=sweeps, missing=search.missing)
    return Marginal(search.model, search.mode)


def draw_posterior(search: SpreadSearch, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw latent values, shape (count, size), and logarithms of spreads, shape (count, hypers)."""
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


def _spherical_points(size: int, max_points: int, rng: np.random.Generator) -> Floats:
    """Draw points whose covariance is that of a standard normal distribution, shape (points, size).

    Points lie in both directions along randomly rotated axes. In up to three dimensions there are several rotations,
    with distances from the centre that stand for shells of equal probability.
    """
    if not size:
        return np.zeros((1, 0))
    from scipy.stats import chi2

    shells = max(max_points // (2 * size), 1) if size <= MAX_SHELL_SPREADS else 1
    edges = chi2.ppf(np.linspace(0.0, 1.0, shells + 1), size)
    radii = np.sqrt(size * shells * np.diff(chi2.cdf(edges, size + 2)))  # root mean squares of distances within shells
    points = []
    for radius in radii:
        axes = np.linalg.qr(rng.standard_normal((size, size)))[0][:MAX_AXES]
        points += [radius * axes, -radius * axes]
    return np.concatenate(points)


SpreadDraws = list[tuple[Floats, Floats]]


def _weighted_draws(
    search: SpreadSearch, hypers: Floats, half_squares: Floats, count: int, rng: np.random.Generator
) -> SpreadDraws:
    """Draw at points, in numbers by the marginal likelihood over the normal density, of log -``half_squares``."""
    marginal, points = _maximised_function(search), len(hypers)
    marginal(search.mode.hyper)
    # each point's search starts from the centre
    modes = list(map_in_two_threads(lambda hyper: _settle_latent(marginal, hyper, search.mode), hypers))
    log = np.array([g.log_marginal + search.model.hyper_prior(g.hyper)[0] for g in modes]) + half_squares
    weights = np.exp(log - log.max())
    weights = np.minimum(weights / weights.sum(), MAX_WEIGHT_RATIO / points)
    weights /= weights.sum()
    shares = np.diff(np.round(np.append(0.0, np.cumsum(weights)) * count)).astype(int)
    chosen = [point for point in zip(modes, shares, rng.spawn(points), strict=True) if point[1]]
    shifts = map_in_two_threads(lambda point: _mean_shift(search.model, point[0]), chosen)
    return [
        _draw_at_point(g, shift, share, generator) for (g, share, generator), shift in zip(chosen, shifts, strict=True)
    ]


def _equal_share_draws(search: SpreadSearch, hypers: Floats, count: int, rng: np.random.Generator) -> SpreadDraws:
    """Draw equal numbers at points, for tables so large that only one factor fits in memory."""
    marginal = _maximised_function(search, LARGE_TABLE_SWEEPS)
    marginal(search.mode.hyper)
    shares = np.diff(np.round(np.linspace(0, count, len(hypers) + 1))).astype(int)
    draws = []
    for hyper, share, generator in zip(hypers, shares, rng.spawn(len(hypers)), strict=True):
        g = _settle_latent(marginal, hyper, search.mode)
        draws.append(_draw_at_point(g, _mean_shift(search.model, g), share, generator))
    return draws


def _settle_latent(marginal: Marginal, hyper: Floats, centre: ConditionalMode) -> ConditionalMode:
    """Find latent values given spreads; halve the distance to the centre while propagation does not converge."""
    for _ in range(MAX_HALVINGS):
        with suppress(NotConverged):
            return marginal.find_latent(hyper)
        hyper = 0.5 * (hyper + centre.hyper)
    return centre


def _draw_at_point(g: ConditionalMode, shift: Floats, share: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    # a point's first draws do not depend on its share or on other points
    x = g.x + shift + g.factor.to_draws(rng.standard_normal((share, len(g.x))).T).T
    return x, np.repeat(g.hyper[None], share, axis=0)


def _mean_shift(model: LatentGaussianModel, g: ConditionalMode) -> Floats:
    """Estimate the mean less the point found, for the latent values.

    To first order about a mode, and at most a standard deviation; zero for propagation, which finds the mean.
    """
    if isinstance(g, Propagated):
        return np.zeros(len(g.x))
    sd = np.sqrt(g.factor.marginal_variances())
    return np.clip(log_det_gradient(model, g).shift, -sd, sd)
