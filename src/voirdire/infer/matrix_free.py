"""Methods that use a matrix only by its products: draws of normal distributions, and Newton steps in a trust region.

Draws of a normal distribution whose precision is given only by its products with vectors.

Lanczos's method finds in a few products an orthonormal basis V of the Krylov space of z, in which the matrix is
tridiagonal, T = V' A V. Then A^-1/2 z is nearly |z| V T^-1/2 e_1, and the error decreases geometrically, as for
conjugate gradients (Chow and Saad 2014, SIAM Journal on Scientific Computing 36, algorithm 2.1). If z is standard
normal, the result has the covariance A^-1. A preconditioner L L' near A is used by products with L^-1 A L^-T.

Truncated Newton steps in a trust region: a search that stays where its quadratic model holds.

A density with a mirror has saddles, and far from its mode it is not nearly quadratic: a Newton step there may be
thousands of standard deviations long, or lead uphill. Here each step minimises the quadratic model by conjugate
gradients, preconditioned by a positive definite matrix M, and ends if it leaves the region p' M p <= radius^2 or meets
negative curvature (Steihaug 1983, SIAM Journal on Numerical Analysis 20). The region grows if the model predicted the
change of the objective well, and shrinks if not. No matrix is stored; memory is that of a few vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from voirdire.infer.search import SearchResult
from voirdire.model.density import Curvature
from voirdire.typing import Floats

TOLERANCE = 1e-3  # relative change of the result at convergence: far below the error of some thousand draws
MAX_DRAW_PRODUCTS = 300  # products, at most
CHECK_INTERVAL = 2  # products between two checks of convergence


class Whitened(NamedTuple):
    """Product of A^-1/2 with a vector, shape (n,), and the smallest eigenvalue of A in the Krylov space.

    If that is not positive, A is not a precision matrix, and the product is zero.
    """

    value: Floats
    smallest: float


def inverse_root(product: Callable[[Floats], Floats], z: Floats) -> Whitened:
    """Multiply a vector by the inverse square root of a symmetric positive definite matrix.

    Parameters
    ----------
    product : callable
        Function from a vector, shape (n,), to the matrix times it.
    z : array, shape (n,)

    Examples
    --------
    >>> diagonal = np.array([1.0, 4.0, 16.0])
    >>> inverse_root(lambda v: diagonal * v, np.array([2.0, 2.0, 4.0])).value.round(6).tolist()
    [2.0, 1.0, 1.0]
    """
    length = float(np.linalg.norm(z))
    if not length:
        return Whitened(np.zeros_like(z), np.inf)
    basis = [z / length]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    previous, steps = np.zeros(0), min(MAX_DRAW_PRODUCTS, len(z))
    while True:
        residual = product(basis[-1])
        diagonal.append(float(basis[-1] @ residual))
        for _ in range(2):  # twice, to remove rounding errors
            basis_rows = np.asarray(basis)
            residual = residual - basis_rows.T @ (basis_rows @ residual)
        residual_norm = float(np.linalg.norm(residual))
        size = len(diagonal)
        is_last = size == steps or residual_norm <= 1e-12 * abs(diagonal[0])
        if is_last or size % CHECK_INTERVAL == 0:
            coefficients, smallest = _inverse_root_column(diagonal, off_diagonal)
            if smallest <= 0:
                return Whitened(np.zeros_like(z), smallest)
            change = np.linalg.norm(coefficients - np.pad(previous, (0, size - len(previous))))
            if is_last or (len(previous) and change <= TOLERANCE * np.linalg.norm(coefficients)):
                return Whitened(length * (np.asarray(basis).T @ coefficients), smallest)
            previous = coefficients
        off_diagonal.append(residual_norm)
        basis.append(residual / residual_norm)


def _inverse_root_column(diagonal: list[float], off_diagonal: list[float]) -> tuple[Floats, float]:
    """Compute the first column of the inverse square root of a tridiagonal matrix, and its smallest eigenvalue."""
    from scipy.linalg import eigh_tridiagonal

    values, vectors = eigh_tridiagonal(np.asarray(diagonal), np.asarray(off_diagonal))
    if values[0] <= 0:
        return np.zeros(len(diagonal)), float(values[0])
    return np.asarray(vectors @ (vectors[0] / np.sqrt(values))), float(values[0])


MIN_GAIN_RATIO = 1e-4  # share of the predicted change from which a step is accepted
SHRINK_RATIO, GROW_RATIO = 0.25, 0.75  # shares below which the region shrinks and above which it grows
ROUNDING = 1e-13  # relative change of the objective that is lost in rounding
MAX_STEPS = 300
MIN_FIRST_RADIUS = 1.0  # smallest radius at the start, in standard deviations
MAX_RESIDUAL_SHARE = 0.03  # residual of a step, at most, relative to the gradient
MIN_RELATIVE_CURVATURE = 1e-6  # smallest curvature of a direction, relative to the largest
MAX_PRODUCTS = 300  # products of one step, at most
MIN_RADIUS = 1e-12  # radius in standard deviations at which the search ends


class _Step(NamedTuple):
    """Step, its length in the preconditioner's norm, the predicted decrease, and True if it ends at the border."""

    move: Floats
    length: float
    decrease: float
    at_border: bool


