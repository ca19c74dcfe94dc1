"""The Laplace approximation: a normal distribution at the mode with the inverse Hessian as covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.errors import InputError
from voirdire.infer.derivatives import Derivatives
from voirdire.infer.posterior import Mode
from voirdire.model.problem import FEWER_PARAMETERS, Problem
from voirdire.typing import Floats

POLISHING_STEPS = 4
SEARCH_TOLERANCE = 1e-10  # gradient at which the search for the mode ends, before the Hessian is computed
MAX_SEARCH_ITERATIONS = 200  # iterations of that search, at most
SYMMETRY_BLOCK_ROWS = 256  # rows of the Hessian that are symmetrised together
NEGLIGIBLE_DISTANCE = 1e-9  # distance in standard deviations over which the Hessian does not change
# bytes of the Hessian, at most: 23,170 parameters; factor, root and draws take several times as much
MAX_HESSIAN_BYTES = 4 * 2**30


@dataclass(frozen=True, eq=False)
class Laplace:
    """Normal approximation N(mean, root root') of the posterior in free coordinates.

    Parameters
    ----------
    mean : array, shape (size,)
        The mode, polished by Newton steps.
    root : array, shape (size, size)
        Square root of the inverse Hessian.
    gradient : float
        Largest absolute component of the gradient at ``mean``.
    smallest_curvature : float
        Smallest eigenvalue of the Hessian if that is not positive definite, else a positive lower bound from its
        Cholesky factor. If it is not positive, ``mean`` is not a proper maximum and the approximation is unreliable.
    """

    mean: Floats
    root: Floats
    gradient: float
    smallest_curvature: float

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Return independent draws, shape (count, size)."""
        return self.mean + rng.standard_normal((count, len(self.mean))) @ self.root.T


def laplace_approximation(problem: Problem, mode: Mode) -> Laplace:
    """Polish a mode by Newton steps and compute the curvature there.

    Raises
    ------
    InputError
        There are too many parameters; see :func:`check_size`.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import encode_votes
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = encode_votes(load_model("bradley-terry"), read_votes(table))
    >>> laplace_approximation(problem, find_mode(problem)).smallest_curvature > 0
    True
    """
    check_size(problem.density.size, problem.fewer_parameters)
    derivatives = Derivatives(problem.density, problem.data)
    x = _search_further(derivatives, mode)
    root, smallest = _inverse_root(derivatives.hessian(x))
    x, gradient, distance = _polish_mode(derivatives, x, root)
    if distance > NEGLIGIBLE_DISTANCE:
        del root  # frees memory before the next root
        root, smallest = _inverse_root(derivatives.hessian(x))
    return Laplace(x, root, float(np.abs(gradient).max(initial=0.0)), smallest)


def approximation_of_draws(draws: Floats) -> Laplace:
    """Build a normal approximation by the mean and the shrunk covariance of draws, shape (draws, size)."""
    mean, size = draws.mean(axis=0), draws.shape[1]
    covariance = np.cov(draws.T).reshape(size, size)
    share = size / (size + len(draws))  # shrinkage towards independent values, more with fewer draws
    shrunk = (1.0 - share) * covariance + share * np.diag(covariance.diagonal())
    return Laplace(mean, np.linalg.cholesky(shrunk), 0.0, 1.0)


def _search_further(derivatives: Derivatives, mode: Mode) -> Floats:
    """Search on to a gradient so small that the Hessian is not computed twice: the search costs less."""
    minimum = derivatives.minimum(mode.x, tolerance=SEARCH_TOLERANCE, max_iterations=MAX_SEARCH_ITERATIONS)
    return minimum.x if np.isfinite(minimum.value) else mode.x


def _polish_mode(derivatives: Derivatives, x: Floats, root: Floats) -> tuple[Floats, Floats, float]:
    """Make Newton steps while they help; return the point, its gradient, and the distance in standard deviations."""
    gradient, distance = derivatives.value_gradient(x)[1], 0.0
    for _ in range(POLISHING_STEPS):
        white = root.T @ gradient
        proposal = x - root @ white
        new_gradient = derivatives.value_gradient(proposal)[1]
        if not np.abs(new_gradient).max(initial=0.0) < 0.5 * np.abs(gradient).max(initial=0.0):
            break
        x, gradient, distance = proposal, new_gradient, distance + float(np.linalg.norm(white))
    return x, gradient, distance


def memory_bytes(parameters: int, draws: int) -> int:
    """Estimate the bytes of a Laplace fit beyond the table and the libraries, without compiled code, at most.

    Three matrices of the Hessian's size (8 n^2 bytes each: the Hessian, its factor, a temporary) and five arrays of
    the draws' size (8 n bytes for each draw).

    Examples
    --------
    >>> [f"{memory_bytes(n, 4_000) / 1e9:.2f} GB" for n in (1_000, 2_000, 12_000)]
    ['0.18 GB', '0.42 GB', '5.38 GB']
    """
    return 8 * parameters * (3 * parameters + 5 * draws)


def check_size(parameters: int, remedy: str = FEWER_PARAMETERS) -> None:
    """Refuse a Hessian of more than 4 GiB, that is of more than 23,170 parameters.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_size(20_000)
    >>> check_size(30_000)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: 30,000 parameters: their Hessian would take 6.71 GiB, more than the 4 GiB ...
    """
    size = 8 * parameters**2
    if size > MAX_HESSIAN_BYTES:
        raise InputError(
            f"{parameters:,} parameters: their Hessian would take {size / 2**30:.3g} GiB, more than the "
            f"{MAX_HESSIAN_BYTES / 2**30:.3g} GiB that laplace and nuts may take for it; {remedy}"
        )


def check_draws(parameters: int, draws: int) -> None:
    """Refuse draws that would take more than 4 GiB in five arrays of their size.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_draws(20_000, 4_000)
    >>> check_draws(500_000, 4_000)
    Traceback (most recent call last):
    ...
    voirdire.errors.InputError: 4,000 draws of 500,000 parameters would take 74.5 GiB, more than 4 GiB; ...
    """
    size = 40 * parameters * draws
    if size > MAX_HESSIAN_BYTES:
        raise InputError(
            f"{draws:,} draws of {parameters:,} parameters would take {size / 2**30:.3g} GiB, more than "
            f"{MAX_HESSIAN_BYTES / 2**30:.3g} GiB; ask for fewer (draws=, chains=; --draws, --chains), or use "
            "method='laplace'"
        )


def _inverse_root(matrix: Floats) -> tuple[Floats, float]:
    """Compute a root of the inverse, and a lower bound of the curvature; overwrites ``matrix``."""
    from scipy.linalg.lapack import dtrtri

    size = len(matrix)
    if not size:
        return matrix, 1.0
    for start in range(0, size, SYMMETRY_BLOCK_ROWS):  # symmetric to the last digit
        block, trailing = slice(start, start + SYMMETRY_BLOCK_ROWS), slice(start, size)
        mean = 0.5 * (matrix[block, trailing] + matrix[trailing, block].T)
        matrix[block, trailing] = mean
        matrix[trailing, block] = mean.T
    try:
        factor = np.asarray(np.linalg.cholesky(matrix), dtype=float)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        floor = np.maximum(values, 1e-8 * max(values.max(), 1.0))
        return vectors / np.sqrt(floor), float(values.min())
    root = np.asarray(dtrtri(factor.T, lower=0, overwrite_c=1)[0])  # overwrites the factor
    return root, float(1.0 / np.vdot(root, root))
