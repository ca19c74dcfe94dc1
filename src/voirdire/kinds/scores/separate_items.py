"""Draws of the normal approximation of tables with so many items that their second derivatives would fill the memory.

Given all else, items are independent but for their sum, so that the second derivatives have the shape of an arrow
(:mod:`.arrow`), whatever the form of the scores. They are found by products with directions: one for each parameter
that is none of an item, and two that have all items in them,

    r = P D v,   P what is left among values of zero sum:   D_i v_i = r_i + m,   m the mean of D v under the criterion,

of which two give both means, and with them the diagonal D. Where strengths are all that there is (means of scores),
and their sum is free, one product gives D.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.infer.derivatives import Derivatives
from voirdire.infer.laplace import memory_bytes
from voirdire.infer.method import LAPLACE_DRAWS, TOLD
from voirdire.kinds.scores.arrow import factor_arrow
from voirdire.kinds.scores.eliminated import FEWEST, MANY, NUMBERS
from voirdire.model.density import Data
from voirdire.model.terms.arrays import zero_sum, zero_sum_free
from voirdire.typing import Bools, Floats

if TYPE_CHECKING:
    from voirdire.kinds.scores.layout import ScoresLayout

STRENGTH = "strength"


def can_separate_items(density: ScoresLayout) -> bool:
    """True if a table is too large for a matrix of second derivatives, and items depend on each other by no term."""
    named = {one.name: one for one in density.parameters}
    strength = named.pop(STRENGTH, None)
    others = density.size - (0 if strength is None else math.prod(strength.free_shape(density.sizes)))
    return (
        strength is not None
        and memory_bytes(density.size, LAPLACE_DRAWS) > TOLD
        and not density.uses_marginal_likelihood
        and all("item" not in one.dims for one in named.values())
        and (others <= MANY if strength.zero_sum else not others)
    )


def draws_of_separate_items(
    density: ScoresLayout, data: Data, x: Floats, count: int, rng: np.random.Generator
) -> tuple[Floats, bool]:
    """Up to ``count`` draws of the normal approximation at a mode, and whether it is a proper maximum.

    Parameters
    ----------
    density : ScoresLayout
        Of which :func:`can_separate_items` is true.
    data : dict
    x : array, shape (size,)
        The mode.
    count : int
        Fewer where they would take more than `NUMBERS` numbers, but no fewer than `FEWEST`.

    Returns
    -------
    draws : array, shape (draws, size)
    proper : bool
    """
    derivatives, shape = Derivatives(density, data), (density.criteria, density.items)
    of_item = np.zeros(density.size, dtype=bool)
    of_item[density.parameter_slices[STRENGTH]] = True
    size = int(np.clip(NUMBERS / density.size, FEWEST, count))
    if of_item.size == math.prod(shape):  # no sum is given, and nothing else is there
        own = derivatives.products(x, np.ones((1, density.size)))
        return x + rng.standard_normal((size, density.size)) / np.sqrt(np.abs(own)), bool((own > 0).all())
    others = np.flatnonzero(~of_item)
    units = np.zeros((len(others), density.size))
    units[np.arange(len(others)), others] = 1.0
    across = derivatives.products(x, units)
    own = _item_curvature(derivatives, x, of_item, shape)
    arrow = factor_arrow(across[:, ~of_item], _as_zero_sums(across[:, of_item], shape), own)
    of_others, psi = arrow.draws(size, rng)
    draws = np.tile(x, (size, 1))
    draws[:, ~of_item] += of_others
    draws[:, of_item] += zero_sum_free(psi).reshape(size, -1)
    return draws, not arrow.shifted and bool((own > 0).all())


def _as_zero_sums(free: Floats, shape: tuple[int, int]) -> Floats:
    """Free coordinates of items as values of zero sum, shape (rows, criteria, items)."""
    return np.asarray(zero_sum(free.reshape(len(free), shape[0], shape[1] - 1), shape[1], np))


def _item_curvature(derivatives: Derivatives, x: Floats, of_item: Bools, shape: tuple[int, int]) -> Floats:
    """Second derivatives by each item, shape (criteria, items): the diagonal D of the module."""
    sign = (
        np.where(np.arange(shape[1]) % 2 == 0, 1.0, -1.0),
        np.where(np.arange(shape[1]) % 3 == 0, 1.0, -1.0),
    )
    v = np.stack([np.broadcast_to(one - one.mean(), shape) for one in sign])
    rows = np.zeros((2, len(x)))
    rows[:, of_item] = zero_sum_free(v).reshape(2, -1)
    r = _as_zero_sums(derivatives.products(x, rows)[:, of_item], shape)
    own = np.empty(shape)
    for criterion in range(shape[0]):
        (v1, v2), (r1, r2) = v[:, criterion], r[:, criterion]
        means = np.linalg.lstsq(np.stack([-v2, v1], axis=1), r1 * v2 - r2 * v1, rcond=None)[0]
        own[criterion] = (v1 * (r1 + means[0]) + v2 * (r2 + means[1])) / (v1**2 + v2**2)
    return own
