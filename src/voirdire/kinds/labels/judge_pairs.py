"""Sums over the items that two judges both labelled, for all pairs of judges, of large tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.typing import Floats, Ints

PAIRS = 25_000_000  # pairs of labels of one item that are looked at: of larger tables of items drawn by lot


def some_units(unit: Ints, units: int, rng: np.random.Generator) -> Ints:
    """Units that are looked at: all, or some drawn by lot that have as many pairs of labels, in order.

    Parameters
    ----------
    unit : int array, shape (labels,)
        Of each label.

    Examples
    --------
    >>> some_units(np.array([0, 0, 2]), 3, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    pairs = np.bincount(unit, minlength=units).astype(float) ** 2
    if pairs.sum() <= PAIRS:
        return np.arange(units)
    order = rng.permutation(units)
    return np.sort(order[np.cumsum(pairs[order]) <= PAIRS])


def judge_unit_matrix(judge: Ints, unit: Ints, values: Floats, shape: tuple[int, int]) -> Any:
    """Numbers of labels as a compressed matrix of judges and units, in which those of one cell are added."""
    from scipy.sparse import coo_array

    return coo_array((values, (judge.astype(np.int32), unit.astype(np.int32))), shape).tocsr()


def row_products(one: Any, other: Any) -> Floats:
    """Sums of products of all pairs of rows of two compressed matrices, shape (rows, rows)."""
    return np.asarray((one @ other.T).toarray(), dtype=float)
