"""Posteriors with some parameters fixed at given values, in the ``pinned`` table of a problem's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.infer.laplace import laplace_approximation
from voirdire.infer.posterior import Mode
from voirdire.model.density import Data
from voirdire.model.problem import Problem
from voirdire.typing import Floats


def draws_given_fixed(
    problem: Problem, tables: Sequence[Data], modes: Sequence[Mode], count: int, rng: np.random.Generator
) -> Floats:
    """Draw from the Laplace approximations given fixed values (nested ones if spreads are learned), (count, size).

    Parameters
    ----------
    tables : sequence of Data
        Tables with the fixed values; each gets the same number of draws.
    modes : sequence of Mode
        Modes of the tables.
    """
    per_table = -(-count // len(tables))
    draws = [
        insert_fixed_values(_approximation_draws(replace(problem, data=table), mode, per_table, rng), table)
        for table, mode in zip(tables, modes, strict=True)
    ]
    return np.concatenate(draws)[:count]


def _approximation_draws(problem: Problem, mode: Mode, count: int, rng: np.random.Generator) -> Floats:
    if not problem.density.uses_marginal_likelihood:
        return laplace_approximation(problem, mode).draws(count, rng)
    from voirdire.infer.latent_gaussian.mode import LatentMode, draw_about_mode  # SciPy's sparse matrices

    assert isinstance(mode, LatentMode)
    return draw_about_mode(mode, rng, count)


def insert_fixed_values(x: Floats, table: Data) -> Floats:
    """Insert the values of fixed parameters into flat vectors, shape (..., size)."""
    return np.where(table["pinned"]["held"] > 0, table["pinned"]["x"], x)
