"""Renamings of classes: the best one, and the sum over all.

The score of a renaming g is a sum of entries c[j, g(j)] of a square matrix. So the best renaming is a linear
assignment, and the sum of exp(score) over all renamings is the permanent of exp(c). The permanent of J classes is
computed by adding one row at a time for every set of used columns, which takes J 2^(J-1) steps instead of J!.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from voirdire.model.terms.arrays import Array
from voirdire.model.terms.confusion import log_sum_exp
from voirdire.typing import Floats


def log_permanent(scores: Array, size: int, xp: Any) -> Array:
    """Log of the sum of exp(sum_j scores[..., j, g(j)]) over all renamings g.

    Parameters
    ----------
    scores : array, shape (..., size, size)

    Returns
    -------
    array, shape (...)

    Examples
    --------
    >>> float(log_permanent(np.zeros((3, 3)), 3, np).round(6) - np.log(6).round(6))
    0.0
    """
    sets: list[tuple[int, ...]] = [()]
    sums = 0.0 * scores[..., :1, 0]
    for row in range(size):
        position = {columns: column for column, columns in enumerate(sets)}
        sets = list(combinations(range(size), row + 1))
        # the column of this row, and the set of columns of earlier rows
        column_sets = np.array(sets)
        previous = np.array(
            [[position[subset[:column] + subset[column + 1 :]] for column in range(row + 1)] for subset in sets]
        )
        sums = log_sum_exp(sums[..., previous] + scores[..., row, :][..., column_sets], row + 1, xp)
    return sums[..., 0]


def best_renaming(scores: Floats) -> npt.NDArray[np.int64]:
    """Find the renaming with the highest score for each matrix; the identity if it has the same score.

    Parameters
    ----------
    scores : array, shape (n, size, size)

    Returns
    -------
    array, shape (n, size)
        New name g(j) of each row j.

    Examples
    --------
    >>> best_renaming(np.array([[[0.0, 2.0], [1.0, 0.0]]])).tolist()
    [[1, 0]]
    """
    size = scores.shape[-1]
    identity = np.arange(size)
    names = np.tile(identity, (len(scores), 1))
    # if each class has the highest score under its own name, no renaming is better
    uncertain = np.flatnonzero((scores.max(axis=-1) > scores[:, identity, identity]).any(axis=1))
    if not len(uncertain):
        return names
    from scipy.optimize import linear_sum_assignment

    for number in uncertain:
        matrix = scores[number]
        chosen = linear_sum_assignment(matrix, maximize=True)[1]
        if matrix[identity, chosen].sum() > np.trace(matrix):
            names[number] = chosen
    return names
