"""Truncated Newton steps in a trust region: a search that stays where its quadratic model holds.

A density with a mirror has saddles, and far from its mode it is nowhere near quadratic: a Newton step there may be
thousands of standard deviations long, or lead uphill. Here each step minimises the quadratic model by conjugate
gradients, preconditioned by a positive definite matrix M, and ends where it leaves the region p' M p <= radius^2 or
meets negative curvature (Steihaug 1983, SIAM Journal on Numerical Analysis 20). The region grows where the model
foretold the change of the objective, and shrinks where it did not. No matrix is written out: memory is that of a few
vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.infer.search import SearchResult
from voirdire.model.density import Curvature
from voirdire.typing import Floats

ACCEPTED = 1e-4  # share of the foretold change from which a step is taken
POOR, GOOD = 0.25, 0.75  # shares below which the region shrinks and above which it grows
ROUNDING = 1e-13  # of the objective: smaller changes are lost in it
MOST_STEPS = 300
SHORTEST = 1.0  # radius at the start, in standard deviations, where the gradient asks for less
REACH = 0.03  # share of the gradient that a step may leave
FLATTEST = 1e-6  # of the largest: the least curvature that a direction is taken to have
MOST_PRODUCTS = 300  # of one step
SMALLEST = 1e-12  # radius in standard deviations, below which nothing is gained


class _Step(NamedTuple):
    """A step, its length in the preconditioner's norm, the decrease it promises, and whether it ends at the border."""

    move: Floats
    length: float
    decrease: float
    at_border: bool


def minimise_trust_region(
    both: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Curvature],
    start: Floats,
    *,
    tolerance: float = 1e-6,
    gain: float = 0.0,
    max_iterations: int = MOST_STEPS,
) -> SearchResult:
    """Minimise a smooth function of one vector, whose second derivatives need not be positive definite.

    Parameters
    ----------
    both : callable
        The objective and its gradient, of a vector of shape (n,); an objective that is not finite is too far away.
    curvature : callable
        Of a vector; see :class:`.Curvature`.
    start : array, shape (n,)
    tolerance : float
        Stop where the largest absolute component of the gradient is below it.
    gain : float
        Stop, too, where the next step promises a smaller decrease of the objective.
    max_iterations : int
        At most ``MOST_STEPS`` are made.

    Returns
    -------
    Found
        The caller judges convergence by ``gradient``: a search that can get no further stops too.

    Examples
    --------
    >>> def saddle(x):
    ...     return float((x**4 - x**2).sum()), 4.0 * x**3 - 2.0 * x
    >>> bend = lambda x: Curvature(lambda v: (12.0 * x**2 - 2.0) * v, lambda v: v / (12.0 * x**2 + 1.0))
    >>> minimise_trust_region(saddle, bend, np.array([0.1, -0.1])).x.round(6).tolist()
    [0.707107, -0.707107]
    """
    with np.errstate(all="ignore"):  # a trial point too far away is told by its value
        return _trust_region_search(
            both, curvature, np.asarray(start, dtype=float), tolerance, gain, max_iterations
        )


def _trust_region_search(
    both: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Curvature],
    x: Floats,
    tolerance: float,
    gain: float,
    max_iterations: int,
) -> SearchResult:
    value, gradient = both(x)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return SearchResult(x, np.inf, np.full_like(x, np.inf), 0, 1)
    evaluations, iterations = 1, 0
    at, radius, known = curvature(x), 0.0, True  # the curvature, and whether it is that of x
    while np.abs(gradient).max(initial=0.0) > tolerance and iterations < min(max_iterations, MOST_STEPS):
        at = at if known else curvature(x)
        radius = radius or max(SHORTEST, math.sqrt(float(gradient @ at.divide(gradient))))
        step = _trust_region_step(gradient, at, radius)
        if step.decrease < gain and not step.at_border:
            break
        there, slopes = both(x + step.move)
        evaluations += 1
        iterations += 1
        if step.decrease <= ROUNDING * (1.0 + abs(value)) and not step.at_border:
            known = not np.abs(slopes).max() < np.abs(gradient).max()
            if known:
                break  # the change of the objective is lost in rounding, and that of the gradient, too
        else:
            finite = np.isfinite(there) and np.isfinite(slopes).all()
            share = (value - there) / step.decrease if finite else -math.inf
            if share < POOR:
                radius = POOR * step.length
            elif share > GOOD and step.at_border:
                radius = 2.0 * radius
            known = share <= ACCEPTED
            if known and radius < SMALLEST:
                break
        if not known:
            x, value, gradient = x + step.move, there, slopes
    return SearchResult(x, value, gradient, iterations, evaluations)


def correct_preconditioner(at: Curvature, directions: Floats) -> Curvature:
    """A curvature whose preconditioner knows the second derivatives along some directions, shape (directions, n).

    To its inverse is added V |V' H V|^-1 V', with V the directions: what a preconditioner that knows parts of H takes
    for steep, and is not, is no further than it should be (a coarse correction; Nabben and Vuik 2004, SIAM
    Journal on Numerical Analysis 42).

    Examples
    --------
    >>> steep = Curvature(lambda v: np.array([v.sum() * 0.01, v.sum() * 0.01]), lambda v: v)
    >>> correct_preconditioner(steep, np.array([[1.0, 1.0]])).divide(np.array([0.02, 0.02])).round(2).tolist()
    [1.02, 1.02]
    """
    if not len(directions):
        return at
    turned = np.array([at.product(direction) for direction in directions]) @ directions.T
    turned = 0.5 * (turned + turned.T)
    size = np.sqrt(np.maximum(np.abs(turned.diagonal()), 1e-300))
    values, vectors = np.linalg.eigh(turned / size / size[:, None])
    values = np.maximum(np.abs(values), FLATTEST * np.abs(values).max())
    inverse = (vectors / values) @ vectors.T / size / size[:, None]
    return Curvature(at.product, lambda v: at.divide(v) + (inverse @ (directions @ v)) @ directions)


def _trust_region_step(gradient: Floats, at: Curvature, radius: float) -> _Step:
    """The minimum of the quadratic model within the region, by preconditioned conjugate gradients.

    Inner products with the preconditioner follow from those without (Conn, Gould and Toint 2000, Trust-Region Methods,
    section 7.5.1), so that it is only ever divided by.
    """
    move, left = np.zeros_like(gradient), gradient.copy()
    scaled = at.divide(left)
    size = float(left @ scaled)
    goal = min(REACH, math.sqrt(size)) ** 2 * size
    direction = -scaled
    moved, across, along = 0.0, 0.0, size  # move' M move, move' M direction, direction' M direction
    decrease = 0.0
    for _ in range(MOST_PRODUCTS):
        turned = at.product(direction)
        bend = float(direction @ turned)
        length = size / bend if bend > 0 else math.inf
        if bend <= 0 or moved + length * (2.0 * across + length * along) >= radius**2:
            rest = radius**2 - moved
            length = rest / (across + math.sqrt(max(across**2 + along * rest, 0.0)))
            decrease += length * (size - 0.5 * length * bend)
            return _Step(move + length * direction, radius, decrease, True)
        move += length * direction
        decrease += 0.5 * length * size
        moved += length * (2.0 * across + length * along)
        left += length * turned
        scaled = at.divide(left)
        before, size = size, float(left @ scaled)
        if size <= goal:
            break
        direction = size / before * direction - scaled
        across = size / before * (across + length * along)
        along = size + (size / before) ** 2 * along
    return _Step(move, math.sqrt(moved), decrease, False)
