"""Limited-memory BFGS driven from Python: the same method as :mod:`voirdire.infer.engine`, for one table at a time.

At most the objective and its gradient are compiled. The loop around them costs some microseconds a step, and the
compiler some seconds less than where the loop is part of the program: nearly all of the time of a first fit.

Coordinates differ in curvature by orders of magnitude (an item with a thousand votes beside one with ten; a judge who
is never wrong), so the search knows the diagonal of the Hessian: at a few iterations it is estimated by
E[v * H v] = diag H over random signs v (Bekas, Kokiopoulou and Saad 2007, Applied Numerical Mathematics 57), H v from
differences of gradients, and takes the place of a multiple of the identity in the two-loop recursion. That and a
longer memory save two thirds of the evaluations, or more, of models with judges of their own. A model that knows a
matrix near its Hessian, and can divide by it cheaply, gives it as a metric instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from voirdire.typing import Floats

Metric: TypeAlias = Callable[[Floats], Callable[[Floats], Floats]]

MEMORY = 40
DIAGONAL_ITERATIONS = (
    10,
    30,
    60,
    120,
    240,
    480,
)  # iterations at which the diagonal of the Hessian is estimated
METRIC_ITERATIONS = (0, 1, 2, 4, 8)  # iterations at which a known metric is taken anew
DIAGONAL_PROBES = 6  # random signs for it
PROBE_LENGTH = 1e-4  # length of the differences
MIN_RELATIVE_CURVATURE = 1e-2  # of the median: the least curvature a coordinate is taken to have
ARMIJO = 1e-4
MIN_STEP = 2.0**-40
ROUNDING_GAIN = 1e-12  # of the objective: a smaller gain may be rounding
MAX_STALLED_EVALUATIONS = (
    500  # evaluations without a gain, of the objective or by a half of the gradient, that end a search
)


class SearchResult(NamedTuple):
    """End of the search: position, objective, gradient, iterations and evaluations used."""

    x: Floats
    value: float
    gradient: Floats
    iterations: int
    evaluations: int


def search_minimum(
    both: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
    metric: Metric | None = None,
) -> SearchResult:
    """Minimise a smooth function of one vector; see :func:`voirdire.infer.engine.minimise_lbfgs` for the steps.

    Parameters
    ----------
    both : callable
        The objective and its gradient, of a vector of shape (n,).
    start : array, shape (n,)
    tolerance : float
        Stop where the largest absolute component of the gradient is below it.
    max_iterations : int
    metric : callable, optional
        Of a vector; gives the product with the inverse of a positive definite matrix that is near the curvature there.
        It is asked for at the first few iterations and takes the place of the diagonal.

    Returns
    -------
    SearchResult
        The caller judges convergence by ``gradient``: a search that can get no further stops too, and one of which
        rounding alone is left.

    Examples
    --------
    >>> found = search_minimum(lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0)), np.zeros(2))
    >>> found.x.round(4).tolist()
    [3.0, 3.0]
    """
    with np.errstate(all="ignore"):  # a trial point too far away is told by its value
        return _quasi_newton_search(both, np.asarray(start, dtype=float), tolerance, max_iterations, metric)


def _quasi_newton_search(
    both: Callable[[Floats], tuple[float, Floats]],
    x: Floats,
    tolerance: float,
    max_iterations: int,
    metric: Metric | None,
) -> SearchResult:
    value, gradient = both(x)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return SearchResult(x, np.inf, np.full_like(x, np.inf), 0, 1)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    iterations, evaluations, gained = 0, 1, 1  # the last: evaluations until the last gain
    lowest, flattest = value, float(np.abs(gradient).max(initial=0.0))
    metric_inverse: Callable[[Floats], Floats] | None = None
    inverse, signs = np.ones_like(x), np.random.default_rng(0)
    while np.abs(gradient).max(initial=0.0) > tolerance and iterations < max_iterations:
        if evaluations - gained > MAX_STALLED_EVALUATIONS:
            break
        if metric is not None and iterations in METRIC_ITERATIONS:
            metric_inverse = metric(x)
            pairs.clear()  # they tell what another metric lacked
        elif metric is None and iterations in DIAGONAL_ITERATIONS:
            inverse = _inverse_curvatures(both, x, gradient, signs)
            evaluations += DIAGONAL_PROBES
        direction = _search_direction(gradient, pairs, inverse, metric_inverse)
        slope = float(direction @ gradient)
        is_fresh = not pairs or not slope < 0
        if not slope < 0:
            direction = -(inverse * gradient if metric_inverse is None else metric_inverse(gradient))
            slope = float(direction @ gradient)
        full_step = metric_inverse is not None or not is_fresh  # a step of unknown scale starts short
        length = 1.0 if full_step else 1.0 / max(1.0, float(np.linalg.norm(direction)))
        while True:
            step = length * direction
            new_value, new_gradient = both(x + step)
            evaluations += 1
            accepted = _is_acceptable(value, new_value, slope, float(new_gradient @ direction), length)
            if accepted or length <= MIN_STEP:
                break
            length *= 0.5
        iterations += 1
        if not accepted:
            if not pairs:
                break
            pairs.clear()  # a failed search forgets the pairs once and goes down the gradient; failing again ends it
            continue
        change = new_gradient - gradient
        curvature = float(step @ change)
        if curvature > 1e-12 * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
            pairs.append((step, change, 1.0 / curvature))
        x, value, gradient = x + step, new_value, new_gradient
        steepest = float(np.abs(gradient).max())
        if value < lowest - ROUNDING_GAIN * (1.0 + abs(lowest)) or steepest < 0.5 * flattest:
            lowest, flattest, gained = min(value, lowest), min(steepest, flattest), evaluations
    return SearchResult(x, value, gradient, iterations, evaluations)


def _is_acceptable(value: float, there: float, slope: float, slope_there: float, length: float) -> bool:
    """True if the trial point becomes the next iterate."""
    if not (np.isfinite(there) and np.isfinite(slope_there)):
        return False  # from a point without a gradient there is no next step
    if there <= value + ARMIJO * length * slope:
        return True
    return there <= value + 1e-14 * (1.0 + abs(value)) and abs(slope_there) <= 0.9 * abs(slope)


def _inverse_curvatures(
    both: Callable[[Floats], tuple[float, Floats]], x: Floats, gradient: Floats, rng: np.random.Generator
) -> Floats:
    """One over the diagonal of the Hessian, estimated and kept positive; ones where it cannot be."""
    diagonal = np.zeros_like(x)
    for _ in range(DIAGONAL_PROBES):
        signs = rng.choice([-1.0, 1.0], x.size)
        diagonal += signs * (both(x + PROBE_LENGTH * signs)[1] - gradient) / (PROBE_LENGTH * DIAGONAL_PROBES)
    diagonal = np.abs(diagonal)
    smallest = MIN_RELATIVE_CURVATURE * float(np.median(diagonal))
    return (
        1.0 / np.maximum(diagonal, smallest)
        if np.isfinite(diagonal).all() and smallest > 0
        else np.ones_like(x)
    )


def _search_direction(
    gradient: Floats,
    pairs: deque[tuple[Floats, Floats, float]],
    inverse: Floats,
    known: Callable[[Floats], Floats] | None,
) -> Floats:
    """Minus the approximate inverse Hessian times the gradient, by two loops from a known or diagonal one."""
    q = gradient.copy()
    alphas = []
    for step, change, rho in reversed(pairs):
        alpha = rho * float(step @ q)
        q -= alpha * change
        alphas.append(alpha)
    if known is not None:
        q = known(q)
    elif pairs:
        _, change, rho = pairs[-1]
        scale = 1.0 / (rho * float(change @ (inverse * change)))
        q *= inverse * (scale if np.isfinite(scale) else 1.0)
    for (step, change, rho), alpha in zip(pairs, reversed(alphas), strict=True):
        q += (alpha - rho * float(change @ q)) * step
    return -q
