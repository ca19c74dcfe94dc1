"""The concordance index: the share of the truth's ordered pairs that an estimate puts in the same order."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voirdire.errors import raise_problems


def concordance_index(estimate: ArrayLike, truth: ArrayLike, *, ties: Literal["miss", "half"] = "miss") -> float:
    """Compute the concordance index CI(f, g) of an estimate f with a truth g.

    CI(f, g) = sum_ij I(f_i > f_j) I(g_i > g_j) / sum_ij I(g_i > g_j), over ordered pairs (i, j)
    (MAPLE, eq. 7). Pairs tied in g do not count. A pair that g orders and f ties is a miss by this definition,
    so that a constant f scores 0. With ``ties="half"`` such a pair counts one half and a constant f scores 1/2:
    the C statistic of Harrell et al. (1982), JAMA 247, 2543-2546.

    Parameters
    ----------
    estimate, truth : (n,) array-like of numbers
        f and g for the same n objects; only their order matters. Infinite values are allowed.
    ties : "miss" or "half"
        Value of a pair that only the estimate ties: 0 or 1/2.

    Returns
    -------
    float
        The index, from 0 (reversed) to 1 (same order). NaN if the truth orders no pair: fewer than two objects, or
        all of them equal.

    Raises
    ------
    InputError
        If the arguments are not one-dimensional, of equal length and free of NaN, or ``ties`` is unknown.

    Examples
    --------
    >>> concordance_index([0.9, 0.7, 0.7], [3, 2, 1])
    0.6666666666666666
    >>> concordance_index([0.9, 0.7, 0.7], [3, 2, 1], ties="half")
    0.8333333333333334
    """
    problems: list[str] = []
    f, g = _check_numbers(estimate, "estimate", problems), _check_numbers(truth, "truth", problems)
    if not problems and len(f) != len(g):
        problems.append(f"estimate has {len(f)} values and truth {len(g)}; give one of each per object")
    if ties not in ("miss", "half"):
        problems.append(f"ties is {ties!r}; give 'miss' or 'half'")
    raise_problems(problems)
    ordered = g[:, None] > g
    pairs = int(ordered.sum())
    if pairs == 0:
        return float("nan")
    hits = float((ordered & (f[:, None] > f)).sum())
    if ties == "half":
        hits += 0.5 * float((ordered & (f[:, None] == f)).sum())
    return hits / pairs


def _check_numbers(values: ArrayLike, name: str, problems: list[str]) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        problems.append(f"{name} holds something that is not a number; give numbers only")
        return np.empty(0)
    if array.ndim != 1:
        problems.append(f"{name} has {array.ndim} dimensions; give one list of numbers")
    elif np.isnan(array).any():
        place = int(np.flatnonzero(np.isnan(array))[0])
        problems.append(f"{name} is NaN at place {place + 1}; leave that object out of both")
    return array
