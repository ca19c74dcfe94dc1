"""Permutation tests: p = (b + 1) / (m + 1) with b of m rearrangements at least as extreme as the data.

The one added counts the data themselves, so that p is never 0 and the test keeps its level for any m
(Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9, 2010).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from voirdire.agreement.engine.draws import chunk_sizes
from voirdire.agreement.engine.statistic import CountStatistic, FloatArray, IntArray
from voirdire.errors import InputError

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]

PERMUTATIONS = 10_000
# Values that differ by less are the same value with other rounding.
_SAME = 1e-12


def permutation_p(observed: float, null: FloatArray, alternative: Alternative = "two-sided") -> float:
    """The p-value of an observed value among those of rearranged data.

    Parameters
    ----------
    observed : float
        The value on the data.
    null : float array, shape (permutations,)
        Values on rearranged data; undefined ones are left out.
    alternative : {"two-sided", "greater", "less"}
        Which values are at least as extreme; two-sided compares absolute values.

    Returns
    -------
    float
        NaN where `observed` is.

    Examples
    --------
    >>> permutation_p(2.0, np.array([-3.0, -1.0, 0.0, 1.0]))
    0.4
    """
    if np.isnan(observed):
        return float("nan")
    null = null[~np.isnan(null)]
    if alternative == "two-sided":
        extreme = np.abs(null) >= abs(observed) - _SAME
    elif alternative in ("greater", "less"):
        extreme = null >= observed - _SAME if alternative == "greater" else null <= observed + _SAME
    else:
        raise InputError(f"alternative {alternative!r} is not known; give two-sided, greater or less")
    return float((extreme.sum() + 1) / (len(null) + 1))


def swap_test(
    a: CountStatistic,
    b: CountStatistic,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    groups: IntArray | None = None,
) -> float:
    """Test that two judges are exchangeable: swap their answers within units at random.

    Parameters
    ----------
    a, b : CountStatistic
        The same statistic of either judge (and a third party), with features of the same meaning.
    permutations, seed : int
        How many rearrangements, and the generator's seed.
    groups : int array, shape (units,), optional
        Units of a group are swapped together, as their answers depend on each other.

    Returns
    -------
    float
        Two-sided p-value of the difference a - b.

    Raises
    ------
    InputError
        If `permutations` is not a positive whole number.

    Examples
    --------
    >>> right = np.column_stack([np.ones(8), np.ones(8)])
    >>> wrong = np.column_stack([np.ones(8), np.zeros(8)])
    >>> def mean(t):
    ...     return t[..., 1] / t[..., 0]
    >>> round(swap_test(CountStatistic(right, mean), CountStatistic(wrong, mean), permutations=999), 2)
    0.01
    """
    check_permutations(permutations)
    if groups is not None:
        a, b = a.merge(groups), b.merge(groups)
    change, total = b.features - a.features, a.features.sum(axis=0)
    both = total + b.features.sum(axis=0)

    def difference_after_swap(swapped: FloatArray) -> FloatArray:
        moved = total + swapped @ change
        difference: FloatArray = a.kernel(moved) - b.kernel(both - moved)
        return difference

    units = len(change)
    rng = np.random.default_rng(seed)
    null = [
        difference_after_swap(rng.integers(0, 2, (rows, units)).astype(np.float64))
        for rows in chunk_sizes(permutations, units)
    ]
    return permutation_p(float(difference_after_swap(np.zeros((1, units)))[0]), np.concatenate(null))


def check_permutations(permutations: int) -> None:
    """Raise `InputError` unless there is a positive number of permutations."""
    if not isinstance(permutations, int | np.integer) or permutations < 1:
        raise InputError(f"permutations {permutations!r} is not a positive whole number; 10000 is usual")