@np.errstate(all="ignore")  # a trial point too far away has a value that is not finite
def minimise_trust_region(
    objective: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Curvature],
    start: Floats,
    *,
    tolerance: float = 1e-6,
    gain: float = 0.0,
    max_iterations: int = MAX_STEPS,
) -> SearchResult:
    """Minimise a smooth function of one vector, whose second derivatives need not be positive definite.

    Parameters
    ----------
    objective : callable
        Function from a vector of shape (n,) to the objective and its gradient; an objective that is not finite marks
        points that are too far away.
    curvature : callable
        Function from a vector to a :class:`.Curvature`.
    start : array, shape (n,)
    tolerance : float
        Largest absolute component of the gradient at which the search stops.
    gain : float
        Predicted decrease of the objective below which the search stops, too.
    max_iterations : int
        At most ``MAX_STEPS`` are made.

    Returns
    -------
    SearchResult
        The caller judges convergence by ``gradient``: a search that cannot get further stops, too.

    Examples
    --------
    >>> def saddle(x):
    ...     return float((x**4 - x**2).sum()), 4.0 * x**3 - 2.0 * x
    >>> bend = lambda x: Curvature(lambda v: (12.0 * x**2 - 2.0) * v, lambda v: v / (12.0 * x**2 + 1.0))
    >>> minimise_trust_region(saddle, bend, np.array([0.1, -0.1])).x.round(6).tolist()
    [0.707107, -0.707107]
    """
    x = np.asarray(start, dtype=float)
    value, gradient = objective(x)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return SearchResult(x, np.inf, np.full_like(x, np.inf), 0, 1)
    evaluations, iterations = 1, 0
    local_curvature, radius, is_current = (curvature(x), 0.0, True)  # the last: True if the curvature is that of x
    while np.abs(gradient).max(initial=0.0) > tolerance and iterations < min(max_iterations, MAX_STEPS):
        local_curvature = local_curvature if is_current else curvature(x)
        radius = radius or max(MIN_FIRST_RADIUS, math.sqrt(float(gradient @ local_curvature.divide(gradient))))
        step = _trust_region_step(gradient, local_curvature, radius)
        if step.decrease < gain and not step.at_border:
            break
        new_value, new_gradient = objective(x + step.move)
        evaluations += 1
        iterations += 1
        if step.decrease <= ROUNDING * (1.0 + abs(value)) and not step.at_border:
            is_current = not np.abs(new_gradient).max() < np.abs(gradient).max()
            if is_current:
                break  # the changes of the objective and of the gradient are lost in rounding
        else:
            finite = np.isfinite(new_value) and np.isfinite(new_gradient).all()
            share = (value - new_value) / step.decrease if finite else -math.inf
            if share < SHRINK_RATIO:
                radius = SHRINK_RATIO * step.length
            elif share > GROW_RATIO and step.at_border:
                radius = 2.0 * radius
            is_current = share <= MIN_GAIN_RATIO
            if is_current and radius < MIN_RADIUS:
                break
        if not is_current:
            x, value, gradient = x + step.move, new_value, new_gradient
    return SearchResult(x, value, gradient, iterations, evaluations)


