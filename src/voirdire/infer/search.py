"""Limited-memory BFGS driven from Python: the method of :mod:`voirdire.infer.engine`, for one table at a time.

Only the objective and its gradient may be compiled. The loop around them costs some microseconds a step, and saves some
seconds of compilation, which are nearly all of the time of a first fit.

Coordinates differ in curvature by orders of magnitude (an item with a thousand votes beside one with ten; a judge who
is never wrong). So the search uses the diagonal of the Hessian in the two-loop recursion instead of a multiple of the
identity. At a few iterations it is estimated by E[v * H v] = diag H over random signs v (Bekas, Kokiopoulou and Saad
2007, Applied Numerical Mathematics 57), with H v by differences of gradients. That and a longer memory save two thirds
of the evaluations, or more, of models with parameters for each judge. A model with a matrix near its Hessian that is
cheap to divide by supplies it as a metric instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from voirdire.typing import Floats

Metric: TypeAlias = Callable[[Floats], Callable[[Floats], Floats]]

MEMORY = 40
DIAGONAL_ITERATIONS = (10, 30, 60, 120, 240, 480)  # iterations at which the diagonal of the Hessian is estimated
METRIC_ITERATIONS = (0, 1, 2, 4, 8)  # iterations at which a known metric is computed again
DIAGONAL_PROBES = 6  # vectors of random signs for the diagonal
PROBE_LENGTH = 1e-4  # step of the differences
MIN_RELATIVE_CURVATURE = 1e-2  # smallest curvature of a coordinate, relative to the median
ARMIJO = 1e-4
MIN_STEP = 2.0**-40
ROUNDING_GAIN = 1e-12  # relative gain in the objective below which a gain may be rounding
# evaluations without a gain in the objective, or a halved gradient, after which a search ends
MAX_STALLED_EVALUATIONS = 500


class SearchResult(NamedTuple):
    """End of a search: position, objective, gradient, iterations and evaluations used."""

    x: Floats
    value: float
    gradient: Floats
    iterations: int
    evaluations: int


@np.errstate(all="ignore")  # a trial point too far away has a value that is not finite
def search_minimum(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
    metric: Metric | None = None,
) -> SearchResult:
    """Minimise a smooth function of one vector; see :func:`voirdire.infer.engine.minimise_lbfgs` for the steps.

    Parameters
    ----------
    objective : callable
        Function from a vector of shape (n,) to the objective and its gradient.
    start : array, shape (n,)
    tolerance : float
        Largest absolute component of the gradient at which the search stops.
    max_iterations : int
    metric : callable, optional
        Function of a vector. It returns the product with the inverse of a positive definite matrix near the Hessian
        there. It is called at the first few iterations and replaces the diagonal.

    Returns
    -------
    SearchResult
        The caller judges convergence by ``gradient``: a search also stops if it cannot get further, or if further
        gains are within rounding.

    Examples
    --------
    >>> found = search_minimum(lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0)), np.zeros(2))
    >>> found.x.round(4).tolist()
    [3.0, 3.0]
    """
    x = np.asarray(start, dtype=float)
    value, gradient = objective(x)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return SearchResult(x, np.inf, np.full_like(x, np.inf), 0, 1)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    iterations, evaluations, gained = 0, 1, 1  # ``gained``: evaluations until the last gain
    lowest, flattest = value, float(np.abs(gradient).max(initial=0.0))
    metric_inverse: Callable[[Floats], Floats] | None = None
    inverse, signs = np.ones_like(x), np.random.default_rng(0)
    while np.abs(gradient).max(initial=0.0) > tolerance and iterations < max_iterations:
        if evaluations - gained > MAX_STALLED_EVALUATIONS:
            break
        if metric is not None and iterations in METRIC_ITERATIONS:
            metric_inverse = metric(x)
            pairs.clear()  # pairs depend on the metric
        elif metric is None and iterations in DIAGONAL_ITERATIONS:
            inverse = _inverse_curvatures(objective, x, gradient, signs)
            evaluations += DIAGONAL_PROBES
        direction = _search_direction(gradient, pairs, inverse, metric_inverse)
        slope = float(direction @ gradient)
        is_fresh = not pairs or not slope < 0
        if not slope < 0:
            direction = -(inverse * gradient if metric_inverse is None else metric_inverse(gradient))
            slope = float(direction @ gradient)
        full_step = metric_inverse is not None or not is_fresh  # a first step of unknown scale is short
        length = 1.0 if full_step else 1.0 / max(1.0, float(np.linalg.norm(direction)))
        while True:
            step = length * direction
            new_value, new_gradient = objective(x + step)
            evaluations += 1
            accepted = _is_acceptable(value, new_value, slope, float(new_gradient @ direction), length)
            if accepted or length <= MIN_STEP:
                break
            length *= 0.5
        iterations += 1
        if not accepted:
            if not pairs:
                break
            pairs.clear()  # after a failed search drop the pairs and follow the gradient; end at the next failure
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


def _is_acceptable(value: float, new_value: float, slope: float, new_slope: float, length: float) -> bool:
    """Return True if the trial point becomes the next iterate."""
    if not (np.isfinite(new_value) and np.isfinite(new_slope)):
        return False  # without a finite gradient there is no next step
    if new_value <= value + ARMIJO * length * slope:
        return True
    return new_value <= value + 1e-14 * (1.0 + abs(value)) and abs(new_slope) <= 0.9 * abs(slope)


def _inverse_curvatures(
    objective: Callable[[Floats], tuple[float, Floats]], x: Floats, gradient: Floats, rng: np.random.Generator
) -> Floats:
    """Estimate one over the diagonal of the Hessian, kept positive; ones if that fails."""
    diagonal = np.zeros_like(x)
    for _ in range(DIAGONAL_PROBES):
        signs = rng.choice([-1.0, 1.0], x.size)
        diagonal += signs * (objective(x + PROBE_LENGTH * signs)[1] - gradient) / (PROBE_LENGTH * DIAGONAL_PROBES)
    diagonal = np.abs(diagonal)
    smallest = MIN_RELATIVE_CURVATURE * float(np.median(diagonal))
    return 1.0 / np.maximum(diagonal, smallest) if np.isfinite(diagonal).all() and smallest > 0 else np.ones_like(x)


def _search_direction(
    gradient: Floats,
    pairs: deque[tuple[Floats, Floats, float]],
    inverse: Floats,
    metric_inverse: Callable[[Floats], Floats] | None,
) -> Floats:
    """Compute minus the approximate inverse Hessian times the gradient, by two loops from a known or diagonal one."""
    q = gradient.copy()
    alphas = []
    for step, change, rho in reversed(pairs):
        alpha = rho * float(step @ q)
        q -= alpha * change
        alphas.append(alpha)
    if metric_inverse is not None:
        q = metric_inverse(q)
    elif pairs:
        _, change, rho = pairs[-1]
        scale = 1.0 / (rho * float(change @ (inverse * change)))
        q *= inverse * (scale if np.isfinite(scale) else 1.0)
    for (step, change, rho), alpha in zip(pairs, reversed(alphas), strict=True):
        q += (alpha - rho * float(change @ q)) * step
    return -q
