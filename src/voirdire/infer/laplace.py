"""The Laplace approximation: a normal distribution at the mode with the inverse Hessian as covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voirdire.errors import InputError
from voirdire.infer import engine
from voirdire.infer.mode import Mode
from voirdire.model.problem import Problem
from voirdire.typing import Floats

POLISHING_STEPS = 4
LARGEST = (
    4 * 2**30
)  # bytes of the Hessian: 23,170 parameters; its factor, root and draws take several times as much


@dataclass(frozen=True, eq=False)
class Laplace:
    """Normal approximation N(mean, root root') of the posterior in free coordinates.

    Parameters
    ----------
    mean : array, shape (size,)
        The mode, polished by Newton steps.
    root : array, shape (size, size)
        A square root of the inverse Hessian.
    gradient : float
        Largest absolute component of the gradient at ``mean``.
    smallest_curvature : float
        Smallest eigenvalue of the Hessian where it is not positive definite, else a positive bound from its
        Cholesky factor. Not positive: ``mean`` is no proper maximum and the approximation must not be trusted.
    """

    mean: Floats
    root: Floats
    gradient: float
    smallest_curvature: float

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Return independent draws, shape (count, size)."""
        return self.mean + rng.standard_normal((count, len(self.mean))) @ self.root.T


def laplace(problem: Problem, mode: Mode) -> Laplace:
    """Polish a mode by Newton steps and take the curvature there.

    Raises
    ------
    InputError
        There are too many parameters; see :func:`check_size`.

    Examples
    --------
    >>> import pandas as pd
    >>> from voirdire.infer.mode import find_mode
    >>> from voirdire.kinds.votes.problem import pose
    >>> from voirdire.model.specs import load_model
    >>> from voirdire.tables.votes import read_votes
    >>> table = pd.DataFrame({"judge": "a", "first": ["x"] * 3, "second": "y", "winner": ["x", "x", "y"]})
    >>> problem = pose(load_model("bradley-terry"), read_votes(table))
    >>> laplace(problem, find_mode(problem)).smallest_curvature > 0
    True
    """
    density, data = problem.density, problem.data
    check_size(density.size)
    with engine.double_precision():
        both, curvature = engine.value_and_gradient(density), engine.hessian(density)
        x = mode.x
        gradient = np.asarray(both(x, data)[1])
        matrix = np.asarray(curvature(x, data))
        for _ in range(POLISHING_STEPS):
            size = np.abs(gradient).max(initial=0.0)
            try:
                moved = x - np.linalg.solve(matrix, gradient)
            except np.linalg.LinAlgError:
                break
            there = np.asarray(both(moved, data)[1])
            if not np.abs(there).max(initial=0.0) < 0.5 * size:
                break
            x, gradient = moved, there
        if not np.array_equal(x, mode.x):
            matrix = np.asarray(curvature(x, data))
    matrix = 0.5 * (matrix + matrix.T)
    root, smallest = _inverse_root(matrix)
    return Laplace(x, root, float(np.abs(gradient).max(initial=0.0)), smallest)


def check_size(parameters: int) -> None:
    """Refuse a Hessian that the memory would not hold: one of more than 4 GiB, that is of over 23,170 parameters.

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
    if size > LARGEST:
        raise InputError(
            f"{parameters:,} parameters: their Hessian would take {size / 2**30:.3g} GiB, more than the "
            f"{LARGEST / 2**30:.3g} GiB that laplace and nuts may take for it; use method='map' (Fit.bootstrap gives "
            "intervals of votes then), or fewer items or judges"
        )


def _inverse_root(matrix: Floats) -> tuple[Floats, float]:
    """Square root of the inverse, and a lower bound of the curvature (see :class:`Laplace`)."""
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        floor = np.maximum(values, 1e-8 * max(values.max(), 1.0))
        return vectors / np.sqrt(floor), float(values.min())
    root = np.linalg.solve(lower.T, np.eye(len(matrix)))
    return root, float(1.0 / (root**2).sum()) if len(matrix) else 1.0