def correct_preconditioner(curvature: Curvature, directions: Floats) -> Curvature:
    """Correct a preconditioner by the second derivatives along some directions, shape (directions, n).

    Its inverse gains the term V |V' H V|^-1 V', with V the directions. It removes the error in directions that a
    preconditioner by parts of H takes for steep although they are not (a coarse correction; Nabben and Vuik 2004, SIAM
    Journal on Numerical Analysis 42).

    Examples
    --------
    >>> steep = Curvature(lambda v: np.array([v.sum() * 0.01, v.sum() * 0.01]), lambda v: v)
    >>> correct_preconditioner(steep, np.array([[1.0, 1.0]])).divide(np.array([0.02, 0.02])).round(2).tolist()
    [1.02, 1.02]
    """
    if not len(directions):
        return curvature
    projected = np.array([curvature.product(direction) for direction in directions]) @ directions.T
    projected = 0.5 * (projected + projected.T)
    size = np.sqrt(np.maximum(np.abs(projected.diagonal()), 1e-300))
    values, vectors = np.linalg.eigh(projected / size / size[:, None])
    values = np.maximum(np.abs(values), MIN_RELATIVE_CURVATURE * np.abs(values).max())
    inverse = (vectors / values) @ vectors.T / size / size[:, None]
    return Curvature(curvature.product, lambda v: curvature.divide(v) + (inverse @ (directions @ v)) @ directions)


def _trust_region_step(gradient: Floats, local_curvature: Curvature, radius: float) -> _Step:
    """Minimise the quadratic model within the region, by preconditioned conjugate gradients.

    Inner products with the preconditioner follow from those without (Conn, Gould and Toint 2000, Trust-Region Methods,
    section 7.5.1), so that only divisions by it are needed.
    """
    move, residual = np.zeros_like(gradient), gradient.copy()
    scaled = local_curvature.divide(residual)
    size = float(residual @ scaled)
    goal = min(MAX_RESIDUAL_SHARE, math.sqrt(size)) ** 2 * size
    direction = -scaled
    move_norm, cross_norm, direction_norm = (0.0, 0.0, size)  # move' M move, move' M direction, direction' M direction
    decrease = 0.0
    for _ in range(MAX_PRODUCTS):
        product = local_curvature.product(direction)
        curvature = float(direction @ product)
        length = size / curvature if curvature > 0 else math.inf
        if curvature <= 0 or move_norm + length * (2.0 * cross_norm + length * direction_norm) >= radius**2:
            remaining = radius**2 - move_norm
            length = remaining / (cross_norm + math.sqrt(max(cross_norm**2 + direction_norm * remaining, 0.0)))
            decrease += length * (size - 0.5 * length * curvature)
            return _Step(move + length * direction, radius, decrease, True)
        move += length * direction
        decrease += 0.5 * length * size
        move_norm += length * (2.0 * cross_norm + length * direction_norm)
        residual += length * product
        scaled = local_curvature.divide(residual)
        previous, size = size, float(residual @ scaled)
        if size <= goal:
            break
        direction = size / previous * direction - scaled
        cross_norm = size / previous * (cross_norm + length * direction_norm)
        direction_norm = size + (size / previous) ** 2 * direction_norm
    return _Step(move, math.sqrt(move_norm), decrease, False)
