"""Groups of items that cannot be told apart, from the draws of their scores.

Two items are told apart where the equal-tailed interval of their difference, at the fit's probability, leaves out zero:
where one is the better in at least (1 + prob) / 2 of the draws. Groups go down the ranking: an item starts a new group
where it is told apart from the first item of the group above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from voirdire.kinds.panel_gap import shown_draws

if TYPE_CHECKING:
    from voirdire.kinds.fit import Fit

Floats = npt.NDArray[np.float64]

_WORK = 2e8  # comparisons beyond which draws are thinned


def score_draws(fit: Fit) -> Floats | None:
    """Draws of the items' scores, shape (draws, items), items in the order of ``fit.problem.items``; None without.

    Parameters
    ----------
    fit : Fit
    """
    values = fit.posterior.values
    if values is None or "strength" not in values:
        return None
    return shown_draws(fit.problem, values)


def told_apart(draws: Floats, prob: float) -> npt.NDArray[np.bool_]:
    """True where the first of two items is surely better, shape (items, items).

    Parameters
    ----------
    draws : array, shape (draws, items)
    prob : float

    Examples
    --------
    >>> told_apart(np.array([[2.0, 1.0, 1.5], [3.0, 0.0, 0.5], [1.0, 0.5, 0.0]]), 0.9).tolist()
    [[False, True, True], [False, False, False], [False, False, False]]
    """
    size = draws.shape[1]
    most = max(200, int(_WORK / max(size * size, 1)))
    thin = draws[:: max(1, -(-len(draws) // most))]
    need = 0.5 * (1 + prob) * len(thin)
    return np.stack([(thin[:, [i]] > thin).sum(axis=0) >= need for i in range(size)])


def groups(fit: Fit) -> list[int] | None:
    """Group of each row of ``fit.ranking()``, from 1; None where there are no draws of scores."""
    apart = _apart(fit)
    return None if apart is None else tiers(apart)


def tiers(apart: npt.NDArray[np.bool_]) -> list[int]:
    """Groups of items in the order of the ranking.

    Parameters
    ----------
    apart : bool array, shape (items, items)
        As :func:`told_apart` gives it, rows and columns in the order of the ranking.

    Examples
    --------
    >>> tiers(np.array([[False, False, True], [False, False, False], [False, False, False]]))
    [1, 1, 2]
    """
    found: list[int] = []
    leader = 0
    for row in range(len(apart)):
        if apart[leader, row]:
            leader = row
            found.append(found[-1] + 1)
        else:
            found.append(found[-1] if found else 1)
    return found


def same_ranks(fit: Fit) -> list[tuple[int, int]] | None:
    """For each row of ``fit.ranking()`` the highest and the lowest rank that it cannot be told apart from."""
    apart = _apart(fit)
    if apart is None:
        return None
    open_ = ~(apart | apart.T)
    return [(int(np.flatnonzero(row)[0]) + 1, int(np.flatnonzero(row)[-1]) + 1) for row in open_]


def _apart(fit: Fit) -> npt.NDArray[np.bool_] | None:
    draws = score_draws(fit)
    if draws is None:
        return None
    index = {item: place for place, item in enumerate(fit.problem.items)}
    order = [index[item] for item in fit.ranking()["item"]]
    return told_apart(draws[:, order], fit.prob)
