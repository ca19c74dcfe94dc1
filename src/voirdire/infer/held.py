"""Posteriors in which some parameters are held at given values, as ``pinned`` of a problem's tables has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voirdire.infer.laplace import laplace
from voirdire.infer.posterior_mode import Mode
from voirdire.model.density import Data
from voirdire.model.problem import Problem
from voirdire.typing import Floats


def draws_given(
    problem: Problem, tables: Sequence[Data], modes: Sequence[Mode], count: int, rng: np.random.Generator
) -> Floats:
    """Draws of the Laplace approximations of the rest, as many of each table, shape (count, size).

    Parameters
    ----------
    tables : sequence of Data
        With what is held.
    modes : sequence of Mode
        Of each.
    """
    each = -(-count // len(tables))
    draws = [
        hold(laplace(replace(problem, data=table), mode).draws(each, rng), table)
        for table, mode in zip(tables, modes, strict=True)
    ]
    return np.concatenate(draws)[:count]


def hold(x: Floats, table: Data) -> Floats:
    """Flat parameters with what is held in place."""
    return np.where(table["pinned"]["held"] > 0, table["pinned"]["x"], x)
